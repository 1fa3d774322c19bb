//! The exact text of every failure, in both forms of the chain, and where it points.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use cupel::{ContextBudget, ContextItemBuilder, ContextKind, ExclusionReason, SelectionReport};
use cupel_testing::{
    ExclusionReasonKind, ReportBuilder, SelectionReportAssertionError, SelectionReportAssertions,
    budget, item, report,
};

/// Message and location of a panic.
#[derive(Debug, PartialEq)]
struct Caught {
    message: String,
    file: String,
    line: u32,
}

thread_local! {
    /// `Some` while this thread expects a panic.
    static LOCATION: RefCell<Option<(String, u32)>> = const { RefCell::new(None) };
}

/// Runs something that panics. Panics of other threads are reported as usual.
#[track_caller]
fn caught(panics: impl FnOnce()) -> Caught {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let expected = LOCATION.with_borrow_mut(|expected| {
                let location = info.location().map(|at| (at.file().to_owned(), at.line()));
                expected.as_mut().zip(location).map(|(expected, found)| *expected = found)
            });
            if expected.is_none() {
                usual(info);
            }
        }));
    });
    LOCATION.set(Some((String::new(), 0)));
    let outcome = panic::catch_unwind(AssertUnwindSafe(panics));
    let (file, line) = LOCATION.take().unwrap_or_default();
    let payload = outcome.expect_err("the assertion should not hold");
    let message = match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => (*payload.downcast::<&str>().expect("the message is a text")).to_owned(),
    };
    Caught { message, file, line }
}

/// Both forms fail with the message, and the panic is at the line of the call.
macro_rules! assert_fails {
    ($report:expr, $method:ident($($argument:expr),*), $message:expr $(,)?) => {{
        let report: &SelectionReport = &$report;
        let error = report.check().$method($($argument),*).unwrap_err();
        assert_eq!(error.message(), $message);
        assert_eq!(error.to_string(), error.message());
        assert!(error.message().starts_with(error.assertion()));
        let panicked = caught(|| {
            report.should().$method($($argument),*);
        });
        let message = error.message().to_owned();
        assert_eq!(panicked, Caught { message, file: file!().to_owned(), line: line!() });
        error
    }};
}

fn parts(error: &SelectionReportAssertionError) -> [&str; 3] {
    [error.assertion(), error.expected(), error.actual()]
}

fn empty() -> SelectionReport {
    SelectionReport::default()
}

/// Four items; kinds neither in alphabetical order nor in one spelling.
fn window() -> ReportBuilder {
    report()
        .included(item("t", 20).kind("ToolOutput").score(0.25))
        .included(item("m", 10).score(0.9))
        .included(item("n", 10).kind("MESSAGE").score(0.1 + 0.2))
        .included(item("s", 5).kind("SystemPrompt").pinned())
}

fn duplicate() -> ExclusionReason {
    ExclusionReason::Deduplicated { deduplicated_against: "m".into() }
}

/// Three items; reasons not in alphabetical order.
fn left_out() -> SelectionReport {
    let unknown = ExclusionReason::Unknown { name: "AwfulTaste".into(), fields: vec![] };
    window()
        .excluded(item("m", 10).score(0.75), duplicate())
        .over_budget(item("big", 300).kind("Document").score(0.5), 55)
        .over_budget(item("huge", 900).kind("document").score(0.125), 55)
        .excluded(item("odd", 1).score(0.0), unknown)
        .build()
}

fn placed(scores: &[f64]) -> SelectionReport {
    scores.iter().fold(report(), |report, s| report.included(item("x", 1).score(*s))).build()
}

