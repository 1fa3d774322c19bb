//! The whole way: the SDK's batches, OTLP as protobuf over HTTP, and a receiver on loopback. What
//! is asserted is what arrived.

mod client;
mod receiver;

use std::sync::Barrier;

use cupel_otel::CupelVerbosity::{Full, StageAndExclusions, StageOnly};
use cupel_otel::{CupelMetrics, CupelOtelTraceCollector, CupelVerbosity, SOURCE_NAME};
use opentelemetry::Context;
use opentelemetry::metrics::MeterProvider as _;
use opentelemetry::trace::noop::NoopTracer;
use opentelemetry::trace::{TraceContextExt as _, Tracer as _, TracerProvider as _};
use opentelemetry_otlp::{MetricExporter, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;

use crate::errors::assert_failed_at_slice;
use crate::event_limit::assert_thousand_exclusions;
use crate::metrics::assert_two_and_one_failed;
use crate::secrets::{SECRET, secretive};
use crate::seen::{Run, Span};
use crate::situation;
use crate::tiers::{assert_full, assert_stage_and_exclusions, assert_stage_only};
use crate::timestamps::{SLOW, assert_slow_score};
use client::LoopbackClient;
use receiver::Receiver;

struct Wire {
    provider: SdkTracerProvider,
    receiver: Receiver,
}

impl Wire {
    fn new() -> Self {
        let receiver = Receiver::start();
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(LoopbackClient)
            .with_endpoint(receiver.endpoint("/v1/traces"))
            .build()
            .unwrap();
        let provider = SdkTracerProvider::builder().with_batch_exporter(exporter).build();
        Self { provider, receiver }
    }

    fn collector(&self, verbosity: CupelVerbosity) -> CupelOtelTraceCollector {
        CupelOtelTraceCollector::with_tracer(self.provider.tracer(SOURCE_NAME), verbosity)
    }

    /// Everything that arrived, when there is no more to come.
    fn arrived(&self) -> Vec<Span> {
        self.provider.shutdown().unwrap();
        self.receiver.spans()
    }
}

#[test]
fn all_three_tiers_arrive() {
    let assertions: [(_, fn(&Run)); 3] = [
        (StageOnly, assert_stage_only),
        (StageAndExclusions, assert_stage_and_exclusions),
        (Full, assert_full),
    ];
    for (verbosity, assert) in assertions {
        let wire = Wire::new();
        situation::usual().run(&mut wire.collector(verbosity)).unwrap();
        assert(&Run::only(&wire.arrived()));
    }
}

#[test]
fn a_run_that_fails_in_the_middle_arrives_as_far_as_it_came() {
    for verbosity in [StageOnly, StageAndExclusions, Full] {
        let wire = Wire::new();
        situation::failing_at_slice().run(&mut wire.collector(verbosity)).unwrap_err();
        assert_failed_at_slice(&Run::only(&wire.arrived()), verbosity);
    }
}

#[test]
fn a_thousand_exclusions_arrive_as_their_number() {
    let wire = Wire::new();
    let mut collector = wire.collector(StageAndExclusions);
    situation::thousand_exclusions().run(&mut collector).unwrap();
    assert_thousand_exclusions(&Run::only(&wire.arrived()), 128);
}

#[test]
fn runs_on_eight_threads_arrive_unmixed() {
    const RUNS_A_THREAD: usize = 5;
    let wire = Wire::new();
    let agent = wire.provider.tracer("agent");
    let all_there = Barrier::new(8);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let turn = Context::current_with_span(agent.start("turn"));
                let _current = turn.clone().attach();
                let mut collector = wire.collector(Full);
                all_there.wait();
                for _ in 0..RUNS_A_THREAD {
                    situation::usual().run(&mut collector).unwrap();
                }
                turn.span().end();
            });
        }
    });

    let spans = wire.arrived();
    let turns: Vec<&Span> = spans.iter().filter(|span| span.name == "turn").collect();
    assert_eq!(turns.len(), 8);
    let runs = Run::all(&spans);
    assert_eq!(runs.len(), 8 * RUNS_A_THREAD);
    runs.iter().for_each(assert_full);
    for turn in turns {
        let mine = runs.iter().filter(|run| run.root.parent == turn.id);
        let mine: Vec<&Run> = mine.collect();
        assert_eq!(mine.len(), RUNS_A_THREAD);
        assert!(mine.iter().all(|run| run.root.trace == turn.trace));
    }
}

#[test]
fn the_users_span_arrives_as_the_parent() {
    let wire = Wire::new();
    wire.provider.tracer("agent").in_span("turn", |_| {
        situation::usual().run(&mut wire.collector(StageOnly)).unwrap();
    });
    let spans = wire.arrived();
    let turn = spans.iter().find(|span| span.name == "turn").unwrap();
    let run = Run::only(&spans);
    assert_eq!((&run.root.parent, &run.root.trace), (&turn.id, &turn.trace));
    assert!(turn.parent.is_empty());
    assert_eq!(spans.len(), 7);
}

#[test]
fn the_time_of_a_slow_stage_arrives() {
    let wire = Wire::new();
    situation::slow_scoring(SLOW).run(&mut wire.collector(StageOnly)).unwrap();
    assert_slow_score(&Run::only(&wire.arrived()));
}

#[test]
fn secrets_do_not_arrive_in_any_byte() {
    for situation in secretive() {
        let wire = Wire::new();
        // The answer of the run is of no interest: two of the three fail.
        let _ = situation.run(&mut wire.collector(Full));
        assert!(!wire.arrived().is_empty());
        let secret = SECRET.as_bytes();
        for body in wire.receiver.bodies() {
            assert!(body.windows(secret.len()).all(|bytes| bytes != secret));
        }
    }
}

#[test]
fn metrics_arrive() {
    let receiver = Receiver::start();
    let exporter = MetricExporter::builder()
        .with_http()
        .with_http_client(LoopbackClient)
        .with_endpoint(receiver.endpoint("/v1/metrics"))
        .build()
        .unwrap();
    let provider = SdkMeterProvider::builder().with_periodic_exporter(exporter).build();
    let metrics = CupelMetrics::new(&provider.meter(SOURCE_NAME));
    let mut collector =
        CupelOtelTraceCollector::with_tracer(NoopTracer::new(), StageOnly).with_metrics(metrics);
    situation::usual().run(&mut collector).unwrap();
    situation::usual().run(&mut collector).unwrap();
    situation::failing_at_slice().run(&mut collector).unwrap_err();
    provider.shutdown().unwrap();
    assert_two_and_one_failed(receiver.points());
}
