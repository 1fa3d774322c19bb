//! Selections at other budgets.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cupel::*;

use crate::support::*;

fn three() -> Vec<ContextItem> {
    vec![item("a", 40, 0.9), item("b", 40, 0.6), item("c", 40, 0.3)]
}

#[test]
fn marginal_items_are_those_that_the_slack_buys_in_placed_order() {
    let marginal = |slack| greedy().get_marginal_items(&three(), &budget(120), slack).unwrap();
    assert!(marginal(0).is_empty());
    assert_eq!(contents(&marginal(1)), ["c"]);
    assert_eq!(contents(&marginal(41)), ["b", "c"]);
    assert_eq!(contents(&marginal(i32::MAX)), ["a", "b", "c"]);
}

#[test]
fn marginal_items_are_told_apart_by_position_not_by_text() {
    let items = [item("same", 40, 0.9), item("same", 40, 0.3)];
    let marginal = greedy_with_duplicates().get_marginal_items(&items, &budget(80), 10).unwrap();
    assert_eq!(marginal.len(), 1);
    assert!(marginal[0].is_same_item(&items[1]));
}

#[test]
fn the_rest_of_the_budget_stays_as_it_is() {
    let budget = ContextBudget::builder(200)
        .target_tokens(140)
        .output_reserve(40)
        .reserve(kind("x"), 20)
        .build()
        .unwrap();
    // 120 are left for all three; with 10 less only two fit.
    let marginal = greedy().get_marginal_items(&three(), &budget, 10).unwrap();
    assert_eq!(contents(&marginal), ["c"]);
}

#[test]
fn a_reserve_beyond_the_reduced_maximum_is_lowered_with_it() {
    let budget = ContextBudget::builder(100).target_tokens(40).output_reserve(60).build().unwrap();
    let marginal = greedy().get_marginal_items(&three(), &budget, 70).unwrap();
    assert_eq!(contents(&marginal), ["a"]);
}

#[test]
fn negative_slack_is_an_error() {
    let result = greedy().get_marginal_items(&three(), &budget(100), -1);
    let text = "slack_tokens `-1` must not be negative";
    assert_eq!(result, Err(CupelError::InvalidBudget(text.into())));
}

#[test]
fn an_error_of_the_reduced_run_is_returned() {
    let result = greedy().get_marginal_items(&[pinned("p", 50)], &budget(60), 20);
    let error = CupelError::PinnedExceedsBudget { pinned_tokens: 50, available: 40 };
    assert_eq!(result, Err(error));
}

#[test]
fn marginal_items_refuse_a_quota_wherever_it_hides() {
    let text = "GetMarginalItems requires monotonic item inclusion. QuotaSlice produces \
                non-monotonic inclusion as budget changes shift percentage allocations.";
    let quota = || QuotaSlice::new(vec![], Box::new(GreedySlice)).unwrap();
    let hidden =
        CountQuotaSlice::new(vec![], Box::new(quota()), ScarcityBehavior::Degrade).unwrap();
    for slicer in [Box::new(quota()) as Box<dyn Slicer>, Box::new(hidden)] {
        let pipeline = pipeline_with(slicer, OverflowStrategy::Throw);
        let result = pipeline.get_marginal_items(&three(), &budget(100), 10);
        assert_eq!(result, Err(CupelError::PipelineConfig(text.into())));
    }
}

#[test]
fn marginal_items_accept_count_quotas() {
    let pipeline = pipeline_with(counting(0, 9), OverflowStrategy::Throw);
    let marginal = pipeline.get_marginal_items(&three(), &budget(120), 10).unwrap();
    assert_eq!(contents(&marginal), ["c"]);
}

fn min_budget(
    pipeline: &Pipeline,
    items: &[ContextItem],
    target: usize,
    ceiling: i32,
) -> Option<i32> {
    pipeline.find_min_budget_for(items, &budget(1), &items[target], ceiling).unwrap()
}

#[test]
fn the_smallest_budget_includes_the_item_and_one_token_less_does_not() {
    let items = three();
    for (target, expected) in [(0, 40), (1, 80), (2, 120)] {
        assert_eq!(min_budget(&greedy(), &items, target, 1_000), Some(expected));
    }
}

