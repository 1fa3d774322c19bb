//! Snapshots of real runs, as a user of insta takes them.

use cupel::{
    ContextItem, ContextKind, CountQuotaEntry, CountQuotaSlice, GreedySlice, OverflowStrategy,
    Pipeline, ReflexiveScorer, ScarcityBehavior, SelectionReport, Slicer, UShapedPlacer,
};
use cupel_testing::{budget, item, snapshot};

fn candidates() -> [ContextItem; 6] {
    [
        item("Answer in one sentence.", 6).kind("SystemPrompt").pinned().build(),
        item("a page about\n\"cupels\"", 70).kind("Document").score(0.6).build(),
        item("broken", -1).score(0.0).build(),
        item("What is a cupel?", 5).score(0.9).build(),
        item("What is a cupel?", 5).score(0.8).build(),
        item("a whole book", 9_000).kind("Document").score(0.0).build(),
    ]
}

fn run(slicer: impl Slicer + 'static, items: &[ContextItem]) -> SelectionReport {
    Pipeline::builder()
        .scorer(ReflexiveScorer)
        .slicer(slicer)
        .placer(UShapedPlacer)
        .overflow_strategy(OverflowStrategy::Proceed)
        .build()
        .and_then(|pipeline| pipeline.dry_run(items, &budget(100)))
        .unwrap()
}

#[test]
fn a_run_as_text() {
    insta::assert_snapshot!(snapshot(&run(GreedySlice, &candidates())), @r#"
    candidates=6 tokens=9085
    stages: Classify=5 Score=4 Deduplicate=3 Slice=2 Place=3
    included: 3
      SystemPrompt "Answer in one sentence." tokens=6 score=1 reason=Pinned
      Document "a page about\n\"cupels\"" tokens=70 score=0.6 reason=Scored
      Message "What is a cupel?" tokens=5 score=0.9 reason=Scored
    excluded: 3
      Message "What is a cupel?" tokens=5 score=0.8 reason=Deduplicated: same text as `What is a cupel?`
      Message "broken" tokens=-1 score=0 reason=NegativeTokens: -1 tokens
      Document "a whole book" tokens=9000 score=0 reason=BudgetExceeded: 9000 tokens requested, 19 available
    "#);
}

#[test]
fn two_runs_give_the_same_text() {
    assert_eq!(
        snapshot(&run(GreedySlice, &candidates())).to_string(),
        snapshot(&run(GreedySlice, &candidates())).to_string()
    );
}

#[test]
fn ties_across_stages_in_the_order_of_the_candidates() {
    let candidates = candidates();
    let items = [candidates[5].clone(), candidates[2].clone()];
    let report = run(GreedySlice, &items);
    insta::assert_snapshot!(snapshot(&report), @r#"
    candidates=2 tokens=8999
    stages: Classify=1 Score=1 Deduplicate=1 Slice=0 Place=0
    included: 0
    excluded: 2
      Message "broken" tokens=-1 score=0 reason=NegativeTokens: -1 tokens
      Document "a whole book" tokens=9000 score=0 reason=BudgetExceeded: 9000 tokens requested, 100 available
    "#);
    insta::assert_snapshot!(snapshot(&report).ties_in_order_of(&items), @r#"
    candidates=2 tokens=8999
    stages: Classify=1 Score=1 Deduplicate=1 Slice=0 Place=0
    included: 0
    excluded: 2
      Document "a whole book" tokens=9000 score=0 reason=BudgetExceeded: 9000 tokens requested, 100 available
      Message "broken" tokens=-1 score=0 reason=NegativeTokens: -1 tokens
    "#);
}

fn overflowing_run() -> SelectionReport {
    let kind = |name| ContextKind::new(name).unwrap();
    let entries = vec![
        CountQuotaEntry::new(kind("Document"), 1, 1).unwrap(),
        CountQuotaEntry::new(kind("Memory"), 2, 4).unwrap(),
    ];
    let slicer =
        CountQuotaSlice::new(entries, Box::new(GreedySlice), ScarcityBehavior::Degrade).unwrap();
    let items = [
        item("page one", 120).kind("Document").score(0.5).build(),
        item("page two", 10).kind("Document").score(0.4).build(),
    ];
    run(slicer, &items)
}

#[test]
fn shortfalls_and_overflow_are_part_of_it() {
    insta::assert_snapshot!(snapshot(&overflowing_run()), @r#"
    candidates=2 tokens=130
    stages: Classify=2 Score=2 Deduplicate=2 Slice=1 Place=1
    included: 1
      Document "page one" tokens=120 score=0.5 reason=Scored
    excluded: 1
      Document "page two" tokens=10 score=0.4 reason=BudgetExceeded: 10 tokens requested, -20 available
    shortfalls: 1
      Memory required=2 satisfied=0
    over budget: 20
    "#);
}

#[cfg(feature = "serde")]
#[test]
fn shortfalls_and_overflow_as_json() {
    insta::assert_json_snapshot!(snapshot(&overflowing_run()), @r#"
    {
      "total_candidates": 2,
      "total_tokens_considered": 130,
      "stages": [
        {
          "stage": "Classify",
          "item_count": 2
        },
        {
          "stage": "Score",
          "item_count": 2
        },
        {
          "stage": "Deduplicate",
          "item_count": 2
        },
        {
          "stage": "Slice",
          "item_count": 1
        },
        {
          "stage": "Place",
          "item_count": 1
        }
      ],
      "included": [
        {
          "kind": "Document",
          "content": "page one",
          "tokens": 120,
          "score": 0.5,
          "reason": "Scored"
        }
      ],
      "excluded": [
        {
          "kind": "Document",
          "content": "page two",
          "tokens": 10,
          "score": 0.4,
          "reason": "BudgetExceeded: 10 tokens requested, -20 available"
        }
      ],
      "count_requirement_shortfalls": [
        {
          "kind": "Memory",
          "required_count": 2,
          "satisfied_count": 0
        }
      ],
      "tokens_over_budget": 20
    }
    "#);
}

#[cfg(feature = "serde")]
#[test]
fn scores_that_are_not_finite_are_written_as_text() {
    let scores = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    let report = scores
        .iter()
        .fold(cupel_testing::report(), |report, score| report.included(item("a", 1).score(*score)));
    insta::assert_json_snapshot!(snapshot(&report.build()), @r#"
    {
      "total_candidates": 3,
      "total_tokens_considered": 3,
      "included": [
        {
          "kind": "Message",
          "content": "a",
          "tokens": 1,
          "score": "NaN",
          "reason": "Scored"
        },
        {
          "kind": "Message",
          "content": "a",
          "tokens": 1,
          "score": "Infinity",
          "reason": "Scored"
        },
        {
          "kind": "Message",
          "content": "a",
          "tokens": 1,
          "score": "-Infinity",
          "reason": "Scored"
        }
      ],
      "excluded": []
    }
    "#);
}

#[cfg(feature = "serde")]
#[test]
fn an_assertion_error_as_json() {
    use cupel_testing::SelectionReportAssertions;

    let error = run(GreedySlice, &candidates()).check().have_at_least_n_exclusions(9).unwrap_err();
    insta::assert_json_snapshot!(error, @r#"
    {
      "assertion": "HaveAtLeastNExclusions",
      "expected": "at least 9 excluded items",
      "actual": "3 excluded items",
      "message": "HaveAtLeastNExclusions(9) failed: expected at least 9 excluded items, but Excluded had 3."
    }
    "#);
}
