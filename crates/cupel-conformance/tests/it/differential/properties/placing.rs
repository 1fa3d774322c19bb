//! Promises about the order.

use cupel::{Candidate, ContextItem, ScoredItem};
use cupel_conformance::library;
use cupel_conformance::protocol::Placer;

use crate::differential::case::{Case, Library};
use crate::differential::compare::same;
use crate::differential::sweep::sweep;

/// Placer contract: a placer returns the items that it was given, each once, in any order; both of
/// its methods agree on that order.
#[test]
fn placers_permute() {
    sweep(10, Case::plain, |case| {
        let library = case.library();
        [Placer::Chronological, Placer::UShaped].into_iter().try_for_each(|placer| {
            let scored = scored(&library);
            let mut sorted = arranged(placer, &scored)?;
            let placed = library::placer(placer).place(&scored);
            library.same_items("the order", &sorted, &placed)?;
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
        let order = arranged(Placer::Chronological, &scored(&library))?;
        let again: Vec<ScoredItem> =
            order.iter().map(|at| with_hint(&library.items[*at])).collect();
        let twice = arranged(Placer::Chronological, &again)?;
        same("the order of what is placed", &(0..order.len()).collect(), &twice)
    });
}

fn arranged(placer: Placer, scored: &[ScoredItem]) -> Result<Vec<usize>, String> {
    let candidates: Vec<Candidate<'_>> = scored.iter().map(Candidate::from).collect();
    library::placer(placer).arrange(&candidates).map_err(|error| error.to_string())
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
        let included = report.included.iter().filter_map(|included| included.position);
        library.same_items("the window", &included.collect::<Vec<_>>(), &window)
    });
}
