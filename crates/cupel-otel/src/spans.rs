//! Writes spans. All that is told of an item is its kind, its tokens and its score.

use std::time::SystemTime;

use cupel::{ContextBudget, PipelineStage};
use opentelemetry::global::BoxedSpan;
use opentelemetry::trace::{Span as _, SpanBuilder, SpanRef, Status, Tracer as _};
use opentelemetry::{Context, KeyValue};

use crate::reason::error_description;
use crate::run::{Exclusion, FinishedStage, Inclusion, Outcome, Run, Setup};
use crate::{CupelVerbosity, names};

pub(crate) fn root(
    setup: &Setup,
    budget: &ContextBudget,
    start_time: SystemTime,
    parent: &Context,
) -> BoxedSpan {
    let attributes = vec![
        KeyValue::new(names::BUDGET_MAX_TOKENS, budget.max_tokens()),
        KeyValue::new(names::VERBOSITY, setup.verbosity.name()),
    ];
    let builder = SpanBuilder::from_name(names::PIPELINE)
        .with_start_time(start_time)
        .with_attributes(attributes);
    setup.tracer.build_with_context(builder, parent)
}

pub(crate) fn end_root(root: &SpanRef<'_>, outcome: Outcome<'_>, end_time: SystemTime) {
    match outcome {
        Outcome::Completed => {}
        Outcome::Failed(error) => root.set_status(Status::error(error_description(error))),
        Outcome::Unfinished => root.set_status(Status::error("the run did not finish")),
    }
    root.end_with_timestamp(end_time);
}

/// The span of a stage, with its events. They bear the time at which the stage ended: that is
/// when the fate of its items was known.
pub(crate) fn stage(run: &Run, stage: &FinishedStage) {
    let Some(name) = names::stage_span(stage.stage) else { return };
    let tells_exclusions = run.shows(CupelVerbosity::StageAndExclusions);
    let end_time = run.end_of(stage);

    let mut attributes = Vec::with_capacity(4);
    attributes.push(KeyValue::new(names::STAGE_NAME, names::stage_name(name)));
    attributes.push(KeyValue::new(names::STAGE_ITEM_COUNT_IN, count(stage.item_count_in)));
    attributes.push(KeyValue::new(names::STAGE_ITEM_COUNT_OUT, count(stage.item_count_out)));
    if tells_exclusions && stage.excluded_count > 0 {
        attributes.push(KeyValue::new(names::EXCLUSION_COUNT, count(stage.excluded_count)));
    }
    let builder = SpanBuilder::from_name(name)
        .with_start_time(run.start_of(stage))
        .with_attributes(attributes);

    let mut span = run.tracer().build_with_context(builder, run.context());
    if span.is_recording() {
        for exclusion in &stage.exclusions {
            span.add_event_with_timestamp(names::EXCLUSION, end_time, excluded(exclusion));
        }
        if stage.stage == PipelineStage::Place {
            for inclusion in run.inclusions() {
                span.add_event_with_timestamp(names::ITEM_INCLUDED, end_time, included(inclusion));
            }
        }
    }
    if let Some(error) = &stage.error {
        span.set_status(Status::error(error.clone()));
    }
    span.end_with_timestamp(end_time);
}

fn excluded(exclusion: &Exclusion) -> Vec<KeyValue> {
    let item = &exclusion.item;
    vec![
        KeyValue::new(names::EXCLUSION_REASON, exclusion.reason),
        KeyValue::new(names::EXCLUSION_ITEM_KIND, item.kind().as_str().to_owned()),
        KeyValue::new(names::EXCLUSION_ITEM_TOKENS, item.tokens()),
    ]
}

fn included(inclusion: &Inclusion) -> Vec<KeyValue> {
    let item = &inclusion.item;
    vec![
        KeyValue::new(names::ITEM_KIND, item.kind().as_str().to_owned()),
        KeyValue::new(names::ITEM_TOKENS, item.tokens()),
        KeyValue::new(names::ITEM_SCORE, inclusion.score),
    ]
}

fn count(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
