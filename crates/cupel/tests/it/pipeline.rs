//! The six stages, and the budget that they obey.

use std::sync::{Arc, Mutex};

use cupel::*;

use crate::support::*;

// Classify

#[test]
fn no_candidates_give_an_empty_window() {
    assert_eq!(greedy().run(&[], &budget(100)).unwrap(), vec![]);
    assert_eq!(greedy().run(&[], &budget(0)).unwrap(), vec![]);
}

#[test]
fn all_pinned_items_are_the_window_in_input_order() {
    let items = [pinned("b", 40), pinned("a", 30)];
    assert_eq!(contents(&greedy().run(&items, &budget(100)).unwrap()), ["b", "a"]);
}

#[test]
fn negative_tokens_exclude_an_item_even_if_it_is_pinned() {
    let items = [pinned("pinned", -1), item("plain", -5, 0.9), item("ok", 1, 0.1)];
    let report = greedy().dry_run(&items, &budget(100)).unwrap();
    assert_eq!(included(&report), ["ok"]);
    assert_eq!(reason(&report, "pinned"), &ExclusionReason::NegativeTokens { tokens: -1 });
    assert_eq!(reason(&report, "plain"), &ExclusionReason::NegativeTokens { tokens: -5 });
    assert!(report.excluded.iter().all(|excluded| excluded.score == 0.0));
}

#[test]
fn only_invalid_items_give_an_empty_window() {
    assert_eq!(greedy().run(&[item("a", -1, 0.5)], &budget(10)).unwrap(), vec![]);
}

#[test]
fn pinned_items_are_checked_against_max_less_reserve_not_against_the_target() {
    let budget = ContextBudget::builder(100).target_tokens(50).output_reserve(20).build().unwrap();
    let run = |tokens| {
        let pipeline = pipeline_with(GreedySlice, OverflowStrategy::Proceed);
        pipeline.run(&[pinned("p", tokens)], &budget)
    };
    assert_eq!(contents(&run(80).unwrap()), ["p"]);
    let error = CupelError::PinnedExceedsBudget { pinned_tokens: 81, available: 80 };
    assert_eq!(run(81), Err(error));
}

#[test]
fn reserved_slots_do_not_count_in_the_check_of_pinned_items() {
    let budget = ContextBudget::builder(100).reserve(ContextKind::memory(), 90).build().unwrap();
    assert_eq!(contents(&greedy().run(&[pinned("p", 100)], &budget).unwrap()), ["p"]);
}

#[test]
fn an_item_of_zero_tokens_is_valid() {
    assert_eq!(contents(&greedy().run(&[item("z", 0, 0.0)], &budget(1)).unwrap()), ["z"]);
}

// Score

/// Records the lists that it is asked to score.
#[derive(Clone, Default)]
struct Spy(Arc<Mutex<Vec<Vec<String>>>>);

impl Scorer for Spy {
    fn score(&self, _: &ContextItem, _: &[ContextItem]) -> f64 {
        0.5
    }

    fn score_all(&self, items: &ItemList<'_>, scores: &mut [f64]) {
        let list = items.iter().map(|item| item.content().to_owned()).collect();
        self.0.lock().unwrap().push(list);
        scores.fill(0.5);
    }
}

fn with_scorer(scorer: impl Scorer + 'static) -> Pipeline {
    Pipeline::builder().scorer(scorer).slicer(GreedySlice).placer(AsMerged).build().unwrap()
}

#[test]
fn the_scorer_sees_exactly_the_scoreable_items_in_input_order_and_once() {
    let spy = Spy::default();
    let items = [item("a", 1, 0.0), pinned("p", 1), item("n", -1, 0.0), item("b", 1, 0.0)];
    with_scorer(spy.clone()).run(&items, &budget(100)).unwrap();
    assert_eq!(*spy.0.lock().unwrap(), [["a", "b"]]);
}

#[test]
fn the_scorer_is_not_asked_about_an_empty_list() {
    let spy = Spy::default();
    with_scorer(spy.clone()).run(&[pinned("p", 1)], &budget(100)).unwrap();
    assert!(spy.0.lock().unwrap().is_empty());
}