#[test]
fn include_item_with_kind() {
    let error = assert_fails!(
        window().build(),
        include_item_with_kind(ContextKind::document()),
        "IncludeItemWithKind(Document) failed: Included contained 0 items with Kind=Document. \
         Included had 4 items with kinds: [Message, SystemPrompt, ToolOutput].",
    );
    assert_eq!(
        parts(&error),
        [
            "IncludeItemWithKind",
            "at least 1 included item with Kind=Document",
            "0 of 4 included items; kinds: [Message, SystemPrompt, ToolOutput]",
        ],
    );
    assert_fails!(
        empty(),
        include_item_with_kind(ContextKind::new("odd kind").unwrap()),
        "IncludeItemWithKind(odd kind) failed: Included contained 0 items with Kind=odd kind. \
         Included had 0 items with kinds: [].",
    );
}

#[test]
fn include_item_matching() {
    let error = assert_fails!(
        window().build(),
        include_item_matching(|_| false),
        "IncludeItemMatching failed: no item in Included matched the predicate. Included had 4 \
         items. Items: [(kind=ToolOutput, score=0.25, reason=Scored), (kind=Message, score=0.9, \
         reason=Scored), (kind=MESSAGE, score=0.30000000000000004, reason=Scored), \
         (kind=SystemPrompt, score=1, reason=Pinned)].",
    );
    assert_eq!(error.expected(), "at least 1 included item that matches the predicate");
    assert!(error.actual().starts_with("0 of 4 included items; items: [(kind=ToolOutput, "));
    assert_fails!(
        empty(),
        include_item_matching(|_| true),
        "IncludeItemMatching failed: no item in Included matched the predicate. Included had 0 \
         items.",
    );
}

#[test]
fn include_item_matching_shows_five_items_and_counts_the_rest() {
    let entry = "(kind=Message, score=0.5, reason=Scored), ".repeat(5);
    assert_fails!(
        placed(&[0.5; 7]),
        include_item_matching(|_| false),
        format!(
            "IncludeItemMatching failed: no item in Included matched the predicate. Included had \
             7 items. Items: [{entry}and 2 more]."
        ),
    );
}

#[test]
fn include_exactly_n_items_with_kind() {
    let error = assert_fails!(
        window().build(),
        include_exactly_n_items_with_kind(ContextKind::message(), 3),
        "IncludeExactlyNItemsWithKind(Message, 3) failed: expected 3 items with Kind=Message in \
         Included, but found 2. Included had 4 items total.",
    );
    assert_eq!(
        parts(&error),
        [
            "IncludeExactlyNItemsWithKind",
            "exactly 3 included items with Kind=Message",
            "2 of 4 included items",
        ],
    );
    assert_fails!(
        empty(),
        include_exactly_n_items_with_kind(ContextKind::memory(), 1),
        "IncludeExactlyNItemsWithKind(Memory, 1) failed: expected 1 items with Kind=Memory in \
         Included, but found 0. Included had 0 items total.",
    );
}

#[test]
fn exclude_item_with_reason() {
    let error = assert_fails!(
        left_out(),
        exclude_item_with_reason(ExclusionReasonKind::PinnedOverride),
        "ExcludeItemWithReason(PinnedOverride) failed: no excluded item had reason \
         PinnedOverride. Excluded had 4 items with reasons: [AwfulTaste, BudgetExceeded, \
         Deduplicated].",
    );
    assert_eq!(
        parts(&error),
        [
            "ExcludeItemWithReason",
            "at least 1 excluded item with reason PinnedOverride",
            "0 of 4 excluded items; reasons: [AwfulTaste, BudgetExceeded, Deduplicated]",
        ],
    );
    assert_fails!(
        empty(),
        exclude_item_with_reason(duplicate()),
        "ExcludeItemWithReason(Deduplicated) failed: no excluded item had reason Deduplicated. \
         Excluded had 0 items with reasons: [].",
    );
}

