//! Promises about the search for the smallest budget.

use cupel::ContextBudget;

use crate::differential::case::{Case, Library};
use crate::differential::compare::{Verdict, ensure};
use crate::differential::sweep::sweep;

/// Budget simulation: the search ends with a run that confirms that the item is included, so a run
/// with the reported budget includes it too.
#[test]
fn a_reported_minimum_budget_does_include_the_item() {
    sweep(20, Case::small, |case| {
        let library = case.library();
        (0..library.items.len()).try_for_each(|index| check(&library, index))
    });
}

fn check(library: &Library, index: usize) -> Verdict {
    let (items, target) = (&library.items, &library.items[index]);
    let ceiling = i32::try_from(target.tokens().saturating_add(3_000)).unwrap_or(i32::MAX);
    let search = library.pipeline.find_min_budget_for(items, &library.budget, target, ceiling);
    let Ok(Some(smallest)) = search else { return Ok(()) };
    ensure(includes(library, index, smallest), || {
        format!("a budget of {smallest} does not include item {index}")
    })?;
    let is_in_range = i64::from(smallest) >= target.tokens() && smallest <= ceiling;
    ensure(is_in_range, || format!("{smallest} is outside the range that was searched"))
}

fn includes(library: &Library, index: usize, tokens: i32) -> bool {
    let budget = ContextBudget::builder(i64::from(tokens)).build();
    let budget = budget.expect("tokens are not negative");
    let window = library.pipeline.window(&library.items, &budget);
    window.is_ok_and(|window| window.iter().any(|placed| placed.position == index))
}
