//! Simulations and comparisons.

use crate::oracle::{find_min_budget_for, get_marginal_items, policy_sensitivity};
use crate::protocol::{
    Budget, Diff, ErrorAnswer, Item, Placer, Policy, Scorer, Slicer, Status, Variant,
};

fn ranked(content: &str, tokens: i64, priority: i64, hint: f64) -> Item {
    let future_relevance_hint = Some(hint);
    Item { priority: Some(priority), future_relevance_hint, ..Item::new(content, tokens) }
}

fn greedy(scorer: Scorer) -> Policy {
    Policy::new(scorer, Slicer::Greedy, Placer::Chronological)
}

/// The code of the error.
#[track_caller]
fn code<T: std::fmt::Debug>(outcome: Result<T, ErrorAnswer>) -> String {
    outcome.unwrap_err().code
}

fn over_greedy() -> Policy {
    let slicer = Slicer::Quota { quotas: Vec::new(), inner: Box::new(Slicer::Greedy) };
    Policy { slicer, ..greedy(Scorer::Priority) }
}

#[test]
fn items_that_need_the_slack_are_marginal() {
    let items = [ranked("a", 40, 2, 0.9), ranked("b", 40, 1, 0.1)];
    let policy = greedy(Scorer::Reflexive);
    assert_eq!(get_marginal_items(&items, &Budget::of(80), &policy, 1).unwrap(), [1]);
    assert_eq!(get_marginal_items(&items, &Budget::of(80), &policy, 0).unwrap(), [0; 0]);
    assert_eq!(get_marginal_items(&items, &Budget::of(80), &policy, 500).unwrap(), [0, 1]);
}

#[test]
fn the_reserve_shrinks_with_the_maximum() {
    let budget = Budget { target_tokens: 50, output_reserve: Some(90), ..Budget::of(100) };
    let items = [ranked("a", 10, 1, 0.5)];
    let policy = greedy(Scorer::Reflexive);
    assert_eq!(get_marginal_items(&items, &budget, &policy, 50).unwrap(), [0]);
}

#[test]
fn marginal_items_refuse_quotas_and_negative_slack() {
    let budget = Budget::of(10);
    let quota = get_marginal_items(&[], &budget, &over_greedy(), 1);
    let quota = quota.unwrap_err();
    assert_eq!(quota.code, "pipeline_config");
    assert!(quota.message.starts_with("GetMarginalItems"));
    let slack = get_marginal_items(&[], &budget, &greedy(Scorer::Recency), -1);
    assert_eq!(code(slack), "invalid_budget");
}

#[test]
fn marginal_items_look_for_quotas_inside_other_slicers_and_accept_counts() {
    let over = |inner: Slicer| Slicer::CountQuota {
        entries: Vec::new(),
        inner: Box::new(inner),
        scarcity_behavior: None,
    };
    let ask = |slicer| {
        let policy = Policy { slicer, ..over_greedy() };
        get_marginal_items(&[], &Budget::of(10), &policy, 1)
    };
    assert_eq!(code(ask(over(over_greedy().slicer))), "pipeline_config");
    assert_eq!(code(ask(over(over(over_greedy().slicer)))), "pipeline_config");
    assert_eq!(ask(over(Slicer::Greedy)), Ok(Vec::new()));
}

#[test]
fn an_error_of_the_reduced_run_is_returned() {
    let items = [Item { pinned: Some(true), ..Item::new("pin", 10) }];
    let outcome = get_marginal_items(&items, &Budget::of(10), &greedy(Scorer::Recency), 1);
    assert_eq!(code(outcome), "pinned_exceeds_budget");
}

#[test]
fn the_low_end_is_an_answer() {
    let items = [ranked("a", 40, 2, 0.9), ranked("b", 40, 1, 0.1)];
    let policy = greedy(Scorer::Reflexive);
    assert_eq!(find_min_budget_for(&items, &policy, 0, 1000), Ok(Some(40)));
    assert_eq!(find_min_budget_for(&items, &policy, 0, 40), Ok(Some(40)));
}

