//! The six stages, in order. Plain, traced, dry and simulated runs all go through here.
//!
//! Inside a run an item is its position in the caller's list; handles are cloned only to hand out
//! the window.

use super::Pipeline;
use super::classify::{Classified, classify};
use super::deduplicate::{Unique, deduplicate};
use super::needs::{Bound, is_needed, require_same_length};
use super::pins::Pins;
use super::place::{Placed, place};
use super::recorder::Recorder;
use super::score::{Scored, score};
use super::slice::{effective_budget, room, slice};
use super::sort::{Sorted, sort};
use crate::diagnostics::PipelineStage;
use crate::slicer::SliceRequest;
use crate::{ContextBudget, ContextItem, CupelError, TraceCollector};

/// Runs the whole pipeline.
pub(super) fn run<C: TraceCollector + ?Sized>(
    pipeline: &Pipeline,
    items: &[ContextItem],
    budget: &ContextBudget,
    collector: &mut C,
) -> Result<Placed, CupelError> {
    let mut recorder = Recorder::start(collector, items, budget);
    let placed = rank(pipeline, items, Some(budget), &mut recorder)
        .and_then(|ranked| fill(pipeline, &ranked, budget, &mut recorder));
    recorder.finish(placed.as_ref().err());
    placed
}

/// Result of stages 1 to 4: everything that does not depend on the budget, but for the
/// check that pinned items fit.
pub(super) struct Ranked<'a> {
    pub(super) scored: Scored<'a>,
    unique: Unique,
    pub(super) sorted: Sorted<'a>,
    /// The needs of items, where they have any.
    pub(super) bound: Option<Bound<'a>>,
}

impl<'a> Ranked<'a> {
    pub(super) fn classified(&self) -> &Classified<'a> {
        &self.scored.classified
    }

    /// Tells again what these stages did, to whoever was not there when they did it.
    pub(super) fn retell<C: TraceCollector + ?Sized>(&self, recorder: &mut Recorder<'_, C>) {
        recorder.classified(self.classified());
        recorder.scored(&self.scored);
        recorder.deduplicated(&self.unique, &self.scored);
        recorder.sorted();
    }
}

/// Stages 1 to 4: which items compete, and how well each does. Without a budget nobody asks yet
/// whether the pinned items fit.
pub(super) fn rank<'a, C: TraceCollector + ?Sized>(
    pipeline: &Pipeline,
    items: &'a [ContextItem],
    budget: Option<&ContextBudget>,
    recorder: &mut Recorder<'_, C>,
) -> Result<Ranked<'a>, CupelError> {
    let (policy, needs) = (&pipeline.policy, pipeline.needs());
    require_same_length(needs, items)?;
    let needs = needs.filter(|needs| !needs.is_empty());
    let classified = classify(items)?;
    if let Some(budget) = budget {
        Pins::fit(&classified, budget)?;
    }
    recorder.classified(&classified);

    let scored = score(classified, &*policy.scorer, &pipeline.context);
    recorder.scored(&scored);

    let needed = needs.filter(|_| policy.deduplication).map(is_needed);
    let unique = deduplicate(&scored, policy.deduplication, needed.as_deref());
    recorder.deduplicated(&unique, &scored);

    let sorted = sort(&scored, &unique);
    recorder.sorted();

    let bound = needs.map(|needs| Bound::new(needs, &scored.classified, &sorted)).transpose()?;
    Ok(Ranked { scored, unique, sorted, bound })
}

/// Stages 5 and 6: what fits into the budget, and in which order.
pub(super) fn fill<C: TraceCollector + ?Sized>(
    pipeline: &Pipeline,
    ranked: &Ranked<'_>,
    budget: &ContextBudget,
    recorder: &mut Recorder<'_, C>,
) -> Result<Placed, CupelError> {
    let (policy, classified, sorted) = (&pipeline.policy, ranked.classified(), &ranked.sorted);

    let pins = Pins::fit(classified, budget)?;
    let effective = effective_budget(budget, pins.tokens);
    let request = SliceRequest::new(&sorted.candidates, &effective)
        .within(classified.items)
        .in_context(&pipeline.context);
    let sliced = slice(&request, &*policy.slicer, ranked.bound.as_ref())?;
    recorder.shortfalls(&sliced.shortfalls);
    let room = room(budget, pins.tokens);
    recorder.stage(
        PipelineStage::Slice,
        sorted.len()..sliced.len(),
        sliced.exclusions(sorted, ranked.bound.as_ref(), |tokens, available| {
            room.misfit(tokens, available, || classified.largest_pinned())
        }),
    );

    let placed = place(classified, &pins, sorted, &sliced, budget, policy, pipeline.needs())?;
    recorder.placed(&placed, classified, budget);

    Ok(placed)
}
