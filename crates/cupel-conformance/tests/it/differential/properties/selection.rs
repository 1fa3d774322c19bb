//! Promises about what is selected.

use cupel::{ContextBudget, ContextItem, InclusionReason, ScoredItem, Slicer};
use cupel_conformance::library;
use cupel_conformance::oracle::order::descending;
use cupel_conformance::oracle::pipeline::effective_budget;
use cupel_conformance::protocol::{self, OverflowStrategy};

use crate::differential::case::{self, Case, Library};
use crate::differential::compare::{Verdict, ensure, same};
use crate::differential::sweep::sweep;

/// Slicer contract: the tokens of what a slicer returns do not exceed the target. Count quotas make
/// no such promise, since they commit what they require whatever it costs.
#[test]
fn greedy_knapsack_and_quota_stay_within_the_target() {
    sweep(5, Case::plain, |case| {
        let slicer = &case.problem.policy.slicer;
        if !keeps_to_the_target(slicer) || has_rounded_shares(case) {
            return Ok(());
        }
        let (sorted, budget) = (candidates(case), case.library().budget);
        let Ok(selected) = built(slicer).slice(&sorted, &budget) else { return Ok(()) };
        let tokens: i128 = selected.iter().map(|item| i128::from(item.tokens())).sum();
        ensure(tokens <= i128::from(budget.target_tokens()), || {
            format!("{tokens} tokens were selected, {} is the target", budget.target_tokens())
        })
    });
}

/// Effective budget: reserve, pinned items, reserved slots and safety margin are taken off before
/// the slicer fills the rest, so that the competing items keep to what is left.
#[test]
fn competing_items_stay_within_the_effective_target() {
    sweep(5, Case::plain, |case| {
        if !keeps_to_the_target(&case.problem.policy.slicer) || has_rounded_shares(case) {
            return Ok(());
        }
        let library = case.library();
        let Ok(window) = library.pipeline.run(&library.items, &library.budget) else {
            return Ok(());
        };
        let sum = |pinned: bool| -> i128 {
            let items = window.iter().filter(|item| item.pinned() == pinned);
            items.map(|item| i128::from(item.tokens())).sum()
        };
        let target = effective_budget(&case.problem.budget, sum(true)).target_tokens;
        ensure(sum(false) <= i128::from(target), || {
            format!("{} tokens compete for a target of {target}", sum(false))
        })
    });
}

/// Slicer contract: a slicer returns some of the items that it was given, none twice.
#[test]
fn slicers_return_a_subset() {
    sweep(5, Case::plain, |case| {
        let (sorted, budget) = (candidates(case), case.library().budget);
        let slicer = built(&case.problem.policy.slicer);
        let Ok(selected) = slicer.slice(&sorted, &budget) else { return Ok(()) };
        selected.iter().enumerate().try_for_each(|(at, item)| {
            let is_same = |other: &ContextItem| other.is_same_item(item);
            let is_given = sorted.iter().any(|scored| is_same(&scored.item));
            ensure(is_given, || format!("{item:?} was not a candidate"))?;
            let is_new = !selected[..at].iter().any(is_same);
            ensure(is_new, || format!("{item:?} was selected twice"))
        })
    });
}

/// Slicer contract: an empty list, or a target of zero, gives an empty selection.
#[test]
fn slicers_select_nothing_from_nothing_and_for_nothing() {
    sweep(20, Case::plain, |case| {
        let slicer = built(&case.problem.policy.slicer);
        let (sorted, budget) = (candidates(case), case.library().budget);
        let nothing = ContextBudget::builder(0).build().expect("a budget may be 0");
        let selections = [slicer.slice(&[], &budget), slicer.slice(&sorted, &nothing)];
        selections.iter().try_for_each(|selected| {
            let is_empty = selected.as_ref().is_ok_and(Vec::is_empty);
            ensure(is_empty, || format!("{selected:?} was selected"))
        })
    });
}

/// Classify and Place: pinned items pass by scoring and slicing into the window and are never cut,
/// unless their token count is negative; where they do not fit, the run fails.
#[test]
fn pinned_items_are_in_the_window_or_the_run_fails() {
    sweep(5, Case::plain, |case| {
        let library = case.library();
        let Ok(report) = library.pipeline.dry_run(&library.items, &library.budget) else {
            return Ok(());
        };
        let pinned = report.included.iter().filter(|i| i.reason == InclusionReason::Pinned);
        let mut actual: Vec<Option<usize>> = pinned.map(|included| included.position).collect();
        actual.sort_unstable();
        let items = library.items.iter().enumerate();
        let pinned = items.filter(|(_, item)| item.pinned() && item.tokens() >= 0);
        let expected: Vec<Option<usize>> = pinned.map(|(position, _)| Some(position)).collect();
        same("the list of pinned items", &expected, &actual)?;
        require_that_pinned_items_fit(&library)
    });
}

/// Overflow handling: only the strategy that proceeds lets anything but pinned items take the
/// window over the target.
#[test]
fn only_pins_and_proceed_take_the_window_over_the_target() {
    sweep(5, Case::plain, |case| {
        let library = case.library();
        let Ok(window) = library.pipeline.run(&library.items, &library.budget) else {
            return Ok(());
        };
        let tokens: i128 = window.iter().map(|item| i128::from(item.tokens())).sum();
        let fits = tokens <= i128::from(library.budget.target_tokens());
        let only_pins = window.iter().all(|item| item.pinned() || item.tokens() == 0);
        let strategy = case.problem.policy.overflow_strategy;
        let proceeds = strategy == Some(OverflowStrategy::Proceed);
        ensure(fits || only_pins || proceeds, || format!("{tokens} tokens are in the window"))
    });
}

fn require_that_pinned_items_fit(library: &Library) -> Verdict {
    let pinned = library.items.iter().filter(|item| item.pinned() && item.tokens() >= 0);
    let tokens: i128 = pinned.map(|item| i128::from(item.tokens())).sum();
    let budget = &library.budget;
    let available = i128::from(budget.max_tokens()) - i128::from(budget.output_reserve());
    ensure(tokens <= available, || format!("{tokens} pinned tokens passed, {available} may"))
}

fn built(slicer: &protocol::Slicer) -> Box<dyn Slicer> {
    library::slicer(slicer).expect("problems are valid")
}

fn keeps_to_the_target(slicer: &protocol::Slicer) -> bool {
    use protocol::Slicer::{CountConstrainedKnapsack, CountQuota, Greedy, Knapsack, Quota};
    match slicer {
        Greedy | Knapsack { .. } => true,
        Quota { inner, .. } => keeps_to_the_target(inner),
        CountQuota { .. } | CountConstrainedKnapsack { .. } => false,
    }
}

/// Percentages are 64-bit floats, which cannot tell neighbouring targets of that size apart: a
/// share may then come out a little larger than it is.
fn has_rounded_shares(case: &Case) -> bool {
    let is_quota = matches!(case.problem.policy.slicer, protocol::Slicer::Quota { .. });
    is_quota && case.problem.budget.target_tokens > 1 << 50
}

/// The items that may compete, scored by their hints, best first.
fn candidates(case: &Case) -> Vec<ScoredItem> {
    let items = case.problem.items.iter().filter(|item| item.tokens >= 0);
    let mut scored: Vec<ScoredItem> = items
        .map(|item| ScoredItem {
            item: case::item(item),
            score: item.future_relevance_hint.unwrap_or(0.0),
        })
        .collect();
    scored.sort_by(|a, b| descending(a.score, b.score));
    scored
}
