//! What it costs to send a run to OpenTelemetry: four signals, plain and with each collector. The
//! spans are made by the SDK and then dropped, so that no exporter is part of the time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cupel_otel::{CupelMetrics, CupelOtelTraceCollector, CupelVerbosity, SOURCE_NAME};
use opentelemetry::Context;
use opentelemetry::metrics::MeterProvider as _;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::metrics::data::ResourceMetrics;
use opentelemetry_sdk::metrics::exporter::PushMetricExporter;
use opentelemetry_sdk::metrics::{SdkMeterProvider, Temporality};
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider, Span, SpanData, SpanProcessor};
use serde::Serialize;

use crate::contest::{Bound, Ratio};
use crate::data::{self, USUAL_TAGS};
use crate::measure::{Contestant, Timing, interleaved, once};
use crate::options::Options;
use crate::ours::{Answer, Engine};
use crate::workload::{Call, Plan, Signal, Slicing};

/// A way to trace a run, and how much longer than a plain one it may take.
struct Way {
    name: &'static str,
    verbosity: CupelVerbosity,
    sampled: bool,
    metrics: bool,
    at_most: Option<f64>,
}

const WAYS: [Way; 5] = [
    Way {
        name: "telemetry, StageOnly",
        verbosity: CupelVerbosity::StageOnly,
        sampled: true,
        metrics: false,
        at_most: Some(1.1),
    },
    Way {
        name: "telemetry, StageOnly and metrics",
        verbosity: CupelVerbosity::StageOnly,
        sampled: true,
        metrics: true,
        at_most: None,
    },
    Way {
        name: "telemetry, StageAndExclusions",
        verbosity: CupelVerbosity::StageAndExclusions,
        sampled: true,
        metrics: false,
        at_most: None,
    },
    Way {
        name: "telemetry, Full",
        verbosity: CupelVerbosity::Full,
        sampled: true,
        metrics: false,
        at_most: None,
    },
    Way {
        name: "telemetry, Full, not sampled",
        verbosity: CupelVerbosity::Full,
        sampled: false,
        metrics: false,
        at_most: None,
    },
];
const ITEMS: usize = 1_000;

const PLAN: Plan = Plan { signal: Signal::FourSignals, slicing: Slicing::Greedy, call: Call::Run };

#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    pub workload: &'static str,
    pub items: usize,
    pub plain: Timing,
    pub traced: Timing,
    pub traced_to_plain: Ratio,
}

pub fn run(options: &Options) -> Vec<Outcome> {
    let ways: Vec<&Way> = WAYS.iter().filter(|way| options.wants(way.name, ITEMS)).collect();
    if ways.is_empty() {
        return Vec::new();
    }
    let items = options.size(ITEMS);
    eprintln!("measuring telemetry, {items} items");
    let engine = Engine::new(PLAN, data::rows(items, USUAL_TAGS));
    let (answer, first) = once(|| engine.run());
    assert_eq!(engine.flaw(&answer), None);

    let mut contestants = vec![Contestant::new(first, || engine.run())];
    for way in &ways {
        let setup = Setup::new(way);
        let (traced, first) = once(|| setup.run(&engine));
        assert_eq!(traced.texts(), answer.texts(), "a trace changes nothing");
        let spans = setup.spans.0.load(Ordering::Relaxed);
        assert_eq!(spans, if way.sampled { 6 } else { 0 }, "a root and five stages, or nothing");
        let engine = &engine;
        contestants.push(Contestant::new(first, move || setup.run(engine)));
    }

    let timings = interleaved(contestants, options.effort());
    let plain = timings[0];
    let outcome = |(way, traced): (&&Way, &Timing)| Outcome {
        workload: way.name,
        items,
        plain,
        traced: *traced,
        traced_to_plain: Ratio::new(
            traced.best_seconds / plain.best_seconds,
            way.at_most.map(Bound::AtMost).filter(|_| !options.quick),
        ),
    };
    ways.iter().zip(&timings[1..]).map(outcome).collect()
}

struct Setup {
    collector: CupelOtelTraceCollector,
    spans: Discarded,
    /// Instruments stop when their provider is dropped.
    _meters: SdkMeterProvider,
}

impl Setup {
    fn new(way: &Way) -> Self {
        let spans = Discarded::default();
        let sampler = if way.sampled { Sampler::AlwaysOn } else { Sampler::AlwaysOff };
        let tracers = SdkTracerProvider::builder()
            .with_span_processor(spans.clone())
            .with_sampler(sampler)
            .build();
        let meters = SdkMeterProvider::builder().with_periodic_exporter(Nowhere).build();
        let mut collector =
            CupelOtelTraceCollector::with_tracer(tracers.tracer(SOURCE_NAME), way.verbosity);
        if way.metrics {
            collector = collector.with_metrics(CupelMetrics::new(&meters.meter(SOURCE_NAME)));
        }
        Self { collector, spans, _meters: meters }
    }

    /// As a server would: each run has a clone of its own.
    fn run(&self, engine: &Engine) -> Answer {
        engine.run_with(&mut self.collector.clone())
    }
}

/// Takes each span and drops it.
#[derive(Clone, Debug, Default)]
struct Discarded(Arc<AtomicUsize>);

impl SpanProcessor for Discarded {
    fn on_start(&self, _span: &mut Span, _context: &Context) {}

    fn on_end(&self, _span: SpanData) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _timeout: Duration) -> OTelSdkResult {
        Ok(())
    }
}

/// Takes metrics, once a minute, and drops them.
#[derive(Debug)]
struct Nowhere;

impl PushMetricExporter for Nowhere {
    async fn export(&self, _metrics: &ResourceMetrics) -> OTelSdkResult {
        Ok(())
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _timeout: Duration) -> OTelSdkResult {
        Ok(())
    }

    fn temporality(&self) -> Temporality {
        Temporality::Cumulative
    }
}
