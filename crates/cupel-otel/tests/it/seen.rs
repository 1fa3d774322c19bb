//! Spans as they are seen in memory or at the end of a wire, in one form.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use cupel_otel::{CupelOtelTraceCollector, CupelVerbosity, SOURCE_NAME};
use opentelemetry::trace::{SpanId, Status, TracerProvider as _};
use opentelemetry::{KeyValue, Value};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData, SpanLimits};

pub(crate) const STAGES: [&str; 5] = [
    "cupel.stage.classify",
    "cupel.stage.score",
    "cupel.stage.deduplicate",
    "cupel.stage.slice",
    "cupel.stage.place",
];

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Span {
    pub(crate) scope: String,
    pub(crate) name: String,
    pub(crate) trace: Vec<u8>,
    pub(crate) id: Vec<u8>,
    /// Empty for none.
    pub(crate) parent: Vec<u8>,
    /// In nanoseconds since 1970.
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) attributes: Attributes,
    pub(crate) events: Vec<Event>,
    pub(crate) dropped_events: u32,
    /// Its description, if the status is an error.
    pub(crate) error: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) time: u64,
    pub(crate) attributes: Attributes,
}

pub(crate) type Attributes = BTreeMap<String, Attribute>;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Attribute {
    Int(i64),
    Float(f64),
    Text(String),
}

impl From<i64> for Attribute {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<f64> for Attribute {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<&str> for Attribute {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

/// `attributes![("name", value), ...]`
macro_rules! attributes {
    ($(($name:expr, $value:expr)),* $(,)?) => {
        $crate::seen::Attributes::from([$(($name.to_owned(), $value.into())),*])
    };
}
pub(crate) use attributes;

impl Span {
    pub(crate) fn milliseconds(&self) -> f64 {
        (self.end - self.start) as f64 / 1e6
    }

    pub(crate) fn events_named(&self, name: &str) -> Vec<&Event> {
        self.events.iter().filter(|event| event.name == name).collect()
    }

    fn holds(&self, other: &Self) -> bool {
        self.start <= other.start && other.start <= other.end && other.end <= self.end
    }
}

/// The spans of one run.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) root: Span,
    /// In order of time.
    pub(crate) stages: Vec<Span>,
}

impl Run {
    /// The only run among these spans.
    #[track_caller]
    pub(crate) fn only(spans: &[Span]) -> Self {
        let mut runs = Self::all(spans);
        assert_eq!(runs.len(), 1, "runs in {spans:#?}");
        runs.remove(0)
    }

    /// Every run among these spans. Whatever a test is about, this holds: one scope, one trace a
    /// run, stages below their root, one after the other, and within it in time.
    #[track_caller]
    pub(crate) fn all(spans: &[Span]) -> Vec<Self> {
        let roots = spans.iter().filter(|span| span.name == "cupel.pipeline");
        let runs: Vec<Self> = roots
            .map(|root| {
                let below = |span: &&Span| span.parent == root.id;
                let mut stages: Vec<Span> = spans.iter().filter(below).cloned().collect();
                stages.sort_by_key(|stage| stage.start);
                for stage in &stages {
                    assert_eq!((&stage.scope, &stage.trace), (&root.scope, &root.trace));
                    assert!(root.holds(stage), "{stage:#?} outside of {root:#?}");
                }
                for pair in stages.windows(2) {
                    assert!(pair[0].end <= pair[1].start, "overlap in {stages:#?}");
                }
                assert_eq!(root.scope, SOURCE_NAME);
                Self { root: root.clone(), stages }
            })
            .collect();
        let stage_count: usize = runs.iter().map(|run| run.stages.len()).sum();
        let stages = spans.iter().filter(|span| span.name.starts_with("cupel.stage."));
        assert_eq!(stage_count, stages.count(), "a stage without a root in {spans:#?}");
        runs
    }

    #[track_caller]
    pub(crate) fn stage(&self, name: &str) -> &Span {
        let name = format!("cupel.stage.{name}");
        self.stages.iter().find(|stage| stage.name == name).expect("the stage has a span")
    }

    pub(crate) fn stage_names(&self) -> Vec<&str> {
        self.stages.iter().map(|stage| stage.name.as_str()).collect()
    }
}

/// Spans that are kept in memory.
pub(crate) struct Memory {
    pub(crate) provider: SdkTracerProvider,
    pub(crate) exporter: InMemorySpanExporter,
}

impl Memory {
    pub(crate) fn new() -> Self {
        Self::with_limits(SpanLimits::default())
    }

    pub(crate) fn with_limits(limits: SpanLimits) -> Self {
        let exporter = InMemorySpanExporter::default();
        let provider = SdkTracerProvider::builder()
            .with_simple_exporter(exporter.clone())
            .with_span_limits(limits)
            .build();
        Self { provider, exporter }
    }

    pub(crate) fn collector(&self, verbosity: CupelVerbosity) -> CupelOtelTraceCollector {
        CupelOtelTraceCollector::with_tracer(self.provider.tracer(SOURCE_NAME), verbosity)
    }

    pub(crate) fn spans(&self) -> Vec<Span> {
        self.exporter.get_finished_spans().unwrap().iter().map(Span::from).collect()
    }

    #[track_caller]
    pub(crate) fn run(&self) -> Run {
        Run::only(&self.spans())
    }
}

impl From<&SpanData> for Span {
    fn from(span: &SpanData) -> Self {
        let events = span.events.events.iter().map(|event| Event {
            name: event.name.to_string(),
            time: nanoseconds(event.timestamp),
            attributes: attributes_of(&event.attributes),
        });
        Self {
            scope: span.instrumentation_scope.name().to_owned(),
            name: span.name.to_string(),
            trace: span.span_context.trace_id().to_bytes().into(),
            id: span.span_context.span_id().to_bytes().into(),
            parent: match span.parent_span_id {
                SpanId::INVALID => Vec::new(),
                parent => parent.to_bytes().into(),
            },
            start: nanoseconds(span.start_time),
            end: nanoseconds(span.end_time),
            attributes: attributes_of(&span.attributes),
            events: events.collect(),
            dropped_events: span.events.dropped_count,
            error: match &span.status {
                Status::Error { description } => Some(description.to_string()),
                _ => None,
            },
        }
    }
}

fn nanoseconds(time: SystemTime) -> u64 {
    u64::try_from(time.duration_since(UNIX_EPOCH).unwrap().as_nanos()).unwrap()
}

#[track_caller]
pub(crate) fn attributes_of(attributes: &[KeyValue]) -> Attributes {
    let unique: Attributes = attributes
        .iter()
        .map(|attribute| {
            let value = match &attribute.value {
                Value::I64(value) => Attribute::Int(*value),
                Value::F64(value) => Attribute::Float(*value),
                Value::String(value) => Attribute::Text(value.to_string()),
                other => panic!("no attribute of ours is like {other:?}"),
            };
            (attribute.key.to_string(), value)
        })
        .collect();
    assert_eq!(unique.len(), attributes.len(), "each attribute is set once");
    unique
}