#[test]
fn the_low_end_is_tried_first() {
    assert_eq!(min_budget(&greedy(), &three(), 0, i32::MAX), Some(40));
    assert_eq!(min_budget(&greedy(), &three(), 0, 40), Some(40));
    assert_eq!(min_budget(&greedy(), &three(), 0, 41), Some(40));
}

#[test]
fn an_item_beyond_the_ceiling_is_not_found() {
    assert_eq!(min_budget(&greedy(), &three(), 2, 119), None);
    assert_eq!(min_budget(&greedy(), &three(), 2, 120), Some(120));
}

#[test]
fn pins_are_part_of_every_tried_budget_and_never_an_error() {
    let items = [pinned("p", 500), item("a", 40, 0.9)];
    assert_eq!(min_budget(&greedy(), &items, 1, 1_000), Some(540));
    assert_eq!(min_budget(&greedy(), &items, 1, 539), None);
    assert_eq!(min_budget(&greedy(), &items, 0, 1_000), Some(500));
}

#[test]
fn pins_beyond_all_budgets_include_nothing() {
    let items = [pinned("p", i64::MAX), pinned("q", i64::MAX), item("a", 1, 0.9)];
    assert_eq!(min_budget(&greedy(), &items, 2, i32::MAX), None);
}

#[test]
fn a_duplicate_that_loses_is_never_included() {
    let items = [item("same", 10, 0.9), item("same", 10, 0.1)];
    assert_eq!(min_budget(&greedy(), &items, 1, 1_000), None);
    assert_eq!(min_budget(&greedy_with_duplicates(), &items, 1, 1_000), Some(20));
}

#[test]
fn a_target_with_negative_tokens_gives_none() {
    let items = [item("neg", -5, 0.9)];
    assert_eq!(min_budget(&greedy(), &items, 0, 100), None);
}

#[test]
fn a_zero_token_target_needs_a_budget_of_one() {
    let items = [item("zero", 0, 0.9)];
    assert_eq!(min_budget(&greedy(), &items, 0, 100), Some(1));
    assert_eq!(min_budget(&greedy(), &[pinned("zero", 0)], 0, 100), Some(0));
}

#[test]
fn a_clone_finds_its_item_and_a_stranger_is_an_error() {
    let items = three();
    let find =
        |target: &ContextItem| greedy().find_min_budget_for(&items, &budget(1), target, 1_000);
    assert_eq!(find(&items[1].clone()), Ok(Some(80)));
    let text = "targetItem must be an element of items";
    assert_eq!(find(&item("b", 40, 0.6)), Err(CupelError::InvalidBudget(text.into())));
}

#[test]
fn a_ceiling_below_the_item_is_an_error() {
    let items = three();
    let result = greedy().find_min_budget_for(&items, &budget(1), &items[0], 39);
    let text = "searchCeiling must be >= targetItem.Tokens";
    assert_eq!(result, Err(CupelError::InvalidBudget(text.into())));
}

#[test]
fn the_search_refuses_quotas_and_counts() {
    let text = "FindMinBudgetFor requires monotonic item inclusion. QuotaSlice and \
                CountQuotaSlice produce non-monotonic inclusion as budget changes shift \
                allocations. Use a GreedySlice or KnapsackSlice inner slicer for budget \
                simulation.";
    let knapsack = KnapsackSlice::with_default_bucket_size();
    let slicers: [Box<dyn Slicer>; 3] = [
        Box::new(QuotaSlice::new(vec![], Box::new(GreedySlice)).unwrap()),
        Box::new(counting(0, 1)),
        Box::new(
            CountConstrainedKnapsackSlice::new(vec![], knapsack, ScarcityBehavior::Degrade)
                .unwrap(),
        ),
    ];
    let items = three();
    for slicer in slicers {
        let pipeline = pipeline_with(slicer, OverflowStrategy::Throw);
        let result = pipeline.find_min_budget_for(&items, &budget(1), &items[0], 100);
        assert_eq!(result, Err(CupelError::PipelineConfig(text.into())));
    }
}

