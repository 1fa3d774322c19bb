//! A run appears inside the user's own trace.

use cupel_otel::CupelVerbosity::StageOnly;
use opentelemetry::Context;
use opentelemetry::trace::{TraceContextExt as _, Tracer as _, TracerProvider as _};

use crate::seen::{Memory, Run};
use crate::situation;

#[test]
fn the_current_span_is_the_parent_of_the_root() {
    let memory = Memory::new();
    let turn = memory.provider.tracer("agent").start("turn");
    let context = Context::current_with_span(turn);
    {
        let _current = context.clone().attach();
        situation::usual().run(&mut memory.collector(StageOnly)).unwrap();
    }
    context.span().end();

    let spans = memory.spans();
    let turn = spans.iter().find(|span| span.name == "turn").unwrap();
    let run = Run::only(&spans);
    assert_eq!((&run.root.parent, &run.root.trace), (&turn.id, &turn.trace));
    assert_eq!(run.stages.len(), 5);
    assert!(turn.start <= run.root.start && run.root.end <= turn.end);
}

#[test]
fn without_a_current_span_the_run_is_a_trace_of_its_own() {
    let memory = Memory::new();
    let mut collector = memory.collector(StageOnly);
    situation::usual().run(&mut collector).unwrap();
    situation::usual().run(&mut collector).unwrap();
    let runs = Run::all(&memory.spans());
    assert!(runs.iter().all(|run| run.root.parent.is_empty()));
    assert_ne!(runs[0].root.trace, runs[1].root.trace);
}

#[test]
fn the_run_leaves_the_current_context_as_it_was() {
    let memory = Memory::new();
    situation::usual().run(&mut memory.collector(StageOnly)).unwrap();
    assert!(!Context::current().has_active_span());
}
