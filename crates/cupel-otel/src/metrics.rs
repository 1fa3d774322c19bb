//! Counters and histograms over many runs.

use opentelemetry::metrics::{Counter, Histogram, Meter};
use opentelemetry::{KeyValue, global};

use crate::{names, scope};

/// The instruments that runs are counted with.
///
/// Nothing is counted unless a collector gets these with
/// [`with_metrics`](crate::CupelOtelTraceCollector::with_metrics). Make them once and hand clones
/// to the collectors: clones count together.
///
/// | metric | instrument | unit | attributes |
/// |---|---|---|---|
/// | `cupel.runs` | counter | `{run}` | `error.type`, if it failed |
/// | `cupel.run.duration` | histogram | `s` | `error.type`, if it failed |
/// | `cupel.tokens.in` | histogram | `{token}` | |
/// | `cupel.tokens.out` | histogram | `{token}` | |
/// | `cupel.budget.utilization` | histogram | `1` | |
/// | `cupel.exclusions` | counter | `{item}` | `cupel.exclusion.reason` |
///
/// A run that fails has no window: it adds to the first two only.
#[derive(Debug, Clone)]
pub struct CupelMetrics {
    runs: Counter<u64>,
    duration: Histogram<f64>,
    tokens_in: Histogram<u64>,
    tokens_out: Histogram<u64>,
    utilization: Histogram<f64>,
    exclusions: Counter<u64>,
}

/// Values that a completed run adds.
pub(crate) struct Totals<'a> {
    pub(crate) seconds: f64,
    pub(crate) tokens_in: i64,
    pub(crate) tokens_out: i128,
    pub(crate) max_tokens: i64,
    pub(crate) exclusions: &'a Tally,
}

impl CupelMetrics {
    /// Instruments of the given meter.
    #[must_use]
    pub fn new(meter: &Meter) -> Self {
        let tokens = |name, description| {
            let histogram = meter.u64_histogram(name).with_description(description);
            histogram.with_unit("{token}").with_boundaries(token_boundaries()).build()
        };
        Self {
            runs: meter
                .u64_counter(names::METRIC_RUNS)
                .with_description("Runs of the pipeline")
                .with_unit("{run}")
                .build(),
            duration: meter
                .f64_histogram(names::METRIC_RUN_DURATION)
                .with_description("Time that a run of the pipeline took")
                .with_unit("s")
                .with_boundaries(DURATION_BOUNDARIES.into())
                .build(),
            tokens_in: tokens(names::METRIC_TOKENS_IN, "Tokens of all candidates of a run"),
            tokens_out: tokens(names::METRIC_TOKENS_OUT, "Tokens of the window"),
            utilization: meter
                .f64_histogram(names::METRIC_BUDGET_UTILIZATION)
                .with_description("Tokens of the window as a share of the budget's maximum")
                .with_unit("1")
                .with_boundaries(UTILIZATION_BOUNDARIES.into())
                .build(),
            exclusions: meter
                .u64_counter(names::METRIC_EXCLUSIONS)
                .with_description("Items that were left out")
                .with_unit("{item}")
                .build(),
        }
    }

    /// Instruments of the global meter provider. Set that first: later ones are not seen.
    #[must_use]
    pub fn global() -> Self {
        Self::new(&global::meter_with_scope(scope()))
    }

    pub(crate) fn completed(&self, totals: &Totals<'_>) {
        self.runs.add(1, &[]);
        self.duration.record(totals.seconds, &[]);
        self.tokens_in.record(u64::try_from(totals.tokens_in).unwrap_or(0), &[]);
        let tokens_out = totals.tokens_out.clamp(0, u64::MAX.into());
        self.tokens_out.record(tokens_out as u64, &[]);
        let utilization = match totals.max_tokens {
            0 => 0.0,
            max => totals.tokens_out as f64 / max as f64,
        };
        self.utilization.record(utilization, &[]);
        for &(reason, count) in &totals.exclusions.0 {
            self.exclusions.add(count, &[KeyValue::new(names::EXCLUSION_REASON, reason)]);
        }
    }

    pub(crate) fn failed(&self, seconds: f64, error_type: &'static str) {
        let attributes = [KeyValue::new(names::ERROR_TYPE, error_type)];
        self.runs.add(1, &attributes);
        self.duration.record(seconds, &attributes);
    }
}

/// Number of times that each reason was given. There are few reasons, so a list will do.
#[derive(Debug, Default)]
pub(crate) struct Tally(Vec<(&'static str, u64)>);

impl Tally {
    pub(crate) fn add(&mut self, reason: &'static str) {
        match self.0.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => self.0.push((reason, 1)),
        }
    }
}

/// From a tenth of a millisecond, which a small run takes, to a scorer that asks a server.
const DURATION_BOUNDARIES: [f64; 14] =
    [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

/// Finer where a window is nearly full.
const UTILIZATION_BOUNDARIES: [f64; 12] =
    [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0];

/// Powers of two from 256 to four million.
fn token_boundaries() -> Vec<f64> {
    (8..=22).map(|power| f64::from(1 << power)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_counts_each_reason_apart() {
        let mut tally = Tally::default();
        for reason in ["a", "b", "a", "a"] {
            tally.add(reason);
        }
        assert_eq!(tally.0, [("a", 3), ("b", 1)]);
    }

    #[test]
    fn boundaries_ascend() {
        assert!(DURATION_BOUNDARIES.is_sorted() && UTILIZATION_BOUNDARIES.is_sorted());
        assert_eq!(token_boundaries().last(), Some(&4_194_304.0));
    }
}