#[test]
fn exclude_item_matching_with_reason() {
    let error = assert_fails!(
        left_out(),
        exclude_item_matching_with_reason(|e| e.score > 0.1, ExclusionReasonKind::Filtered),
        "ExcludeItemMatchingWithReason(reason=Filtered) failed: predicate matched 3 excluded \
         item(s) but none had reason Filtered. Matched items had reasons: [BudgetExceeded, \
         Deduplicated].",
    );
    assert_eq!(
        parts(&error),
        [
            "ExcludeItemMatchingWithReason",
            "at least 1 excluded item that matches the predicate with reason Filtered",
            "3 matching items; reasons: [BudgetExceeded, Deduplicated]",
        ],
    );
    for report in [left_out(), empty()] {
        assert_fails!(
            report,
            exclude_item_matching_with_reason(
                |e| e.item.content() == "absent",
                ExclusionReasonKind::BudgetExceeded
            ),
            "ExcludeItemMatchingWithReason(reason=BudgetExceeded) failed: predicate matched 0 \
             excluded item(s) but none had reason BudgetExceeded. Matched items had reasons: [].",
        );
    }
}

#[test]
fn exclude_item_with_budget_details() {
    let error = assert_fails!(
        left_out(),
        exclude_item_with_budget_details(|_| true, 300, 50),
        "ExcludeItemWithBudgetDetails failed: expected BudgetExceeded with item_tokens=300, \
         available_tokens=50, but found item_tokens=300, available_tokens=55.",
    );
    assert_eq!(
        parts(&error),
        [
            "ExcludeItemWithBudgetDetails",
            "BudgetExceeded with item_tokens=300, available_tokens=50",
            "item_tokens=300, available_tokens=55",
        ],
    );
    assert_fails!(
        left_out(),
        exclude_item_with_budget_details(|e| e.item.content() == "m", 10, 55),
        "ExcludeItemWithBudgetDetails failed: expected BudgetExceeded with item_tokens=10, \
         available_tokens=55, but no matching item had reason BudgetExceeded. Predicate matched 1 \
         of 4 excluded item(s) with reasons: [Deduplicated].",
    );
    assert_fails!(
        empty(),
        exclude_item_with_budget_details(|_| true, 10, -5),
        "ExcludeItemWithBudgetDetails failed: expected BudgetExceeded with item_tokens=10, \
         available_tokens=-5, but no matching item had reason BudgetExceeded. Predicate matched 0 \
         of 0 excluded item(s) with reasons: [].",
    );
}

#[test]
fn have_no_exclusions_for_kind() {
    let error = assert_fails!(
        left_out(),
        have_no_exclusions_for_kind(ContextKind::document()),
        "HaveNoExclusionsForKind(Document) failed: found 2 excluded item(s) with Kind=Document. \
         First: score=0.5, reason=BudgetExceeded.",
    );
    assert_eq!(
        parts(&error),
        [
            "HaveNoExclusionsForKind",
            "no excluded item with Kind=Document",
            "2 excluded items; first: score=0.5, reason=BudgetExceeded",
        ],
    );
}

#[test]
fn have_at_least_n_exclusions() {
    let error = assert_fails!(
        left_out(),
        have_at_least_n_exclusions(5),
        "HaveAtLeastNExclusions(5) failed: expected at least 5 excluded items, but Excluded had \
         4.",
    );
    assert_eq!(
        parts(&error),
        ["HaveAtLeastNExclusions", "at least 5 excluded items", "4 excluded items"],
    );
}

#[test]
fn excluded_items_are_sorted_by_score_descending() {
    let mut report = left_out();
    report.excluded.swap(1, 2);
    let error = assert_fails!(
        report,
        excluded_items_are_sorted_by_score_descending(),
        "ExcludedItemsAreSortedByScoreDescending failed: item at index 2 (score=0.5) is higher \
         than item at index 1 (score=0.125). Expected non-increasing scores.",
    );
    assert_eq!(
        parts(&error),
        [
            "ExcludedItemsAreSortedByScoreDescending",
            "non-increasing scores of excluded items",
            "index 1: score=0.125, index 2: score=0.5",
        ],
    );
}

#[test]
fn the_first_of_several_rises_is_reported() {
    let mut report = left_out();
    report.excluded.reverse();
    assert_fails!(
        report,
        excluded_items_are_sorted_by_score_descending(),
        "ExcludedItemsAreSortedByScoreDescending failed: item at index 1 (score=0.125) is higher \
         than item at index 0 (score=0). Expected non-increasing scores.",
    );
}