#[test]
fn a_scorer_with_only_the_one_item_method_sees_the_scoreable_list() {
    struct ListLength;
    impl Scorer for ListLength {
        fn score(&self, _: &ContextItem, all_items: &[ContextItem]) -> f64 {
            all_items.len() as f64
        }
    }
    let items = [item("a", 1, 0.0), pinned("p", 1), item("b", 1, 0.0)];
    let report = with_scorer(ListLength).dry_run(&items, &budget(100)).unwrap();
    let scores: Vec<f64> = report.included.iter().map(|included| included.score).collect();
    assert_eq!(scores, [1.0, 2.0, 2.0]);
}

#[test]
fn nan_and_infinite_scores_are_ordered_and_never_fatal() {
    let items = [
        item("nan", 10, f64::NAN),
        item("inf", 10, f64::INFINITY),
        item("one", 10, 1.0),
        item("-inf", 10, f64::NEG_INFINITY),
    ];
    let window = greedy().run(&items, &budget(40)).unwrap();
    assert_eq!(contents(&window), ["inf", "one", "-inf", "nan"]);
    let window = greedy().run(&items, &budget(20)).unwrap();
    assert_eq!(contents(&window), ["inf", "one"]);
}

// Deduplicate

#[test]
fn of_equal_texts_the_best_survives() {
    let items = [item("same", 10, 0.2), item("same", 12, 0.9), item("same", 14, 0.5)];
    let report = greedy().dry_run(&items, &budget(100)).unwrap();
    assert_eq!(report.included[0].item.tokens(), 12);
    let tokens: Vec<i64> = report.excluded.iter().map(|e| e.item.tokens()).collect();
    assert_eq!(tokens, [14, 10]);
    let against = ExclusionReason::Deduplicated { deduplicated_against: "same".into() };
    assert!(report.excluded.iter().all(|excluded| excluded.reason == against));
}

#[test]
fn on_a_tie_the_earlier_copy_survives_zeros_of_both_signs_and_nan_included() {
    for (first, second) in [(0.5, 0.5), (-0.0, 0.0), (f64::NAN, f64::NAN), (0.0, f64::NAN)] {
        let items = [item("same", 1, first), item("same", 2, second)];
        let window = greedy().run(&items, &budget(100)).unwrap();
        assert_eq!(window[0].tokens(), 1, "{first} {second}");
    }
    let items = [item("same", 1, f64::NAN), item("same", 2, f64::NEG_INFINITY)];
    assert_eq!(greedy().run(&items, &budget(100)).unwrap()[0].tokens(), 2);
}

#[test]
fn texts_are_compared_byte_for_byte() {
    let texts = ["é", "e\u{301}", "É", "é ", "\u{feff}é"];
    let items = texts.map(|text| item(text, 1, 0.5));
    assert_eq!(greedy().run(&items, &budget(100)).unwrap().len(), texts.len());
}

#[test]
fn only_the_text_counts_and_the_survivor_keeps_its_fields() {
    let survivor = hinted("same", 7, 0.9)
        .kind(ContextKind::document())
        .tags(vec!["t".into()])
        .metadata([("k".into(), "v".into())].into())
        .build()
        .unwrap();
    let items = [item("same", 3, 0.1), survivor.clone()];
    let window = greedy().run(&items, &budget(100)).unwrap();
    assert!(window[0].is_same_item(&survivor));
    assert_eq!(window[0].metadata()["k"], "v");
}

#[test]
fn pinned_items_take_no_part_in_deduplication() {
    let items = [pinned("same", 5), pinned("same", 5), item("same", 5, 0.5)];
    assert_eq!(greedy().run(&items, &budget(100)).unwrap().len(), 3);
}

#[test]
fn switched_off_equal_texts_are_different_items_everywhere() {
    let items = [item("same", 10, 0.9), item("same", 40, 0.8), item("same", 10, 0.7)];
    let report = greedy_with_duplicates().dry_run(&items, &budget(20)).unwrap();
    let scores: Vec<f64> = report.included.iter().map(|included| included.score).collect();
    assert_eq!(scores, [0.9, 0.7]);
    assert_eq!(report.excluded[0].score, 0.8);
    assert_eq!(report.excluded[0].reason, does_not_fit(40, 0));
}

