//! Values that runs add to counters and histograms.

use std::collections::BTreeMap;

use cupel_otel::{CupelMetrics, CupelOtelTraceCollector, CupelVerbosity::StageOnly, SOURCE_NAME};
use opentelemetry::metrics::MeterProvider as _;
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, Metric, MetricData, ScopeMetrics};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, SdkMeterProvider};

use crate::seen::{Attributes, Memory, attributes, attributes_of};
use crate::situation::{self, Situation, budget};

/// By metric and attributes: how often, and how much in all.
pub(crate) type Points = BTreeMap<(String, String), (u64, f64)>;

/// A counter has no "how often": it stands as 0.
pub(crate) fn point(name: &str, attributes: &Attributes) -> (String, String) {
    (name.to_owned(), format!("{attributes:?}"))
}

struct Meters {
    provider: SdkMeterProvider,
    exporter: InMemoryMetricExporter,
}

impl Meters {
    fn new() -> Self {
        let exporter = InMemoryMetricExporter::default();
        let provider = SdkMeterProvider::builder().with_periodic_exporter(exporter.clone()).build();
        Self { provider, exporter }
    }

    fn collector(&self) -> CupelOtelTraceCollector {
        let metrics = CupelMetrics::new(&self.provider.meter(SOURCE_NAME));
        Memory::new().collector(StageOnly).with_metrics(metrics)
    }

    fn points(&self) -> Points {
        self.provider.force_flush().unwrap();
        let metrics = self.exporter.get_finished_metrics().unwrap();
        let Some(last) = metrics.last() else { return Points::new() };
        last.scope_metrics().flat_map(ScopeMetrics::metrics).flat_map(points_of).collect()
    }
}

fn points_of(metric: &Metric) -> Vec<((String, String), (u64, f64))> {
    let key = |attributes: &mut dyn Iterator<Item = &opentelemetry::KeyValue>| {
        let attributes: Vec<_> = attributes.cloned().collect();
        point(metric.name(), &attributes_of(&attributes))
    };
    match metric.data() {
        AggregatedMetrics::U64(MetricData::Sum(sum)) => sum
            .data_points()
            .map(|point| (key(&mut point.attributes()), (0, point.value() as f64)))
            .collect(),
        AggregatedMetrics::U64(MetricData::Histogram(histogram)) => histogram
            .data_points()
            .map(|point| (key(&mut point.attributes()), (point.count(), point.sum() as f64)))
            .collect(),
        AggregatedMetrics::F64(MetricData::Histogram(histogram)) => histogram
            .data_points()
            .map(|point| (key(&mut point.attributes()), (point.count(), point.sum())))
            .collect(),
        other => panic!("no metric of ours is like {other:?}"),
    }
}

#[test]
fn two_runs_that_complete_and_one_that_fails() {
    let meters = Meters::new();
    let mut collector = meters.collector();
    situation::usual().run(&mut collector).unwrap();
    situation::usual().run(&mut collector.clone()).unwrap();
    situation::failing_at_slice().run(&mut collector).unwrap_err();
    assert_two_and_one_failed(meters.points());
}

#[test]
fn metrics_are_off_unless_asked_for() {
    let meters = Meters::new();
    situation::usual().run(&mut Memory::new().collector(StageOnly)).unwrap();
    assert_eq!(meters.points(), Points::new());
}

#[test]
fn a_budget_of_zero_is_not_used_at_all() {
    let meters = Meters::new();
    let items = Vec::new();
    let situation = Situation { budget: budget(0), items, ..situation::usual() };
    situation.run(&mut meters.collector()).unwrap();
    let points = meters.points();
    assert_eq!(points[&point("cupel.budget.utilization", &Attributes::new())], (1, 0.0));
}

#[test]
fn negative_and_huge_token_counts_are_counted_within_bounds() {
    let meters = Meters::new();
    let item = |text: &str, tokens| situation::item(text, tokens).build().unwrap();
    let situation = Situation { items: vec![item("less than nothing", -7)], ..situation::usual() };
    situation.run(&mut meters.collector()).unwrap();
    let points = meters.points();
    assert_eq!(points[&point("cupel.tokens.in", &Attributes::new())], (1, 0.0));

    let meters = Meters::new();
    let items = vec![item("a", i64::MAX), item("b", i64::MAX)];
    let pipeline = situation::pipeline()
        .slicer(situation::TakesAll)
        .overflow_strategy(cupel::OverflowStrategy::Proceed)
        .build()
        .unwrap();
    Situation { pipeline, items, ..situation::usual() }.run(&mut meters.collector()).unwrap();
    let points = meters.points();
    let out = points[&point("cupel.tokens.out", &Attributes::new())];
    assert_eq!(out, (1, 2.0 * i64::MAX as f64));
}

/// Two usual runs, and one that fails at Slice.
pub(crate) fn assert_two_and_one_failed(mut points: Points) {
    let none = Attributes::new();
    let failed = attributes![("error.type", "slicer_config")];
    for (attributes, runs) in [(&none, 2), (&failed, 1)] {
        let (count, seconds) = points.remove(&point("cupel.run.duration", attributes)).unwrap();
        assert_eq!(count, runs);
        assert!((0.0..60.0).contains(&seconds), "{seconds} s");
    }
    let reason = |name: &str| attributes![("cupel.exclusion.reason", name)];
    let expected = Points::from([
        (point("cupel.runs", &none), (0, 2.0)),
        (point("cupel.runs", &failed), (0, 1.0)),
        (point("cupel.tokens.in", &none), (2, 2.0 * 565.0)),
        (point("cupel.tokens.out", &none), (2, 2.0 * 60.0)),
        (point("cupel.budget.utilization", &none), (2, 2.0 * 0.6)),
        (point("cupel.exclusions", &reason("NegativeTokens")), (0, 2.0)),
        (point("cupel.exclusions", &reason("Deduplicated")), (0, 2.0)),
        (point("cupel.exclusions", &reason("BudgetExceeded")), (0, 2.0)),
    ]);
    assert_eq!(points, expected);
}