#[test]
fn have_budget_utilization_above() {
    let seventy = ContextBudget::builder(70).target_tokens(45).build().unwrap();
    let error = assert_fails!(
        window().build(),
        have_budget_utilization_above(0.8, &seventy),
        "HaveBudgetUtilizationAbove(0.8) failed: computed utilization was 0.642857 \
         (includedTokens=45, budget.MaxTokens=70).",
    );
    assert_eq!(
        parts(&error),
        [
            "HaveBudgetUtilizationAbove",
            "utilization >= 0.8",
            "utilization 0.6428571428571429 (includedTokens=45, budget.MaxTokens=70)",
        ],
    );
    assert_fails!(
        empty(),
        have_budget_utilization_above(1.0, &budget(0)),
        "HaveBudgetUtilizationAbove(1) failed: computed utilization was 0.000000 \
         (includedTokens=0, budget.MaxTokens=0).",
    );
}

#[test]
fn token_sums_in_messages_do_not_wrap() {
    let huge = || item("x", i64::MAX);
    assert_fails!(
        report().included(huge()).included(huge()).build(),
        have_budget_utilization_above(3.5, &budget(i64::MAX)),
        "HaveBudgetUtilizationAbove(3.5) failed: computed utilization was 2.000000 \
         (includedTokens=18446744073709551614, budget.MaxTokens=9223372036854775807).",
    );
}

#[test]
fn have_kind_coverage_count() {
    let error = assert_fails!(
        window().build(),
        have_kind_coverage_count(4),
        "HaveKindCoverageCount(4) failed: expected at least 4 distinct ContextKind values in \
         Included, but found 3: [Message, SystemPrompt, ToolOutput].",
    );
    assert_eq!(
        parts(&error),
        [
            "HaveKindCoverageCount",
            "at least 4 distinct kinds among the included items",
            "3 distinct kinds: [Message, SystemPrompt, ToolOutput]",
        ],
    );
    assert_fails!(
        empty(),
        have_kind_coverage_count(1),
        "HaveKindCoverageCount(1) failed: expected at least 1 distinct ContextKind values in \
         Included, but found 0: [].",
    );
}

#[test]
fn place_item_at_edge() {
    let error = assert_fails!(
        window().build(),
        place_item_at_edge(|i| *i.item.kind() == ContextKind::message()),
        "PlaceItemAtEdge failed: item matching predicate was at index 1 (not at edge). Edge \
         positions: 0 and 3. Included had 4 items.",
    );
    assert_eq!(
        parts(&error),
        [
            "PlaceItemAtEdge",
            "an item that matches the predicate at the first or last position",
            "first match at index 1 of 4 items",
        ],
    );
    let error = assert_fails!(
        window().build(),
        place_item_at_edge(|_| false),
        "PlaceItemAtEdge failed: no item in Included matched the predicate.",
    );
    assert_eq!(error.actual(), "0 of 4 included items matched");
    assert_fails!(
        empty(),
        place_item_at_edge(|_| true),
        "PlaceItemAtEdge failed: no item in Included matched the predicate.",
    );
}

#[test]
fn place_top_n_scored_at_edges() {
    let error = assert_fails!(
        placed(&[0.9, 0.1, 0.8, 0.7, 0.2, 0.3]),
        place_top_n_scored_at_edges(4),
        "PlaceTopNScoredAtEdges(4) failed: 2 of the top-4 scored items were not at expected edge \
         positions. Top-4 items (by score): [(kind=Message, score=0.9, idx=0), (kind=Message, \
         score=0.8, idx=2), (kind=Message, score=0.7, idx=3), (kind=Message, score=0.3, idx=5)]. \
         Expected edge positions: [0, 5, 1, 4].",
    );
    assert_eq!(
        parts(&error),
        [
            "PlaceTopNScoredAtEdges",
            "the top-4 scored items at positions [0, 5, 1, 4]",
            "2 not there; top-4 items: [(kind=Message, score=0.9, idx=0), (kind=Message, \
             score=0.8, idx=2), (kind=Message, score=0.7, idx=3), (kind=Message, score=0.3, \
             idx=5)]",
        ],
    );
}