#[test]
fn the_same_handle_twice_is_two_items() {
    let twin = item("x", 10, 0.5);
    let window = greedy_with_duplicates().run(&[twin.clone(), twin.clone()], &budget(100)).unwrap();
    assert_eq!(window.len(), 2);
}

// Sort

#[test]
fn equal_scores_keep_input_order() {
    let items = ["c", "a", "b"].map(|text| item(text, 10, 0.5));
    assert_eq!(contents(&greedy().run(&items, &budget(100)).unwrap()), ["c", "a", "b"]);
}

// Slice

#[test]
fn reserved_slots_and_margin_shrink_what_is_sliced() {
    let items: Vec<ContextItem> =
        (0..10).map(|i| item(&format!("{i}"), 10, 1.0 - f64::from(i) / 100.0)).collect();
    let run = |budget: ContextBudgetBuilder| {
        greedy().run(&items, &budget.build().unwrap()).unwrap().len()
    };
    assert_eq!(run(ContextBudget::builder(100)), 10);
    assert_eq!(run(ContextBudget::builder(100).reserve(kind("x"), 25)), 7);
    assert_eq!(run(ContextBudget::builder(100).estimation_safety_margin_percent(10.0)), 9);
    let both = ContextBudget::builder(100).reserve(kind("x"), 20);
    // ⌊80 × 0.85⌋ = 68
    assert_eq!(run(both.estimation_safety_margin_percent(15.0)), 6);
    assert_eq!(run(ContextBudget::builder(100).estimation_safety_margin_percent(100.0)), 0);
    assert_eq!(run(ContextBudget::builder(100).reserve(kind("x"), 1000)), 0);
}

#[test]
fn the_target_is_clamped_to_what_the_reserve_leaves() {
    let budget = ContextBudget::builder(100).target_tokens(100).output_reserve(60).build().unwrap();
    let items = [item("a", 30, 0.9), item("b", 30, 0.8)];
    assert_eq!(contents(&greedy().run(&items, &budget).unwrap()), ["a"]);
}

#[test]
fn pins_that_use_up_the_target_leave_nothing_not_even_for_zero_tokens() {
    let budget = ContextBudget::builder(100).target_tokens(50).build().unwrap();
    let items = [pinned("p", 50), item("a", 1, 0.9), item("zero", 0, 0.9)];
    assert_eq!(contents(&greedy().run(&items, &budget).unwrap()), ["p"]);
}

#[test]
fn a_slicer_that_returns_foreign_items_is_an_error() {
    struct Foreign;
    impl Slicer for Foreign {
        fn slice(
            &self,
            sorted: &[ScoredItem],
            _: &ContextBudget,
        ) -> Result<Vec<ContextItem>, CupelError> {
            let text = sorted[0].item.content();
            Ok(vec![ContextItemBuilder::new(text, 1).build()?])
        }
    }
    let result =
        pipeline_with(Foreign, OverflowStrategy::Throw).run(&[item("a", 1, 0.5)], &budget(10));
    assert!(matches!(result, Err(CupelError::SlicerConfig(text)) if text.contains("`a`")));
}

#[test]
fn a_slicer_that_selects_wrong_positions_is_an_error() {
    struct Positions(Vec<usize>);
    impl Slicer for Positions {
        fn slice(
            &self,
            _: &[ScoredItem],
            _: &ContextBudget,
        ) -> Result<Vec<ContextItem>, CupelError> {
            Ok(vec![])
        }

        fn select(&self, _: &SliceRequest<'_>) -> Result<Selection, CupelError> {
            Ok(Selection::of(self.0.clone()))
        }
    }
    for positions in [vec![1], vec![0, 0], vec![usize::MAX]] {
        let pipeline = pipeline_with(Positions(positions), OverflowStrategy::Throw);
        let result = pipeline.run(&[item("a", 1, 0.5)], &budget(10));
        assert!(matches!(result, Err(CupelError::SlicerConfig(_))), "{result:?}");
    }
}

// Place

