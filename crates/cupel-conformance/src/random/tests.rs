//! The generator's promises, and the oracle's invariants over what it generates.

use std::collections::BTreeSet;

use super::*;
use crate::oracle::run;
use crate::protocol::{ErrorAnswer, OverflowStrategy, Report, Slicer};

const SEEDS: std::ops::Range<u64> = 0..1500;

fn all_problems() -> impl Iterator<Item = Problem> {
    SEEDS.map(problem).chain(SEEDS.map(problem_with_raw_scores))
}

fn solve(problem: &Problem) -> Result<Report, ErrorAnswer> {
    run(&problem.items, &problem.budget, &problem.policy)
}

/// The name of a variant, from its debug form.
fn name(value: &impl fmt::Debug) -> String {
    format!("{value:?}").chars().take_while(|letter| letter.is_alphanumeric()).collect()
}

#[test]
fn a_seed_always_gives_the_same_problem() {
    for seed in 0..100 {
        assert_eq!(format!("{:?}", problem(seed)), format!("{:?}", problem(seed)));
    }
}

#[test]
fn long_problems_are_long_and_some_very_long() {
    let counts: Vec<usize> = (0..200).map(|seed| long_problem(seed).items.len()).collect();
    assert!(counts.iter().all(|count| *count >= 64));
    assert!(counts.iter().any(|count| *count > 2048));
}

#[test]
fn every_budget_is_valid() {
    for Problem { budget, .. } in all_problems() {
        assert!(0 <= budget.target_tokens && budget.target_tokens <= budget.max_tokens);
        assert!(0 <= budget.output_reserve() && budget.output_reserve() <= budget.max_tokens);
        assert!(budget.reserved_slots.values().all(|tokens| *tokens >= 0));
    }
}

#[test]
fn a_count_quota_never_holds_a_knapsack() {
    fn legal(slicer: &Slicer, knapsack: bool) -> bool {
        match slicer {
            Slicer::Greedy => true,
            Slicer::Knapsack { .. } | Slicer::CountConstrainedKnapsack { .. } => knapsack,
            Slicer::Quota { inner, .. } => legal(inner, knapsack),
            Slicer::CountQuota { inner, .. } => legal(inner, false),
        }
    }
    assert!(all_problems().all(|problem| legal(&problem.policy.slicer, true)));
}

#[test]
fn every_strategy_and_every_outcome_occurs() {
    let mut seen = BTreeSet::new();
    for problem in all_problems() {
        seen.insert(name(&problem.policy.scorer));
        seen.insert(name(&problem.policy.slicer));
        seen.insert(name(&problem.policy.placer));
        match solve(&problem) {
            Err(error) => {
                seen.insert(error.code);
            }
            Ok(report) => {
                let decisions = report.included().iter().chain(report.excluded());
                seen.extend(decisions.map(|decision| decision.reason.reason.clone()));
                seen.extend(report.count_requirement_shortfalls.iter().flatten().map(name));
                seen.extend(report.overflow.iter().map(name));
            }
        }
    }
    let expected = [
        "Recency Priority Kind Tag Frequency Reflexive Composite Scaled MetadataTrust MetadataKey",
        "Decay RawHint Greedy Knapsack Quota CountQuota CountConstrainedKnapsack",
        "Chronological UShaped pinned_exceeds_budget overflow slicer_config table_too_large",
        "Scored Pinned ZeroToken NegativeTokens Deduplicated BudgetExceeded PinnedOverride",
        "CountCapExceeded Shortfall OverflowEvent",
    ];
    for name in expected.iter().flat_map(|line| line.split(' ')) {
        assert!(seen.contains(name), "{name} never occurred");
    }
}

#[test]
fn most_problems_have_a_result() {
    let solved = SEEDS.filter(|&seed| solve(&problem(seed)).is_ok()).count();
    assert!(solved * 10 > SEEDS.count() * 6, "only {solved} have one");
}

#[test]
fn every_candidate_is_reported_exactly_once() {
    for problem in all_problems() {
        let Ok(report) = solve(&problem) else { continue };
        let mut reported = report.output();
        reported.extend(report.excluded().iter().map(|entry| entry.index));
        reported.sort_unstable();
        assert_eq!(reported, (0..problem.items.len()).collect::<Vec<_>>(), "{problem}");
    }
}

#[test]
fn pinned_items_are_always_in_the_output() {
    for problem in all_problems() {
        let Ok(report) = solve(&problem) else { continue };
        for (index, item) in problem.items.iter().enumerate() {
            let pinned = item.is_pinned() && item.tokens >= 0;
            let reported = report.included().iter().find(|entry| entry.index == index);
            assert_eq!(pinned, reported.is_some_and(|entry| entry.reason.reason == "Pinned"));
        }
    }
}

#[test]
fn only_pins_and_proceed_take_the_output_over_the_target() {
    for problem in all_problems() {
        let Ok(report) = solve(&problem) else { continue };
        let output = report.output();
        let window = || output.iter().map(|index| &problem.items[*index]);
        let total: i128 = window().map(|item| i128::from(item.tokens)).sum();
        let pins_only = window().all(|item| item.is_pinned() || item.tokens == 0);
        let proceeds = problem.policy.overflow_strategy == Some(OverflowStrategy::Proceed);
        let allowed = proceeds || pins_only;
        assert!(total <= i128::from(problem.budget.target_tokens) || allowed, "{problem}");
    }
}

#[test]
fn stage_counts_add_up() {
    for problem in all_problems() {
        let Ok(report) = solve(&problem) else { continue };
        let stages = report.stages.iter().flatten();
        let dropped: usize = stages.map(|stage| stage.item_count_in - stage.item_count_out).sum();
        assert_eq!(dropped, report.excluded().len(), "{problem}");
    }
}

#[test]
fn shrinking_finds_the_smallest_failure() {
    let has_large_item = |problem: &Problem| problem.items.iter().any(|item| item.tokens > 50);
    let seed = SEEDS.into_iter().find(|&seed| problem(seed).items.len() > 8).unwrap();
    let mut large = problem(seed);
    large.items[3].tokens = 1000;

    let small = shrink(large, has_large_item);
    assert_eq!(small.items.len(), 1);
    assert_eq!(small.items[0], Item { content: "0".to_owned(), ..Item::new("", 51) });
    assert_eq!(small.budget, Budget::of(0));
    assert_eq!(small.policy.slicer, Slicer::Greedy);
    assert_eq!(small.policy.scorer, Scorer::Reflexive);
}

#[test]
fn shrinking_ends_even_when_everything_fails() {
    for seed in 0..50 {
        let small = shrink(problem(seed), |_| true);
        assert!(small.items.is_empty());
    }
}

#[test]
fn a_problem_prints_one_line_per_item_without_defaults() {
    let mut problem = shrink(problem(1), |_| true);
    problem.items = vec![Item { pinned: Some(true), ..Item::new("text", 3) }, Item::new("b", 0)];
    let text = problem.to_string();
    assert!(text.ends_with("items:\n  [0] \"text\", tokens: 3, pinned\n  [1] \"b\", tokens: 0\n"));
}