#[test]
fn of_tied_items_those_at_an_edge_are_listed_among_the_top() {
    assert_fails!(
        placed(&[0.5, 0.9, 0.5, 0.5]),
        place_top_n_scored_at_edges(2),
        "PlaceTopNScoredAtEdges(2) failed: 1 of the top-2 scored items were not at expected edge \
         positions. Top-2 items (by score): [(kind=Message, score=0.9, idx=1), (kind=Message, \
         score=0.5, idx=0)]. Expected edge positions: [0, 3].",
    );
}

#[test]
fn of_equal_scores_the_earlier_position_is_listed_first() {
    assert_fails!(
        placed(&[0.1, 0.5, 0.2, 0.5]),
        place_top_n_scored_at_edges(2),
        "PlaceTopNScoredAtEdges(2) failed: 1 of the top-2 scored items were not at expected edge \
         positions. Top-2 items (by score): [(kind=Message, score=0.5, idx=1), (kind=Message, \
         score=0.5, idx=3)]. Expected edge positions: [0, 3].",
    );
}

#[test]
fn more_top_items_than_the_window_holds_is_said_so() {
    assert_fails!(
        placed(&[0.5, 0.9]),
        place_top_n_scored_at_edges(5),
        "PlaceTopNScoredAtEdges(5) failed: 3 of the top-5 scored items were not at expected edge \
         positions. Top-5 items (by score): [(kind=Message, score=0.9, idx=1), (kind=Message, \
         score=0.5, idx=0)]. Expected edge positions: [0, 1]. Included had 2 items, fewer than \
         n=5.",
    );
    assert_fails!(
        empty(),
        place_top_n_scored_at_edges(1),
        "PlaceTopNScoredAtEdges(1) failed: 1 of the top-1 scored items were not at expected edge \
         positions. Top-1 items (by score): []. Expected edge positions: []. Included had 0 \
         items, fewer than n=1.",
    );
}

#[test]
fn in_a_chain_over_several_lines_the_panic_is_at_the_line_of_the_assertion() {
    let report = window().build();
    let line = line!();
    let caught = caught(|| {
        report
            .should()
            .include_item_with_kind(ContextKind::message())
            .have_kind_coverage_count(9)
            .have_at_least_n_exclusions(0);
    });
    assert_eq!((caught.file.as_str(), caught.line), (file!(), line + 5));
}

#[test]
fn a_helper_that_tracks_its_caller_is_looked_through() {
    #[track_caller]
    fn leaves_nothing_out(report: &SelectionReport) {
        report.should().have_no_exclusions_for_kind(ContextKind::document());
    }
    let caught = caught(|| leaves_nothing_out(&left_out()));
    assert_eq!(caught.line, line!() - 1);
}

#[test]
fn the_builders_panic_at_the_line_of_the_caller() {
    let line = line!();
    let lines = [
        caught(|| drop(item("", 1).build())).line,
        caught(|| drop(item("a", 1).kind("").build())).line,
        caught(|| drop(item("a", 1).timestamp("").build())).line,
        caught(|| drop(budget(-1))).line,
        caught(|| drop(item("a", 1).with(|_| ContextItemBuilder::new("", 1)).build())).line,
    ];
    assert_eq!(lines, [line + 2, line + 3, line + 4, line + 5, line + 6]);
}

#[test]
fn a_failure_is_an_error_that_can_be_passed_on() {
    fn fails() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        empty().check().have_at_least_n_exclusions(1)?;
        Ok(())
    }
    let error = fails().unwrap_err();
    let error = error.downcast_ref::<SelectionReportAssertionError>().unwrap();
    assert_eq!(error.assertion(), "HaveAtLeastNExclusions");
}
