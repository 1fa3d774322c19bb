//! Whole runs.

use chrono::{DateTime, Utc};

use crate::oracle::pipeline::effective_budget;
use crate::oracle::{Limits, run};
use crate::protocol::{
    Budget, CountEntry, Decision, ErrorAnswer, Item, OverflowEvent, OverflowStrategy, Placer,
    Policy, Reason, Report, Scorer, Slicer,
};

fn hinted(content: &str, tokens: i64, hint: f64) -> Item {
    Item { future_relevance_hint: Some(hint), ..Item::new(content, tokens) }
}

fn pinned(content: &str, tokens: i64) -> Item {
    Item { pinned: Some(true), ..Item::new(content, tokens) }
}

fn greedy() -> Policy {
    Policy::new(Scorer::Reflexive, Slicer::Greedy, Placer::Chronological)
}

/// Commits one item of kind `Message` whatever it costs.
fn one_message(overflow: OverflowStrategy) -> Policy {
    let slicer = Slicer::CountQuota {
        entries: vec![CountEntry { kind: "message".to_owned(), require_count: 1, cap_count: 1 }],
        inner: Box::new(Slicer::Greedy),
        scarcity_behavior: None,
    };
    Policy { slicer, overflow_strategy: Some(overflow), ..greedy() }
}

fn excluded(report: &Report) -> Vec<(usize, Reason)> {
    report.excluded().iter().map(|entry| (entry.index, entry.reason.clone())).collect()
}

fn over_budget(item_tokens: i64, available_tokens: i64) -> Reason {
    let reason = Reason::named("BudgetExceeded").with("item_tokens", item_tokens);
    reason.with("available_tokens", available_tokens)
}

fn displaced_by(text: &str) -> Reason {
    Reason::named("PinnedOverride").with("displaced_by", text)
}

/// Code and details of an error.
fn error(code: &str, details: [(&str, i64); 2]) -> ErrorAnswer {
    details
        .into_iter()
        .fold(ErrorAnswer::new(code, ""), |error, (name, value)| error.with(name, value))
}

fn fails(items: &[Item], budget: &Budget, policy: &Policy) -> ErrorAnswer {
    let error = run(items, budget, policy).unwrap_err();
    assert!(!error.message.is_empty());
    ErrorAnswer { message: String::new(), ..error }
}

#[test]
fn the_diagnostics_example_leaves_fifty_tokens_available() {
    let month = |text: &str| Some(text.parse::<DateTime<Utc>>().unwrap());
    let items = [
        Item { timestamp: month("2024-06-01T00:00:00Z"), ..Item::new("fits", 150) },
        Item { timestamp: month("2024-01-01T00:00:00Z"), ..Item::new("too-big", 400) },
    ];
    let budget = Budget { target_tokens: 200, ..Budget::of(1000) };
    let policy = Policy { scorer: Scorer::Recency, deduplication: Some(false), ..greedy() };
    let run = run(&items, &budget, &policy).unwrap();
    let fits = Decision { index: 0, score: 1.0, reason: Reason::named("Scored") };
    let too_big = Decision { index: 1, score: 0.0, reason: over_budget(400, 50) };
    assert_eq!(run.included(), [fits]);
    assert_eq!(run.excluded(), [too_big]);
    assert_eq!((run.total_candidates, run.total_tokens_considered), (Some(2), Some(550)));
}

#[test]
fn an_empty_list_gives_an_empty_output() {
    assert_eq!(run(&[], &Budget::of(0), &greedy()).unwrap().output(), [0; 0]);
}

#[test]
fn negative_tokens_are_excluded_before_pins_are_looked_at() {
    let items = [Item { tokens: -1, ..pinned("a", 0) }, hinted("b", 5, 0.5)];
    let run = run(&items, &Budget::of(10), &greedy()).unwrap();
    assert_eq!(run.output(), [1]);
    assert_eq!(excluded(&run), [(0, Reason::named("NegativeTokens").with("tokens", -1))]);
    assert_eq!(run.total_tokens_considered, Some(4));
}

#[test]
fn pinned_items_are_checked_against_maximum_less_reserve() {
    let items = [pinned("a", 80)];
    let budget = Budget { output_reserve: Some(21), ..Budget::of(100) };
    let error = error("pinned_exceeds_budget", [("pinned_tokens", 80), ("available", 79)]);
    assert_eq!(fails(&items, &budget, &greedy()), error);
    let budget = Budget { target_tokens: 80, output_reserve: Some(20), ..budget };
    assert_eq!(run(&items, &budget, &greedy()).unwrap().output(), [0]);
}

