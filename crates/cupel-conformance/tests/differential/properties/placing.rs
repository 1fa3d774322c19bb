//! Promises about the order.

use cupel::{Candidate, ContextItem, ScoredItem};
use cupel_conformance::oracle::Placer;

use crate::adapter;
use crate::case::{Case, Library};
use crate::compare::{Verdict, same};
use crate::sweep::sweep;

/// Placer contract: a placer returns the items that it was given, each once, in any order; both of
/// its methods agree on that order.
#[test]
fn placers_permute() {
    sweep(10, Case::plain, |case| {
        let library = case.library();
        [Placer::Chronological, Placer::UShaped].into_iter().try_for_each(|placer| {
            let scored = scored(&library);
            let placed = adapter::placer(placer).place(&scored);
            let placed = library.positions(&placed);
            same("the order by position", &arranged(placer, &scored)?, &placed)?;
            let mut sorted = placed;
            sorted.sort_unstable();
            same("the list of placed items", &(0..library.items.len()).collect(), &sorted)
        })
    });
}

/// Placer contract: the same items give the same order, and so they do once they are placed,
/// where the placer looks at nothing but time.
#[test]
fn placing_by_time_is_idempotent() {
    sweep(10, Case::plain, |case| {
        let library = case.library();
        let placer = adapter::placer(Placer::Chronological);
        let once = placer.place(&scored(&library));
        let again: Vec<ScoredItem> = once.iter().map(with_hint).collect();
        let twice = placer.place(&again);
        same("the order", &library.positions(&once), &library.positions(&twice))
    });
}

fn arranged(placer: Placer, scored: &[ScoredItem]) -> Result<Vec<usize>, String> {
    let candidates: Vec<Candidate<'_>> = scored.iter().map(Candidate::from).collect();
    adapter::placer(placer).arrange(&candidates).map_err(|error| error.to_string())
}

fn scored(library: &Library) -> Vec<ScoredItem> {
    library.items.iter().map(with_hint).collect()
}

fn with_hint(item: &ContextItem) -> ScoredItem {
    ScoredItem { item: item.clone(), score: item.future_relevance_hint().unwrap_or(0.0) }
}

/// Place: the report lists the included items in the order of the window.
#[test]
fn the_report_lists_the_window_in_order() {
    sweep(10, Case::plain, |case| {
        let library = case.library();
        let window = library.pipeline.run(&library.items, &library.budget);
        let report = library.pipeline.dry_run(&library.items, &library.budget);
        let (Ok(window), Ok(report)) = (window, report) else { return Ok(()) };
        check_order(&library, &window, &report)
    });
}

fn check_order(
    library: &Library,
    window: &[ContextItem],
    report: &cupel::SelectionReport,
) -> Verdict {
    let included = report.included.iter().map(|included| &included.item);
    same("the window", &library.positions(included), &library.positions(window))
}