#[test]
fn a_worse_item_needs_room_for_the_better_ones_too() {
    let items = [ranked("a", 40, 2, 0.9), ranked("b", 40, 1, 0.1)];
    let policy = greedy(Scorer::Reflexive);
    assert_eq!(find_min_budget_for(&items, &policy, 1, 1000), Ok(Some(80)));
    assert_eq!(find_min_budget_for(&items, &policy, 1, 80), Ok(Some(80)));
    assert_eq!(find_min_budget_for(&items, &policy, 1, 79), Ok(None));
}

#[test]
fn probes_too_small_for_the_pins_do_not_include_the_target() {
    let items = [Item { pinned: Some(true), ..Item::new("pin", 50) }, ranked("a", 10, 1, 0.5)];
    assert_eq!(find_min_budget_for(&items, &greedy(Scorer::Reflexive), 1, 500), Ok(Some(60)));
}

#[test]
fn targets_are_checked_before_the_ceiling() {
    let items = [Item::new("negative", -5), Item::new("a", 10)];
    let policy = greedy(Scorer::Reflexive);
    assert_eq!(code(find_min_budget_for(&items, &policy, 2, -10)), "invalid_budget");
    assert_eq!(find_min_budget_for(&items, &policy, 0, -10), Ok(None));
    assert_eq!(code(find_min_budget_for(&items, &policy, 1, 9)), "invalid_budget");
}

#[test]
fn the_search_refuses_quota_and_count_slicers() {
    let count = Slicer::CountConstrainedKnapsack {
        entries: Vec::new(),
        bucket_size: Some(1),
        scarcity_behavior: None,
    };
    for slicer in [over_greedy().slicer, count] {
        let policy = Policy { slicer, ..over_greedy() };
        let outcome = find_min_budget_for(&[Item::new("a", 1)], &policy, 0, 10);
        assert_eq!(code(outcome), "pipeline_config");
    }
}

#[test]
fn other_errors_of_a_probe_are_returned() {
    let items = [ranked("a", 30_000_000, 1, 0.5), ranked("b", 30_000_000, 1, 0.5)];
    let slicer = Slicer::Knapsack { bucket_size: Some(1) };
    let policy = Policy { slicer, ..greedy(Scorer::Reflexive) };
    let outcome = find_min_budget_for(&items, &policy, 0, 40_000_000);
    assert_eq!(code(outcome), "table_too_large");
}

fn variants(policies: [(&str, Policy); 2]) -> [Variant; 2] {
    policies.map(|(label, policy)| Variant { label: label.to_owned(), policy })
}

#[test]
fn items_that_swing_between_policies_are_the_diffs() {
    let items = [ranked("item-a", 40, 10, 0.1), ranked("item-b", 40, 1, 0.9)];
    let budget = Budget { target_tokens: 40, ..Budget::of(50) };
    let variants = variants([
        ("priority", greedy(Scorer::Priority)),
        ("reflexive", greedy(Scorer::Reflexive)),
    ]);
    let diffs = policy_sensitivity(&items, &budget, &variants).unwrap().diffs;
    use Status::{Excluded, Included};
    let entry = |content: &str, statuses: [Status; 2]| Diff {
        content: content.to_owned(),
        statuses: statuses.into(),
    };
    assert_eq!(
        diffs,
        [entry("item-a", [Included, Excluded]), entry("item-b", [Excluded, Included])]
    );
}

#[test]
fn candidates_that_share_a_text_are_one_entry() {
    let items = [ranked("same", 40, 10, 0.1), ranked("same", 40, 1, 0.9)];
    let keeping = |scorer| Policy { deduplication: Some(false), ..greedy(scorer) };
    let variants = variants([
        ("priority", keeping(Scorer::Priority)),
        ("reflexive", keeping(Scorer::Reflexive)),
    ]);
    let answer = policy_sensitivity(&items, &Budget::of(40), &variants).unwrap();
    assert!(answer.diffs.is_empty());
    assert_ne!(answer.variants[0].report.included, answer.variants[1].report.included);
}

#[test]
fn one_variant_is_not_a_comparison() {
    let only = Variant { label: "only".to_owned(), policy: greedy(Scorer::Recency) };
    let text = "policy_sensitivity requires at least 2 variants";
    let outcome = policy_sensitivity(&[], &Budget::of(1), &[only]);
    assert_eq!(outcome, Err(ErrorAnswer::new("pipeline_config", text)));
}
