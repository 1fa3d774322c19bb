//! The pipeline does for a collector only what somebody will see.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cupel::{
    ContextBudget, ContextItem, CupelError, ExclusionReason, InclusionReason, SelectionReport,
    StageTraceSnapshot, TraceCollector, TraceEvent, TraceInterest,
};
use cupel_otel::CupelVerbosity::{self, Full, StageAndExclusions, StageOnly};
use cupel_otel::{CupelMetrics, CupelOtelTraceCollector, SOURCE_NAME};
use opentelemetry::Context;
use opentelemetry::metrics::MeterProvider as _;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::{InMemorySpanExporter, Sampler, SdkTracerProvider};

use crate::seen::Memory;
use crate::situation;

#[test]
fn stage_only_asks_for_stages_only() {
    assert_eq!(Memory::new().collector(StageOnly).interest(), TraceInterest::STAGES);
    assert_eq!(items_told(Memory::new().collector(StageOnly)), 0);
}

#[test]
fn the_higher_tiers_ask_for_items_but_neither_for_messages_nor_for_a_report() {
    let expected = TraceInterest { records: true, ..TraceInterest::STAGES };
    for verbosity in [StageAndExclusions, Full] {
        assert_eq!(Memory::new().collector(verbosity).interest(), expected);
        assert_eq!(items_told(Memory::new().collector(verbosity)), 6);
    }
}

#[test]
fn metrics_need_the_items() {
    let meters = SdkMeterProvider::builder().build();
    let metrics = CupelMetrics::new(&meters.meter(SOURCE_NAME));
    assert_eq!(items_told(Memory::new().collector(StageOnly).with_metrics(metrics)), 6);
}

#[test]
fn a_run_that_is_not_sampled_is_told_no_items_and_writes_no_span() {
    for verbosity in [StageOnly, StageAndExclusions, Full] {
        let exporter = InMemorySpanExporter::default();
        assert_eq!(items_told(unsampled(exporter.clone(), verbosity)), 0);
        assert!(exporter.get_finished_spans().unwrap().is_empty());
    }
}

#[test]
fn a_run_within_suppressed_telemetry_writes_no_span() {
    let memory = Memory::new();
    let _suppressed = Context::enter_telemetry_suppressed_scope();
    assert_eq!(items_told(memory.collector(Full)), 0);
    assert!(memory.spans().is_empty());
}

fn unsampled(exporter: InMemorySpanExporter, verbosity: CupelVerbosity) -> CupelOtelTraceCollector {
    let provider = SdkTracerProvider::builder()
        .with_simple_exporter(exporter)
        .with_sampler(Sampler::AlwaysOff)
        .build();
    CupelOtelTraceCollector::with_tracer(provider.tracer(SOURCE_NAME), verbosity)
}

/// Number of items of the usual six the pipeline hands out.
fn items_told(collector: CupelOtelTraceCollector) -> usize {
    let told = Arc::new(AtomicUsize::new(0));
    let mut counting = Counting { inner: collector, told: Arc::clone(&told) };
    situation::usual().run(&mut counting).unwrap();
    told.load(Ordering::Relaxed)
}

/// Counts items on their way.
struct Counting {
    inner: CupelOtelTraceCollector,
    told: Arc<AtomicUsize>,
}

impl TraceCollector for Counting {
    fn is_enabled(&self) -> bool {
        self.inner.is_enabled()
    }

    fn interest(&self) -> TraceInterest {
        self.inner.interest()
    }

    fn on_run_started(&mut self, budget: &ContextBudget) {
        self.inner.on_run_started(budget);
    }

    fn record_stage_event(&mut self, event: TraceEvent) {
        self.inner.record_stage_event(event);
    }

    fn record_item_event(&mut self, event: TraceEvent) {
        panic!("nobody asked for messages: {event:?}");
    }

    fn record_included(&mut self, item: ContextItem, score: f64, reason: InclusionReason) {
        self.told.fetch_add(1, Ordering::Relaxed);
        self.inner.record_included(item, score, reason);
    }

    fn record_excluded(&mut self, item: ContextItem, score: f64, reason: ExclusionReason) {
        self.told.fetch_add(1, Ordering::Relaxed);
        self.inner.record_excluded(item, score, reason);
    }

    fn on_pipeline_completed(
        &mut self,
        report: &SelectionReport,
        budget: &ContextBudget,
        stage_snapshots: &[StageTraceSnapshot],
    ) {
        assert!(report.included.is_empty() && report.excluded.is_empty());
        self.inner.on_pipeline_completed(report, budget, stage_snapshots);
    }

    fn on_run_failed(&mut self, error: &CupelError) {
        self.inner.on_run_failed(error);
    }
}