#[test]
fn merged_order_is_pinned_in_input_order_then_sliced_by_score() {
    // By density the slicer returns "cheap" first; by score it comes last.
    let items = [
        item("cheap", 1, 0.1),
        pinned("p2", 10),
        item("best", 50, 0.9),
        pinned("p1", 10),
        item("tie-a", 20, 0.5),
        item("tie-b", 1, 0.5),
    ];
    let window = greedy().run(&items, &budget(1000)).unwrap();
    assert_eq!(contents(&window), ["p2", "p1", "best", "tie-a", "tie-b", "cheap"]);
}

#[test]
fn throw_is_the_default_and_names_both_sums() {
    let budget = ContextBudget::builder(100).target_tokens(50).build().unwrap();
    let result = greedy().run(&[pinned("p", 60)], &budget);
    let error = CupelError::Overflow { merged_tokens: 60, target_tokens: 50 };
    assert_eq!(result, Err(error));
    assert_eq!(contents(&greedy().run(&[pinned("p", 50)], &budget).unwrap()), ["p"]);
}

#[test]
fn overflow_is_measured_against_the_original_target() {
    // The margin leaves an effective target of 50, but 80 tokens do not exceed the target of 100.
    let budget =
        ContextBudget::builder(100).estimation_safety_margin_percent(50.0).build().unwrap();
    let items = [of_kind("k", "a", 40, 0.9), of_kind("k", "b", 40, 0.8)];
    let pipeline = pipeline_with(counting(2, 2), OverflowStrategy::Throw);
    assert_eq!(contents(&pipeline.run(&items, &budget).unwrap()), ["a", "b"]);
}

#[test]
fn truncate_keeps_pins_and_from_the_front_what_fits() {
    let budget = ContextBudget::builder(100).target_tokens(60).build().unwrap();
    let items = [
        pinned("p", 20),
        of_kind("k", "big", 30, 0.9),
        of_kind("k", "bigger", 40, 0.8),
        of_kind("k", "small", 10, 0.7),
    ];
    let pipeline = pipeline_with(counting(3, 3), OverflowStrategy::Truncate);
    let report = pipeline.dry_run(&items, &budget).unwrap();
    assert_eq!(included(&report), ["p", "big", "small"]);
    // 10 were left when "bigger" came; without the pinned 20 they would have been 30.
    assert_eq!(reason(&report, "bigger"), &does_not_fit(40, 10));
}

#[test]
fn truncate_never_removes_pins_even_if_they_exceed_the_target() {
    let budget = ContextBudget::builder(100).target_tokens(30).build().unwrap();
    let items = [pinned("p", 50), of_kind("k", "a", 10, 0.9), of_kind("k", "z", 0, 0.8)];
    let pipeline = pipeline_with(counting(2, 2), OverflowStrategy::Truncate);
    // A target of 0 selects nothing, so only the pins are merged.
    assert_eq!(contents(&pipeline.run(&items, &budget).unwrap()), ["p"]);
}

#[test]
fn truncate_drops_a_zero_token_item_once_the_target_is_exceeded() {
    let items =
        [of_kind("k", "a", 100, 0.9), of_kind("k", "b", 50, 0.5), of_kind("k", "z", 0, 0.1)];
    let pipeline = pipeline_with(counting(3, 3), OverflowStrategy::Truncate);
    let report = pipeline.dry_run(&items, &budget(60)).unwrap();
    // "a" alone exceeds 60 and is dropped; "b" fits, and so does "z".
    assert_eq!(included(&report), ["b", "z"]);
}

#[test]
fn proceed_keeps_everything_and_reports_the_overflow() {
    let budget = ContextBudget::builder(100).target_tokens(60).build().unwrap();
    let items = [pinned("p", 20), of_kind("k", "a", 50, 0.9)];
    let pipeline = pipeline_with(counting(1, 1), OverflowStrategy::Proceed);
    let report = pipeline.dry_run(&items, &budget).unwrap();
    assert_eq!(included(&report), ["p", "a"]);
    let overflow = report.overflow.unwrap();
    assert_eq!(overflow.tokens_over_budget, 10);
    assert_eq!(contents(&overflow.overflowing_items), ["p", "a"]);
    assert_eq!(overflow.budget, budget);
}

