//! The global providers: a collector finds them when a run starts, even if they were not there when
//! it was made. There is one of each in a process, so that no other test may set or use them.

use cupel::{
    ChronologicalPlacer, ContextBudget, ContextItemBuilder, GreedySlice, Pipeline, RecencyScorer,
};
use cupel_otel::{CupelMetrics, CupelOtelTraceCollector, CupelVerbosity, SOURCE_NAME};
use opentelemetry::global;
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, SdkMeterProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};

#[test]
fn the_global_providers_are_the_default() {
    let pipeline = Pipeline::builder()
        .scorer(RecencyScorer)
        .slicer(GreedySlice)
        .placer(ChronologicalPlacer)
        .build()
        .unwrap();
    let items = [ContextItemBuilder::new("hello", 5).build().unwrap()];
    let budget = ContextBudget::builder(10).build().unwrap();

    // Nobody listens yet, and nothing goes wrong.
    let mut collector = CupelOtelTraceCollector::new(CupelVerbosity::Full);
    assert_eq!(pipeline.run_traced(&items, &budget, &mut collector).unwrap().len(), 1);

    let spans = InMemorySpanExporter::default();
    let tracers = SdkTracerProvider::builder().with_simple_exporter(spans.clone()).build();
    global::set_tracer_provider(tracers);
    let metrics = InMemoryMetricExporter::default();
    let meters = SdkMeterProvider::builder().with_periodic_exporter(metrics.clone()).build();
    global::set_meter_provider(meters.clone());

    let mut collector = collector.with_metrics(CupelMetrics::global());
    pipeline.run_traced(&items, &budget, &mut collector).unwrap();
    meters.force_flush().unwrap();

    let spans = spans.get_finished_spans().unwrap();
    assert_eq!(spans.len(), 6);
    for span in spans {
        assert_eq!(span.instrumentation_scope.name(), SOURCE_NAME);
        assert_eq!(span.instrumentation_scope.version(), Some(env!("CARGO_PKG_VERSION")));
    }
    let metrics = metrics.get_finished_metrics().unwrap();
    let scopes: Vec<_> = metrics[0].scope_metrics().map(|one| one.scope().name()).collect();
    assert_eq!(scopes, [SOURCE_NAME]);
}