#[test]
fn huge_pinned_items_do_not_wrap_the_sum() {
    let items = [pinned("a", i64::MAX), pinned("b", i64::MAX)];
    let details = [("pinned_tokens", i64::MAX), ("available", i64::MAX)];
    let error = error("pinned_exceeds_budget", details);
    assert_eq!(fails(&items, &Budget::of(i64::MAX), &greedy()), error);
}

#[test]
fn the_best_of_equal_texts_survives_and_the_first_among_equals() {
    let items = [
        hinted("same", 1, 0.2),
        hinted("same", 1, 0.9),
        hinted("same", 1, 0.9),
        hinted("x", 1, 0.1),
    ];
    let run = run(&items, &Budget::of(10), &greedy()).unwrap();
    assert_eq!(run.output(), [1, 3]);
    let duplicate = Reason::named("Deduplicated").with("deduplicated_against", "same");
    assert_eq!(excluded(&run), [(2, duplicate.clone()), (0, duplicate)]);
}

#[test]
fn a_number_survives_its_duplicate_that_scores_nan() {
    let items = [hinted("same", 1, f64::NAN), hinted("same", 1, f64::NEG_INFINITY)];
    let policy = Policy { scorer: Scorer::RawHint, ..greedy() };
    assert_eq!(run(&items, &Budget::of(10), &policy).unwrap().output(), [1]);
}

#[test]
fn reserve_pins_slots_and_margin_all_reduce_the_effective_budget() {
    let budget = Budget {
        target_tokens: 800,
        output_reserve: Some(100),
        reserved_slots: [("Message", 30), ("Memory", 900), ("memory", 20)]
            .map(|(kind, tokens)| (kind.to_owned(), tokens))
            .into(),
        estimation_safety_margin_percent: Some(10.0),
        ..Budget::of(1000)
    };
    let limits = effective_budget(&budget, 50);
    assert_eq!(limits, Limits { max_tokens: 720, target_tokens: 630 });
    let full_margin = Budget { estimation_safety_margin_percent: Some(100.0), ..budget };
    assert_eq!(effective_budget(&full_margin, 50), Limits { max_tokens: 0, target_tokens: 0 });
}

#[test]
fn the_effective_target_never_exceeds_the_effective_maximum() {
    let budget = Budget { output_reserve: Some(40), ..Budget::of(100) };
    assert_eq!(effective_budget(&budget, 0), Limits { max_tokens: 60, target_tokens: 60 });
}

#[test]
fn zero_token_items_are_included_for_free_with_their_score() {
    let items = [hinted("free", 0, 0.4), hinted("paid", 10, 0.9)];
    let run = run(&items, &Budget::of(10), &greedy()).unwrap();
    let free = Decision { index: 0, score: 0.4, reason: Reason::named("ZeroToken") };
    assert!(run.included().contains(&free));
    assert_eq!(run.output(), [1, 0]);
}

#[test]
fn an_item_that_only_pins_kept_out_names_the_largest_pin() {
    let items = [
        pinned("small pin", 10),
        pinned("first large pin", 20),
        pinned("second large pin", 20),
        hinted("fits without pins", 60, 0.9),
        hinted("never fits", 101, 0.8),
    ];
    let run = run(&items, &Budget::of(100), &greedy()).unwrap();
    assert_eq!(excluded(&run), [(3, displaced_by("first large pin")), (4, over_budget(101, 50))]);
}

#[test]
fn what_other_items_crowded_out_is_not_the_pins_fault() {
    let items = [pinned("pin", 50), hinted("a", 40, 0.9), hinted("b", 50, 0.8)];
    let run = run(&items, &Budget::of(100), &greedy()).unwrap();
    assert_eq!(excluded(&run), [(2, over_budget(50, 10))]);
}

#[test]
fn a_pin_is_to_blame_up_to_the_last_token_it_takes() {
    let reason = |tokens| {
        let items = [pinned("pin", 50), hinted("a", tokens, 0.9)];
        excluded(&run(&items, &Budget::of(100), &greedy()).unwrap()).remove(0).1
    };
    assert_eq!(reason(51), displaced_by("pin"));
    assert_eq!(reason(100), displaced_by("pin"));
    assert_eq!(reason(101), over_budget(101, 50));
}

#[test]
fn an_item_that_fits_and_was_not_worth_it_is_not_the_pins_fault() {
    let items = [pinned("pin", 50), hinted("worthless", 50, 0.0)];
    let policy = Policy { slicer: Slicer::Knapsack { bucket_size: Some(1) }, ..greedy() };
    let run = run(&items, &Budget::of(100), &policy).unwrap();
    assert_eq!(excluded(&run), [(1, over_budget(50, 50))]);
}

