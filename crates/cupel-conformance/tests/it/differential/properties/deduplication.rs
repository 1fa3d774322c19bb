//! Promises about equal texts.

use std::collections::BTreeSet;

use cupel::{ContextItem, ExclusionReason, SelectionReport};
use cupel_conformance::protocol::Scorer;

use crate::differential::case::{Case, Library};
use crate::differential::compare::{ensure, same};
use crate::differential::sweep::sweep;

/// Deduplicate: of items with the same bytes one survives, so that without the others nothing is
/// left to drop.
#[test]
fn what_deduplication_leaves_has_no_duplicates() {
    sweep(10, with_deduplication, |case| {
        let library = case.library();
        let Some(report) = report(&library, &library.items) else { return Ok(()) };
        let survivors = survivors(&library, &report);
        let competing = survivors.iter().filter(|item| !item.pinned() && item.tokens() >= 0);
        let texts: Vec<&str> = competing.map(ContextItem::content).collect();
        let different: BTreeSet<&str> = texts.iter().copied().collect();
        same("the number of different texts", &texts.len(), &different.len())?;
        let Some(again) = self::report(&library, &survivors) else { return Ok(()) };
        ensure(!again.excluded.iter().any(|e| is_duplicate(&e.reason)), || {
            "a second pass drops more".to_owned()
        })
    });
}

/// Deduplicate: dropped items have no influence on what follows. Where a score does not depend on
/// other items, the window is the same as if they had never been there.
#[test]
fn dropped_duplicates_leave_no_trace_in_the_window() {
    sweep(10, by_hint, |case| {
        let library = case.library();
        let Some(report) = report(&library, &library.items) else { return Ok(()) };
        let survivors = survivors(&library, &report);
        let window = report.included.iter().filter_map(|included| included.position);
        let Some(again) = self::report(&library, &survivors) else {
            return Err("without the duplicates the run fails".to_owned());
        };
        let again = again.included.iter().map(|included| &included.item);
        library.same_items("the window", &window.collect::<Vec<_>>(), again)
    });
}

fn with_deduplication(seed: u64) -> Case {
    let mut case = Case::plain(seed);
    case.problem.policy.deduplication = Some(true);
    case
}

fn by_hint(seed: u64) -> Case {
    let mut case = with_deduplication(seed);
    case.problem.policy.scorer = Scorer::Reflexive;
    case
}

fn report(library: &Library, items: &[ContextItem]) -> Option<SelectionReport> {
    library.pipeline.dry_run(items, &library.budget).ok()
}

/// All items but those that were dropped as duplicates, in their order.
fn survivors(library: &Library, report: &SelectionReport) -> Vec<ContextItem> {
    let duplicates = report.excluded.iter().filter(|excluded| is_duplicate(&excluded.reason));
    let dropped: Vec<_> = duplicates.map(|excluded| excluded.position).collect();
    let kept = (0..library.items.len()).filter(|position| !dropped.contains(&Some(*position)));
    kept.map(|position| library.items[position].clone()).collect()
}

fn is_duplicate(reason: &ExclusionReason) -> bool {
    matches!(reason, ExclusionReason::Deduplicated { .. })
}