#[test]
fn proceed_may_exceed_what_the_reserve_leaves() {
    let budget = ContextBudget::builder(100).output_reserve(50).build().unwrap();
    let pipeline = pipeline_with(counting(1, 1), OverflowStrategy::Proceed);
    let window = pipeline.run(&[of_kind("k", "a", 500, 0.9)], &budget).unwrap();
    assert_eq!(contents(&window), ["a"]);
}

#[test]
fn nothing_selected_is_an_empty_window_for_every_placer() {
    for placer in [&ChronologicalPlacer as &'static dyn Placer, &UShapedPlacer] {
        struct Borrowed(&'static dyn Placer);
        impl Placer for Borrowed {
            fn place(&self, items: &[ScoredItem]) -> Vec<ContextItem> {
                self.0.place(items)
            }
        }
        let pipeline = Pipeline::builder()
            .scorer(RawHint)
            .slicer(GreedySlice)
            .placer(Borrowed(placer))
            .build()
            .unwrap();
        assert!(pipeline.run(&[item("a", 5, 0.5)], &budget(1)).unwrap().is_empty());
    }
}

#[test]
fn a_placer_that_breaks_its_contract_is_an_error() {
    struct Dropping;
    impl Placer for Dropping {
        fn place(&self, _: &[ScoredItem]) -> Vec<ContextItem> {
            vec![]
        }
    }
    struct Repeating;
    impl Placer for Repeating {
        fn place(&self, _: &[ScoredItem]) -> Vec<ContextItem> {
            vec![]
        }

        fn arrange(&self, candidates: &[Candidate<'_>]) -> Result<Vec<usize>, CupelError> {
            Ok(vec![0; candidates.len()])
        }
    }
    let run = |placer: Box<dyn Placer>| {
        let builder = Pipeline::builder().scorer(RawHint).slicer(GreedySlice).placer(placer);
        builder.build().unwrap().run(&[item("a", 1, 0.5), item("b", 1, 0.5)], &budget(10))
    };
    assert!(matches!(run(Box::new(Dropping)), Err(CupelError::PipelineConfig(_))));
    assert!(matches!(run(Box::new(Repeating)), Err(CupelError::PipelineConfig(_))));
}

#[test]
fn pinned_items_are_placed_with_a_score_of_one() {
    let items = [item("low", 1, 0.2), pinned("p", 1), item("above", 1, 1.5)];
    let pipeline = Pipeline::builder()
        .scorer(RawHint)
        .slicer(GreedySlice)
        .placer(UShapedPlacer)
        .build()
        .unwrap();
    assert_eq!(contents(&pipeline.run(&items, &budget(10)).unwrap()), ["above", "low", "p"]);
}

// The whole

#[test]
fn huge_token_counts_neither_wrap_nor_panic() {
    let items = [item("a", i64::MAX, 0.9), item("b", i64::MAX, 0.8), pinned("p", 5)];
    let report = greedy().dry_run(&items, &budget(i64::MAX)).unwrap();
    assert_eq!(report.total_tokens_considered, i64::MAX);
    assert_eq!(included(&report), ["p"]);
    let pins = [pinned("p", i64::MAX), pinned("q", i64::MAX)];
    let error = CupelError::PinnedExceedsBudget { pinned_tokens: i64::MAX, available: i64::MAX };
    assert_eq!(greedy().run(&pins, &budget(i64::MAX)), Err(error));
    let guaranteed = [of_kind("k", "a", i64::MAX, 0.9), of_kind("k", "b", i64::MAX, 0.8)];
    let pipeline = pipeline_with(counting(2, 2), OverflowStrategy::Proceed);
    let report = pipeline.dry_run(&guaranteed, &budget(10)).unwrap();
    assert_eq!(report.overflow.unwrap().tokens_over_budget, i64::MAX);
}

#[test]
fn selected_items_keep_their_identity_and_their_metadata() {
    let kept = hinted("a", 1, 0.5).metadata([("k".into(), "v".into())].into()).build().unwrap();
    let window = greedy().run(std::slice::from_ref(&kept), &budget(10)).unwrap();
    assert!(window[0].is_same_item(&kept));
}
