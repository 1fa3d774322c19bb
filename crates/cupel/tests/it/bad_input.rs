//! Bad input gets a clear error, or the outcome that the specification names.

use std::collections::HashMap;

use cupel::*;

use crate::support::*;

#[test]
fn every_error_says_what_was_given_and_what_is_allowed() {
    let no_slots = HashMap::new;
    let kind = || ContextKind::memory();
    let texts = [
        ContextItemBuilder::new("", 1).build().unwrap_err().to_string(),
        ContextKind::new(" ").unwrap_err().to_string(),
        ContextSource::new("").unwrap_err().to_string(),
        ContextBudget::new(-1, 0, 0, no_slots(), 0.0).unwrap_err().to_string(),
        ContextBudget::new(100, 200, 0, no_slots(), 0.0).unwrap_err().to_string(),
        ContextBudget::new(100, 50, 0, no_slots(), f64::NAN).unwrap_err().to_string(),
        ContextBudget::new(100, 50, 0, [(kind(), -3)].into(), 0.0).unwrap_err().to_string(),
        KindScorer::new([(kind(), -1.0)].into()).unwrap_err().to_string(),
        TagScorer::new([("t".into(), f64::INFINITY)].into()).unwrap_err().to_string(),
        CompositeScorer::new(vec![(Box::new(RecencyScorer), f64::NAN)]).unwrap_err().to_string(),
        KnapsackSlice::new(0).unwrap_err().to_string(),
        QuotaEntry::new(kind(), 60.0, 50.0).unwrap_err().to_string(),
        CountQuotaEntry::new(kind(), 3, 2).unwrap_err().to_string(),
        Pipeline::builder().build().unwrap_err().to_string(),
        greedy().run(&[pinned("p", 9)], &budget(5)).unwrap_err().to_string(),
    ];
    let expected = [
        "content must be non-empty",
        "kind must not be empty or blank",
        "source must not be empty or blank",
        "max_tokens `-1` must not be negative",
        "target_tokens `200` must not exceed max_tokens `100`",
        "estimation_safety_margin_percent `NaN` must be within 0 and 100",
        "reserved_slots.Memory `-3` must not be negative",
        "weights.Memory: must be finite and not negative, got -1",
        "tag_weights.t: must be finite and not negative, got inf",
        "scorers[0].weight: must be finite, got NaN",
        "bucket_size: must be positive, got 0",
        "kind `Memory`: require `60` must not exceed cap `50`",
        "kind `Memory`: require_count `3` must not exceed cap_count `2`",
        "a scorer is required",
        "pinned items require 9 tokens, but only 5 are available (max tokens less output \
         reserve); pin fewer items or raise the budget",
    ];
    assert_eq!(texts, expected);
}

#[test]
fn a_knapsack_table_that_is_too_large_says_what_to_do() {
    let items: Vec<_> = (0..60).map(|i| item(&format!("{i}"), 1, 0.5)).collect();
    let pipeline = pipeline_with(KnapsackSlice::new(1).unwrap(), OverflowStrategy::Throw);
    let error = pipeline.run(&items, &budget(1_000_000)).unwrap_err();
    let cells = 60_000_000;
    assert_eq!(error, CupelError::TableTooLarge { candidates: 60, capacity: 1_000_000, cells });
    assert!(error.to_string().contains("use a larger bucket size"), "{error}");
}
