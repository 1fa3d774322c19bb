//! Measures of selections, worked out by hand.

use cupel_eval::{Case, Fault, Measures, measure};
use serde_json::json;

use crate::{data, pool};

/// Asks for items 1 and 3 (10 and 30 tokens), below item 5.
fn with_case<T>(weigh: &str, ask: impl Fn(Case<'_>) -> T) -> T {
    let data = data(&[pool(&json!([{
        "id": "q", "query": "?", "evidence": [1, 3], "before": 5, "weigh": weigh,
        "any_of": [[1, 2], [3], [4]],
    }]))]);
    ask(data.cases().next().unwrap())
}

fn by_items(selected: &[usize]) -> Measures {
    with_case("items", |case| measure(case, 80, Some(selected)))
}

fn fault(selected: &[usize]) -> Option<Fault> {
    by_items(selected).fault
}

#[test]
fn recall_is_the_share_of_items_or_of_tokens() {
    assert_eq!(by_items(&[3, 2]).recall, 0.5);
    assert_eq!(with_case("tokens", |case| measure(case, 80, Some(&[3]))).recall, 0.75);
    assert_eq!(by_items(&[2]).recall, 0.0);
}

#[test]
fn full_needs_all_evidence() {
    assert_eq!((by_items(&[3, 1]).full, by_items(&[3]).full), (1.0, 0.0));
}

#[test]
fn coverage_needs_one_item_of_each_group() {
    assert_eq!(by_items(&[2]).coverage, Some(1.0 / 3.0));
    assert_eq!(by_items(&[1, 2, 4]).coverage, Some(2.0 / 3.0));
    assert_eq!(by_items(&[]).coverage, Some(0.0));
}

#[test]
fn queries_without_groups_have_no_coverage() {
    let data = data(&[pool(&json!([{"id": "q", "query": "?", "evidence": [1]}]))]);
    let case = data.cases().next().unwrap();
    assert_eq!(measure(case, 80, Some(&[1])).coverage, None);
    assert_eq!(measure(case, 80, None).coverage, None);
}

#[test]
fn what_does_not_count_is_0_and_says_why() {
    assert_eq!(fault(&[1, 3, 4]), None); // 80 tokens exactly
    assert_eq!(fault(&[1, 2, 3, 4]), Some(Fault::OverBudget));
    assert_eq!(fault(&[5]), Some(Fault::NotACandidate));
    assert_eq!(fault(&[usize::MAX]), Some(Fault::NotACandidate));
    let missing = with_case("items", |case| measure(case, 80, None));
    assert_eq!(missing.fault, Some(Fault::Missing));
    assert_eq!((missing.recall, missing.coverage, missing.used), (0.0, Some(0.0), 0.0));
}

#[test]
fn an_index_that_is_there_twice_costs_twice_and_counts_once() {
    let twice = by_items(&[3, 3]);
    assert_eq!((twice.recall, twice.used), (0.5, 0.75));
    assert_eq!(fault(&[3, 3, 3]), Some(Fault::OverBudget));
}

#[test]
fn pinned_items_cost_nothing() {
    let pinned = by_items(&[0, 1]);
    assert_eq!((pinned.fault, pinned.used), (None, 0.125));
}
