//! One turn of an agent, as a trace on the console.
//!
//! ```sh
//! cargo run -p cupel-context-otel --example agent_turn
//! ```
//!
//! The agent has a span of its own for the turn. The run of the pipeline appears below it, beside
//! whatever else the agent does.

use std::error::Error;
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use cupel::{
    ChronologicalPlacer, ContextBudget, ContextItem, ContextItemBuilder, ContextKind, CupelError,
    GreedySlice, Pipeline, ReflexiveScorer,
};
use cupel_otel::{CupelOtelTraceCollector, CupelVerbosity, SOURCE_NAME};
use opentelemetry::trace::{SpanId, Status, Tracer, TracerProvider};
use opentelemetry::{KeyValue, Value};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter};

fn main() -> Result<(), Box<dyn Error>> {
    let provider = SdkTracerProvider::builder().with_simple_exporter(Console::default()).build();
    let agent = provider.tracer("agent");
    let mut collector =
        CupelOtelTraceCollector::with_tracer(provider.tracer(SOURCE_NAME), CupelVerbosity::Full);

    agent.in_span("agent.turn", |_| -> Result<(), CupelError> {
        let candidates = agent.in_span("agent.gather", |_| candidates())?;
        let pipeline = Pipeline::builder()
            .scorer(ReflexiveScorer)
            .slicer(GreedySlice)
            .placer(ChronologicalPlacer)
            .build()?;
        let budget = ContextBudget::builder(1_000).target_tokens(600).build()?;
        let window = pipeline.run_traced(&candidates, &budget, &mut collector)?;
        agent.in_span("agent.ask_model", |_| ask_model(&window));
        Ok(())
    })?;

    // The trace is complete: the exporter prints it.
    provider.shutdown()?;
    Ok(())
}

fn candidates() -> Result<Vec<ContextItem>, CupelError> {
    let document = |text: &str, tokens: i64, relevance: f64| {
        let item = ContextItemBuilder::new(text, tokens).kind(ContextKind::document());
        item.future_relevance_hint(relevance).build()
    };
    let instructions = ContextItemBuilder::new("You are a helpful librarian.", 40)
        .kind(ContextKind::system_prompt())
        .pinned(true)
        .build()?;
    let question = ContextItemBuilder::new("Which of these is about rivers?", 20)
        .kind(ContextKind::message())
        .future_relevance_hint(1.0)
        .build()?;
    Ok(vec![
        instructions,
        document("A history of bridges.", 300, 0.4)?,
        document("The course of the Rhine.", 250, 0.9)?,
        document("The course of the Rhine.", 250, 0.9)?,
        document("An encyclopaedia of fish.", 5_000, 0.7)?,
        question,
    ])
}

fn ask_model(_window: &[ContextItem]) {
    sleep(Duration::from_millis(20));
}

/// Keeps spans until the end, and prints them as a tree.
#[derive(Debug, Default)]
struct Console {
    spans: Mutex<Vec<SpanData>>,
}

impl SpanExporter for Console {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        self.spans.lock().unwrap_or_else(PoisonError::into_inner).extend(batch);
        Ok(())
    }

    fn shutdown_with_timeout(&self, _timeout: Duration) -> OTelSdkResult {
        let mut spans = self.spans.lock().unwrap_or_else(PoisonError::into_inner);
        spans.sort_by_key(|span| span.start_time);
        print_below(SpanId::INVALID, &spans, 0);
        Ok(())
    }
}

fn print_below(parent: SpanId, spans: &[SpanData], depth: usize) {
    let margin = "  ".repeat(depth);
    for span in spans.iter().filter(|span| span.parent_span_id == parent) {
        let took = span.end_time.duration_since(span.start_time).unwrap_or_default();
        let milliseconds = took.as_secs_f64() * 1e3;
        println!("{margin}{}  {milliseconds:.3} ms{}", span.name, listed(&span.attributes));
        if let Status::Error { description } = &span.status {
            println!("{margin}  ! {description}");
        }
        for event in span.events.iter() {
            println!("{margin}  * {}{}", event.name, listed(&event.attributes));
        }
        print_below(span.span_context.span_id(), spans, depth + 1);
    }
}

/// `  [name = value, name = value]`
fn listed(attributes: &[KeyValue]) -> String {
    let attribute = |one: &KeyValue| match &one.value {
        Value::String(text) => format!("{} = {text:?}", one.key, text = text.as_str()),
        other => format!("{} = {other}", one.key),
    };
    let attributes: Vec<String> = attributes.iter().map(attribute).collect();
    if attributes.is_empty() { String::new() } else { format!("  [{}]", attributes.join(", ")) }
}