#[test]
fn merged_order_is_pins_then_score_whatever_the_slicer_returned() {
    let items = [hinted("dense", 1, 0.5), hinted("best", 90, 0.9), pinned("pin", 1)];
    let run = run(&items, &Budget::of(100), &greedy()).unwrap();
    assert_eq!(run.output(), [2, 1, 0]);
    assert_eq!(run.included()[0].score, 1.0);
}

#[test]
fn overflow_throws() {
    let items = [hinted("a", 150, 0.9)];
    let error = error("overflow", [("merged_tokens", 150), ("target_tokens", 100)]);
    assert_eq!(fails(&items, &Budget::of(100), &one_message(OverflowStrategy::Throw)), error);
}

#[test]
fn overflow_truncates_what_does_not_fit_and_says_what_was_left() {
    let items = [hinted("a", 150, 0.9), pinned("pin", 30)];
    let run = run(&items, &Budget::of(100), &one_message(OverflowStrategy::Truncate)).unwrap();
    assert_eq!(run.output(), [1]);
    assert_eq!(excluded(&run), [(0, over_budget(150, 70))]);
    assert_eq!(run.overflow, None);
}

#[test]
fn truncation_keeps_what_fits_exactly() {
    let items = [hinted("a", 100, 0.9), hinted("b", 10, 0.5)];
    let mut policy = one_message(OverflowStrategy::Truncate);
    if let Slicer::CountQuota { entries, .. } = &mut policy.slicer {
        entries[0] = CountEntry { require_count: 2, cap_count: 2, ..entries[0].clone() };
    }
    let run = run(&items, &Budget::of(100), &policy).unwrap();
    assert_eq!(run.output(), [0]);
    assert_eq!(excluded(&run), [(1, over_budget(10, 0))]);
}

#[test]
fn truncation_blames_the_pin_where_the_pin_is_to_blame() {
    let items = [hinted("a", 80, 0.9), pinned("pin", 30)];
    let run = run(&items, &Budget::of(100), &one_message(OverflowStrategy::Truncate)).unwrap();
    assert_eq!(excluded(&run), [(0, displaced_by("pin"))]);
}

#[test]
fn overflow_proceeds_with_an_event() {
    let items = [hinted("a", 150, 0.9), pinned("pin", 30)];
    let run = run(&items, &Budget::of(100), &one_message(OverflowStrategy::Proceed)).unwrap();
    assert_eq!(run.output(), [1, 0]);
    let event = OverflowEvent { tokens_over_budget: 80, overflowing_items: vec![1, 0] };
    assert_eq!(run.overflow, Some(event));
}

#[test]
fn available_tokens_may_be_negative_under_a_count_slicer() {
    let items = [hinted("a", 150, 0.9), hinted("b", 10, 0.5)];
    let run = run(&items, &Budget::of(100), &one_message(OverflowStrategy::Proceed)).unwrap();
    assert_eq!(excluded(&run), [(1, over_budget(10, -50))]);
}

#[test]
fn capped_items_name_their_own_spelling_and_keep_their_place_in_the_order() {
    let items = [
        Item { kind: Some("MESSAGE".to_owned()), ..hinted("capped", 10, 0.5) },
        hinted("kept", 10, 0.9),
        Item { kind: Some("Memory".to_owned()), ..hinted("too big", 500, 0.7) },
    ];
    let run = run(&items, &Budget::of(100), &one_message(OverflowStrategy::Throw)).unwrap();
    assert_eq!(run.output(), [1]);
    let capped = Reason::named("CountCapExceeded").with("kind", "MESSAGE");
    let capped = capped.with("cap", 1).with("count", 1);
    assert_eq!(excluded(&run), [(2, over_budget(500, 90)), (0, capped)]);
}

#[test]
fn ties_among_the_excluded_come_in_order_of_exclusion() {
    let items = [
        hinted("too big", 500, 0.0),
        hinted("same", 1, 0.0),
        Item::new("negative", -5),
        hinted("same", 1, 0.0),
    ];
    let run = run(&items, &Budget::of(10), &greedy()).unwrap();
    let order: Vec<usize> = excluded(&run).into_iter().map(|(index, _)| index).collect();
    assert_eq!(order, [2, 3, 0]);
}

#[test]
fn stages_count_what_enters_and_what_leaves() {
    let items = [
        pinned("pin", 1),
        Item::new("negative", -5),
        hinted("same", 1, 0.5),
        hinted("same", 1, 0.5),
        hinted("too big", 500, 0.1),
    ];
    let run = run(&items, &Budget::of(10), &greedy()).unwrap();
    let stages = run.stages.unwrap();
    let counts: Vec<(usize, usize)> =
        stages.iter().map(|stage| (stage.item_count_in, stage.item_count_out)).collect();
    assert_eq!(counts, [(5, 4), (3, 3), (3, 2), (2, 1), (2, 2)]);
}
