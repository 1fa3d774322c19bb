//! Budget simulations.

use cupel::{ContextItem, CupelError};
use cupel_conformance::library::error_answer;
use cupel_conformance::oracle;
use cupel_conformance::protocol::{ErrorAnswer, Policy, Slicer};

use super::case::{self, Case, Library};
use super::compare::{Verdict, comparable, same};
use super::sweep::sweep;

#[test]
fn marginal_items_equal_the_oracles() {
    sweep(10, Case::plain, check_marginal_items);
}

#[test]
fn marginal_items_of_shared_handles_equal_the_oracles() {
    sweep(50, Case::with_shared_handles, check_marginal_items);
}

#[test]
fn minimum_budgets_equal_the_oracles() {
    sweep(20, Case::small, check_minimum_budgets);
}

fn check_marginal_items(case: &Case) -> Verdict {
    let library = case.library();
    let target = i32::try_from(case.problem.budget.target_tokens).unwrap_or(i32::MAX);
    for slack in [-1, 0, 1, target / 2, i32::MAX] {
        let expected = marginal_items(case, slack);
        let actual = library.pipeline.get_marginal_items(&library.items, &library.budget, slack);
        let what = format!("the list of marginal items for {slack} tokens");
        match (&expected, &actual) {
            (Ok(expected), Ok(actual)) => library.same_items(&what, expected, actual)?,
            _ => same(&what, &expected.as_ref().err(), &actual.as_ref().err().map(error).as_ref())?,
        }
    }
    Ok(())
}

fn error(error: &CupelError) -> ErrorAnswer {
    comparable(error_answer(error))
}

fn marginal_items(case: &Case, slack: i32) -> Result<Vec<usize>, ErrorAnswer> {
    let problem = &case.problem;
    let slack = i64::from(slack);
    oracle::get_marginal_items(&problem.items, &problem.budget, &problem.policy, slack)
        .map_err(comparable)
}

fn check_minimum_budgets(case: &Case) -> Verdict {
    let library = case.library();
    for index in 0..library.items.len() {
        if let Some(ceiling) = ceiling(case, index) {
            let actual = find(&library, &library.items[index], ceiling);
            let expected = expected(case, index, ceiling);
            let what = format!("the minimum budget for item {index} up to {ceiling}");
            same(&what, &expected, &actual)?;
        }
    }
    check_stranger(case, &library)
}

fn find(library: &Library, target: &ContextItem, ceiling: i32) -> Result<Option<i64>, ErrorAnswer> {
    let (pipeline, items, budget) = (&library.pipeline, &library.items, &library.budget);
    let smallest = pipeline.find_min_budget_for(items, budget, target, ceiling);
    smallest.map(|smallest| smallest.map(i64::from)).map_err(|failure| error(&failure))
}

fn expected(case: &Case, index: usize, ceiling: i32) -> Result<Option<i64>, ErrorAnswer> {
    let (items, policy) = (&case.problem.items, &case.problem.policy);
    oracle::find_min_budget_for(items, policy, index, i64::from(ceiling)).map_err(comparable)
}

/// A ceiling for a target: one end of what makes sense, or one beyond.
///
/// Each target gets one only, since every probe is a whole run of the oracle.
fn ceiling(case: &Case, index: usize) -> Option<i32> {
    let tokens = case.problem.items[index].tokens;
    let total: i128 = case.problem.items.iter().map(|item| i128::from(item.tokens.max(0))).sum();
    let ceiling = match index % 4 {
        0 => i128::from(largest_ceiling(&case.problem.policy)),
        1 => total,
        2 => total - 1,
        _ => i128::from(tokens) - i128::from(index % 8 == 3),
    };
    i32::try_from(ceiling).ok()
}

/// A knapsack's table grows with the budget; a table that is barely allowed takes the oracle long.
fn largest_ceiling(policy: &Policy) -> i32 {
    match policy.slicer {
        Slicer::Knapsack { bucket_size: Some(11..1_000_000) } => 5_000,
        _ => i32::MAX,
    }
}

fn check_stranger(case: &Case, library: &Library) -> Verdict {
    let Some(item) = case.problem.items.first() else { return Ok(()) };
    let stranger = case::item(item);
    let expected = expected(case, case.problem.items.len(), i32::MAX);
    let actual = find(library, &stranger, i32::MAX);
    same("the minimum budget for an item that is not a candidate", &expected, &actual)
}
