//! Figures for Prometheus, in its text form.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::beside::Totals;
use crate::record::Record;

/// Upper ends of the buckets, in seconds.
const BUCKETS: [f64; 12] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10.0, 60.0, 300.0];

#[derive(Default)]
struct Histogram {
    counts: [AtomicU64; BUCKETS.len()],
    count: AtomicU64,
    micros: AtomicU64,
}

impl Histogram {
    fn add(&self, span: Duration) {
        let seconds = span.as_secs_f64();
        for (end, count) in BUCKETS.iter().zip(&self.counts) {
            if seconds <= *end {
                count.fetch_add(1, Ordering::Relaxed);
            }
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(span.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    fn write(&self, name: &str, help: &str, text: &mut String) {
        head(name, help, "histogram", text);
        for (end, count) in BUCKETS.iter().zip(&self.counts) {
            let count = count.load(Ordering::Relaxed);
            let _ = writeln!(text, "{name}_bucket{{le=\"{end}\"}} {count}");
        }
        let count = self.count.load(Ordering::Relaxed);
        let seconds = self.micros.load(Ordering::Relaxed) as f64 / 1e6;
        let _ = writeln!(text, "{name}_bucket{{le=\"+Inf\"}} {count}");
        let _ = writeln!(text, "{name}_sum {seconds}\n{name}_count {count}");
    }
}

fn head(name: &str, help: &str, kind: &str, text: &mut String) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

/// Counters. Labels have few values each: nothing that a client sends is one.
#[derive(Default)]
pub(crate) struct Metrics {
    requests: Mutex<BTreeMap<(&'static str, &'static str, String), u64>>,
    unfit: Mutex<BTreeMap<String, u64>>,
    active: AtomicI64,
    fitted: AtomicU64,
    tokens_before: AtomicU64,
    tokens_after: AtomicU64,
    tokens_cached: AtomicU64,
    messages_dropped: AtomicU64,
    sent_again: AtomicU64,
    tokens_cached_reported: AtomicU64,
    tokens_cached_expected: AtomicU64,
    disagreements: Mutex<BTreeMap<&'static str, u64>>,
    disbelieved: AtomicU64,
    store_failures: AtomicU64,
    lines_lost: AtomicU64,
    connections_refused: AtomicU64,
    spans_lost: AtomicU64,
    reloads: Mutex<BTreeMap<&'static str, u64>>,
    fitting: Histogram,
    until_answer: Histogram,
    duration: Histogram,
}

/// Gauges that others count.
pub(crate) struct Gauges {
    pub(crate) conversations: usize,
    /// Bytes that requests on their way hold.
    pub(crate) memory: usize,
    pub(crate) learnt: usize,
    /// The least of them for each upstream.
    pub(crate) learnt_least: BTreeMap<String, i64>,
}

fn add(counter: &AtomicU64, tokens: i64) {
    counter.fetch_add(u64::try_from(tokens).unwrap_or(0), Ordering::Relaxed);
}

impl Metrics {
    /// A request has come.
    pub(crate) fn begin(&self) {
        self.active.fetch_add(1, Ordering::Relaxed);
    }

    /// It is over.
    pub(crate) fn end(&self, record: &Record) {
        self.active.fetch_sub(1, Ordering::Relaxed);
        let api = record.api.map_or("other", crate::api::Api::name);
        let status = record.status.map_or_else(|| "none".to_owned(), |status| status.to_string());
        let key = (api, record.outcome.name(), status);
        *lock(&self.requests).entry(key).or_default() += 1;
        if let Some(unfit) = &record.unfit {
            *lock(&self.unfit).entry(unfit.code.clone()).or_default() += 1;
        }
        if let Some(figures) = &record.figures {
            self.fitted.fetch_add(u64::from(!figures.is_whole), Ordering::Relaxed);
            add(&self.tokens_before, figures.tokens_before);
            add(&self.tokens_after, figures.tokens_after);
            add(&self.tokens_cached, figures.cached);
            add(&self.messages_dropped, i64::try_from(figures.dropped).unwrap_or(0));
            self.fitting.add(record.fitting);
        }
        if let Some((said, figures)) = record.reported.zip(record.figures) {
            if let Some(cached) = said.cached {
                let expected = said.scaled(figures.cached, figures.tokens_after);
                add(&self.tokens_cached_reported, cached);
                add(&self.tokens_cached_expected, expected);
            }
        }
        if let Some(disagreement) = record.disagreement {
            *lock(&self.disagreements).entry(disagreement.code()).or_default() += 1;
        }
        self.sent_again.fetch_add(u64::from(record.sent_again), Ordering::Relaxed);
        if let Some(span) = record.until_answer {
            self.until_answer.add(span);
        }
        self.duration.add(record.duration);
    }

    /// The server that remembers conversations could not be asked.
    pub(crate) fn store_failed(&self) {
        self.store_failures.fetch_add(1, Ordering::Relaxed);
    }

    /// An upstream told a limit that is not learnt.
    pub(crate) fn limit_disbelieved(&self) {
        self.disbelieved.fetch_add(1, Ordering::Relaxed);
    }

    /// A line of the log could not be written.
    pub(crate) fn line_lost(&self) {
        self.lines_lost.fetch_add(1, Ordering::Relaxed);
    }

    #[cfg(test)]
    pub(crate) fn lines_lost(&self) -> u64 {
        self.lines_lost.load(Ordering::Relaxed)
    }

    /// A client has as many connections as it may.
    pub(crate) fn connection_refused(&self) {
        self.connections_refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Spans could not be sent.
    pub(crate) fn spans_lost(&self, count: u64) {
        self.spans_lost.fetch_add(count, Ordering::Relaxed);
    }

    /// The configuration was read again.
    pub(crate) fn reloaded(&self, result: &'static str) {
        *lock(&self.reloads).entry(result).or_default() += 1;
    }

    /// Sums of what went through.
    pub(crate) fn totals(&self) -> Totals {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let unfit = lock(&self.unfit).iter().map(|(code, count)| (code.clone(), *count)).collect();
        Totals {
            requests: of(&self.fitting.count),
            fitted: of(&self.fitted),
            tokens_before: of(&self.tokens_before),
            tokens_after: of(&self.tokens_after),
            tokens_cached: of(&self.tokens_cached),
            sent_again: of(&self.sent_again),
            unfit,
        }
    }

    /// All of it.
    pub(crate) fn write(&self, gauges: &Gauges) -> String {
        let mut text = String::new();
        let name = "cupel_gateway_requests_total";
        head(name, "Requests that are over.", "counter", &mut text);
        for ((api, outcome, status), count) in &*lock(&self.requests) {
            let _ = writeln!(
                text,
                "{name}{{api=\"{api}\",outcome=\"{outcome}\",status=\"{status}\"}} {count}"
            );
        }
        let name = "cupel_gateway_unfit_total";
        head(name, "Requests that could not be read or fitted.", "counter", &mut text);
        for (code, count) in &*lock(&self.unfit) {
            let _ = writeln!(text, "{name}{{code=\"{code}\"}} {count}");
        }
        let name = "cupel_gateway_disagreements_total";
        head(name, "Reports that do not agree with what was sent.", "counter", &mut text);
        for (code, count) in &*lock(&self.disagreements) {
            let _ = writeln!(text, "{name}{{code=\"{code}\"}} {count}");
        }
        let name = "cupel_gateway_reloads_total";
        head(name, "Configurations that were read again.", "counter", &mut text);
        for (result, count) in &*lock(&self.reloads) {
            let _ = writeln!(text, "{name}{{result=\"{result}\"}} {count}");
        }
        for (name, help, counter) in [
            ("fitted_total", "Requests that were made to fit.", &self.fitted),
            ("tokens_before_total", "Tokens of requests as they came.", &self.tokens_before),
            ("tokens_after_total", "Tokens of requests as they went out.", &self.tokens_after),
            (
                "tokens_cached_total",
                "Tokens that providers have in their cache.",
                &self.tokens_cached,
            ),
            (
                "tokens_cached_reported_total",
                "Tokens that providers reported to have read from their cache.",
                &self.tokens_cached_reported,
            ),
            (
                "tokens_cached_expected_total",
                "Tokens that should be in the cache, of the same requests, as their providers count.",
                &self.tokens_cached_expected,
            ),
            ("messages_dropped_total", "Messages that were left out.", &self.messages_dropped),
            ("sent_again_total", "Requests that an upstream found too long.", &self.sent_again),
            (
                "limits_disbelieved_total",
                "Limits that upstreams told and nobody learnt.",
                &self.disbelieved,
            ),
            ("store_failures_total", "Times that Redis could not be asked.", &self.store_failures),
            ("log_lines_lost_total", "Lines that the log could not take.", &self.lines_lost),
            (
                "connections_refused_total",
                "Connections of clients that have as many as they may.",
                &self.connections_refused,
            ),
            ("spans_lost_total", "Spans that the collector did not take.", &self.spans_lost),
        ] {
            let name = format!("cupel_gateway_{name}");
            head(&name, help, "counter", &mut text);
            let _ = writeln!(text, "{name} {}", counter.load(Ordering::Relaxed));
        }
        let active = self.active.load(Ordering::Relaxed);
        for (name, help, value) in [
            ("active_requests", "Requests on their way.", active),
            ("conversations", "Conversations in memory.", number(gauges.conversations)),
            ("memory_bytes", "Memory set aside for requests on their way.", number(gauges.memory)),
            ("learnt_limits", "Limits that upstreams told and that hold.", number(gauges.learnt)),
        ] {
            let name = format!("cupel_gateway_{name}");
            head(&name, help, "gauge", &mut text);
            let _ = writeln!(text, "{name} {value}");
        }
        let name = "cupel_gateway_learnt_limit_tokens";
        head(name, "The least limit that an upstream told.", "gauge", &mut text);
        for (upstream, tokens) in &gauges.learnt_least {
            let _ = writeln!(text, "{name}{{upstream=\"{upstream}\"}} {tokens}");
        }
        for (name, help, histogram) in [
            ("fitting_seconds", "Time to make a request fit.", &self.fitting),
            ("until_answer_seconds", "Time until the head of the answer.", &self.until_answer),
            ("request_seconds", "Time until the end of the answer.", &self.duration),
        ] {
            histogram.write(&format!("cupel_gateway_{name}"), help, &mut text);
        }
        text
    }
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Disagreement;
    use crate::record::{Figures, Outcome};
    use crate::unfit::Unfit;
    use crate::usage::Reported;

    #[track_caller]
    fn assert_has(text: &str, lines: &[&str]) {
        for line in lines {
            assert!(text.lines().any(|own| own == *line), "{line}\n{text}");
        }
    }

    fn written(metrics: &Metrics) -> String {
        let learnt_least = BTreeMap::from([("https://up".to_owned(), 900)]);
        metrics.write(&Gauges { conversations: 7, memory: 9, learnt: 8, learnt_least })
    }

    #[test]
    fn reports_of_the_cache_are_compared_in_tokens_of_the_provider() {
        let metrics = Metrics::default();
        let record = |cached| Record {
            figures: Some(Figures::for_tests(false)),
            reported: Some(Reported { tokens: 300, cached }),
            disagreement: Some(Disagreement::Truncated { counted: 600, reported: 300 }),
            ..Record::for_tests(1)
        };
        metrics.end(&record(Some(150)));
        metrics.end(&record(None));
        // 400 of 600 counted tokens should be there, and the provider counts half as many.
        let lines = [
            "cupel_gateway_tokens_cached_reported_total 150",
            "cupel_gateway_tokens_cached_expected_total 200",
            "cupel_gateway_disagreements_total{code=\"truncated\"} 2",
        ];
        assert_has(&written(&metrics), &lines);
    }

    #[test]
    fn a_bucket_counts_whatever_is_not_above_its_end() {
        let histogram = Histogram::default();
        for millis in [1, 2, 400_000] {
            histogram.add(Duration::from_millis(millis));
        }
        let mut text = String::new();
        histogram.write("h", "Words.", &mut text);
        assert!(text.starts_with("# HELP h Words.\n# TYPE h histogram\n"), "{text}");
        assert_has(
            &text,
            &[
                "h_bucket{le=\"0.0005\"} 0",
                "h_bucket{le=\"0.001\"} 1",
                "h_bucket{le=\"0.0025\"} 2",
                "h_bucket{le=\"300\"} 2",
                "h_bucket{le=\"+Inf\"} 3",
                "h_sum 400.003",
                "h_count 3",
            ],
        );
    }

    #[test]
    fn requests_are_counted_by_what_became_of_them() {
        let metrics = Metrics::default();
        let cut = Record {
            status: Some(200),
            outcome: Outcome::Answered,
            figures: Some(Figures::for_tests(false)),
            sent_again: true,
            fitting: Duration::from_millis(2),
            until_answer: Some(Duration::from_millis(20)),
            duration: Duration::from_millis(200),
            ..Record::for_tests(1)
        };
        let whole = Record { figures: Some(Figures::for_tests(true)), ..cut.clone() };
        let whole = Record { sent_again: false, until_answer: None, ..whole };
        let unread = Record {
            api: None,
            outcome: Outcome::Refused,
            unfit: Some(Unfit::new("malformed-request", "SECRET")),
            ..Record::for_tests(3)
        };
        for record in [&cut, &cut, &whole, &unread] {
            metrics.begin();
            metrics.end(record);
        }
        metrics.begin();
        let text = written(&metrics);
        assert_has(
            &text,
            &[
                "cupel_gateway_requests_total{api=\"openai-chat\",outcome=\"answered\",status=\"200\"} 3",
                "cupel_gateway_requests_total{api=\"other\",outcome=\"refused\",status=\"none\"} 1",
                "cupel_gateway_unfit_total{code=\"malformed-request\"} 1",
                "cupel_gateway_fitted_total 2",
                "cupel_gateway_tokens_before_total 2700",
                "cupel_gateway_tokens_after_total 1800",
                "cupel_gateway_tokens_cached_total 1200",
                "cupel_gateway_messages_dropped_total 9",
                "cupel_gateway_sent_again_total 2",
                "cupel_gateway_active_requests 1",
                "cupel_gateway_fitting_seconds_count 3",
                "cupel_gateway_until_answer_seconds_count 2",
                "cupel_gateway_request_seconds_count 4",
            ],
        );
        assert!(!text.contains("SECRET"));
    }

    #[test]
    fn what_goes_wrong_beside_requests_is_counted_too() {
        let metrics = Metrics::default();
        metrics.store_failed();
        metrics.line_lost();
        metrics.spans_lost(2);
        metrics.reloaded("ok");
        metrics.reloaded("failed");
        metrics.reloaded("ok");
        assert_has(
            &written(&metrics),
            &[
                "cupel_gateway_store_failures_total 1",
                "cupel_gateway_log_lines_lost_total 1",
                "cupel_gateway_spans_lost_total 2",
                "cupel_gateway_reloads_total{result=\"ok\"} 2",
                "cupel_gateway_reloads_total{result=\"failed\"} 1",
                "cupel_gateway_conversations 7",
                "cupel_gateway_learnt_limits 8",
                "# TYPE cupel_gateway_conversations gauge",
            ],
        );
    }
}
