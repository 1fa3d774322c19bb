//! The six stages, in order. Plain, traced, dry and simulated runs all go through here.
//!
//! Inside a run an item is its position in the caller's list; handles are cloned only to hand out
//! the window.

use super::classify::{Classified, classify, require_pinned_fit};
use super::deduplicate::deduplicate;
use super::place::{Placed, place};
use super::recorder::Recorder;
use super::score::score;
use super::slice::{effective_budget, slice};
use super::sort::{Sorted, sort};
use crate::diagnostics::PipelineStage;
use crate::policy::Policy;
use crate::{ContextBudget, ContextItem, CupelError, TraceCollector};

/// Runs the whole pipeline.
pub(super) fn run<C: TraceCollector + ?Sized>(
    policy: &Policy,
    items: &[ContextItem],
    budget: &ContextBudget,
    collector: &mut C,
) -> Result<Vec<ContextItem>, CupelError> {
    let mut recorder = Recorder::start(collector, items, budget);
    let placed = rank(policy, items, Some(budget), &mut recorder)
        .and_then(|ranked| fill(policy, &ranked, budget, &mut recorder));
    recorder.finish(placed.as_ref().err());
    Ok(placed?.window(items))
}

/// What stages 1 to 4 leave behind: everything that does not depend on the budget, but for the
/// check that pinned items fit.
pub(super) struct Ranked<'a> {
    pub(super) classified: Classified<'a>,
    pub(super) sorted: Sorted<'a>,
}

/// Stages 1 to 4: which items compete, and how well each does. Without a budget nobody asks yet
/// whether the pinned items fit.
pub(super) fn rank<'a, C: TraceCollector + ?Sized>(
    policy: &Policy,
    items: &'a [ContextItem],
    budget: Option<&ContextBudget>,
    recorder: &mut Recorder<'_, C>,
) -> Result<Ranked<'a>, CupelError> {
    let classified = classify(items)?;
    if let Some(budget) = budget {
        require_pinned_fit(classified.pinned_tokens, budget)?;
    }
    recorder.stage(PipelineStage::Classify, items.len()..classified.len(), classified.exclusions());

    let scored = score(&classified, &*policy.scorer);
    recorder.stage(PipelineStage::Score, scored.len()..scored.len(), std::iter::empty());

    let unique = deduplicate(&scored, policy.deduplication);
    recorder.stage(
        PipelineStage::Deduplicate,
        scored.len()..unique.len(),
        unique.exclusions(&scored),
    );

    let sorted = sort(&scored, &unique);
    recorder.sorted();

    Ok(Ranked { classified, sorted })
}

/// Stages 5 and 6: what fits into the budget, and in which order.
pub(super) fn fill<C: TraceCollector + ?Sized>(
    policy: &Policy,
    ranked: &Ranked<'_>,
    budget: &ContextBudget,
    recorder: &mut Recorder<'_, C>,
) -> Result<Placed, CupelError> {
    let Ranked { classified, sorted } = ranked;

    let effective = effective_budget(budget, classified.pinned_tokens);
    let sliced = slice(sorted, &effective, &*policy.slicer)?;
    recorder.shortfalls(&sliced.shortfalls);
    recorder.stage(
        PipelineStage::Slice,
        sorted.len()..sliced.len(),
        sliced.exclusions(sorted, |tokens, available| classified.misfit(tokens, available)),
    );

    let placed = place(classified, sorted, &sliced, budget, policy)?;
    recorder.placed(&placed, classified, budget);

    Ok(placed)
}
