//! Promises about the report.

use cupel::{ContextItem, SelectionReport};

use crate::differential::case::{self, Case, Library};
use crate::differential::compare::{same, same_fields};
use crate::differential::sweep::sweep;

/// Exclusion and inclusion reasons: every item that the pipeline looks at gets a reason of either
/// sort, and the report's count of candidates is the sum of both lists.
#[test]
fn every_candidate_is_reported_exactly_once() {
    sweep(10, Case::plain, |case| {
        let library = case.library();
        let Some(report) = report(&library) else { return Ok(()) };
        let mut positions: Vec<usize> = reported(&report).map(|(position, _)| position).collect();
        positions.sort_unstable();
        same("the list of reported items", &(0..library.items.len()).collect(), &positions)?;
        same("the number of candidates", &library.items.len(), &report.total_candidates)
    });
}

/// Selection report: the tokens considered are those of all items in both lists together.
#[test]
fn the_tokens_considered_are_those_of_all_reported_items() {
    sweep(10, Case::plain, |case| {
        let Some(report) = report(&case.library()) else { return Ok(()) };
        let sum: i128 = reported(&report).map(|(_, item)| i128::from(item.tokens())).sum();
        let sum = sum.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
        same("the sum of tokens", &sum, &report.total_tokens_considered)
    });
}

/// Pipeline overview: no stage changes an item, so what comes out has the fields that went in,
/// metadata among them.
#[test]
fn no_field_of_an_item_is_changed() {
    sweep(50, Case::plain, |case| {
        let library = case.library();
        let Some(report) = report(&library) else { return Ok(()) };
        reported(&report).try_for_each(|(position, item)| {
            same_fields(&case::item(&case.problem.items[position]), item)
        })
    });
}

fn report(library: &Library) -> Option<SelectionReport> {
    library.pipeline.dry_run(&library.items, &library.budget).ok()
}

fn reported(report: &SelectionReport) -> impl Iterator<Item = (usize, &ContextItem)> {
    let included = report.included.iter().map(|included| (included.position, &included.item));
    let excluded = report.excluded.iter().map(|excluded| (excluded.position, &excluded.item));
    included.chain(excluded).map(|(position, item)| (position.expect("runs know positions"), item))
}