#[test]
fn a_table_that_is_too_large_is_an_error_not_an_answer() {
    let items: Vec<_> = (0..100).map(|i| item(&format!("{i}"), 1, 0.5)).collect();
    let pipeline = pipeline_with(KnapsackSlice::new(1).unwrap(), OverflowStrategy::Throw);
    let result = pipeline.find_min_budget_for(&items, &budget(1), &items[99], i32::MAX);
    assert!(matches!(result, Err(CupelError::TableTooLarge { .. })));
}

#[test]
fn where_more_budget_can_push_an_item_out_the_answer_still_includes_it() {
    // "dense" needs 50 and then comes first; "small" fits alone from 30 on, and both from 80.
    let items = [item("dense", 50, 1.0), item("small", 30, 0.1)];
    let found = min_budget(&greedy(), &items, 1, 1_000).unwrap();
    let window = greedy().run(&items, &budget(i64::from(found))).unwrap();
    assert!(contents(&window).contains(&"small"));
    assert_eq!(found, 30);
}

#[test]
fn simulation_scores_once_however_many_budgets_it_tries() {
    struct Counting(Arc<AtomicUsize>);
    impl Scorer for Counting {
        fn score(&self, item: &ContextItem, _: &[ContextItem]) -> f64 {
            self.0.fetch_add(1, Ordering::Relaxed);
            item.future_relevance_hint().unwrap()
        }
    }
    let calls = Arc::new(AtomicUsize::new(0));
    let pipeline = Pipeline::builder()
        .scorer(Counting(calls.clone()))
        .slicer(GreedySlice)
        .placer(ChronologicalPlacer)
        .build()
        .unwrap();
    let items = three();
    pipeline.find_min_budget_for(&items, &budget(1), &items[2], 1_000_000).unwrap();
    assert_eq!(calls.swap(0, Ordering::Relaxed), items.len());
    pipeline.get_marginal_items(&items, &budget(120), 50).unwrap();
    assert_eq!(calls.load(Ordering::Relaxed), items.len());
}

#[test]
fn a_dry_run_with_a_policy_uses_nothing_of_the_pipeline() {
    let items = three();
    let policy = PolicyBuilder::new()
        .scorer(RawHint)
        .slicer(KnapsackSlice::new(1).unwrap())
        .placer(AsMerged)
        .build()
        .unwrap();
    let quota = QuotaSlice::new(vec![], Box::new(GreedySlice)).unwrap();
    let other = pipeline_with(quota, OverflowStrategy::Proceed);
    let report = other.dry_run_with_policy(&items, &budget(80), &policy).unwrap();
    assert_eq!(included(&report), ["a", "b"]);
}

#[test]
fn a_ranking_gives_the_window_of_every_budget_as_a_run_does() {
    let mut items: Vec<ContextItem> = (0..30)
        .map(|i: u32| item(&format!("{}", i % 25), 3 + i64::from(i * 7 % 11), f64::from(i * 5 % 9)))
        .collect();
    items.push(ContextItemBuilder::new("pin", 9).pinned(true).build().unwrap());
    let pipeline = Pipeline::builder()
        .scorer(ReflexiveScorer)
        .slicer(GreedySlice)
        .placer(ChronologicalPlacer)
        .build()
        .unwrap();
    let ranking = pipeline.rank(&items).unwrap();
    for tokens in 0..300 {
        let budget = budget(tokens);
        match (ranking.window(&budget), pipeline.run(&items, &budget)) {
            (Ok(placed), Ok(window)) => {
                let same = |(p, item): (&PlacedItem, _)| items[p.position].is_same_item(item);
                assert_eq!(placed.len(), window.len());
                assert!(placed.iter().zip(&window).all(same));
            }
            (Err(a), Err(b)) => assert_eq!(a, b),
            (a, b) => panic!("{tokens}: {a:?} {b:?}"),
        }
    }
    assert_eq!(ranking.min_budget_for(30, 100), Ok(Some(9)));
    assert_eq!(ranking.min_budget_for(31, 100), Ok(None));
    assert_eq!(ranking.min_budget_for(30, 8), Ok(None));
}
