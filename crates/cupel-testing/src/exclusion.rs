//! Assertions about what was left out, and why.

use std::borrow::Borrow;
use std::fmt;

use cupel::{ContextKind, ExcludedItem, ExclusionReason};

use crate::{
    ExclusionReasonKind, OnFailure, SelectionReportAssertionChain, SelectionReportAssertionError,
    list,
};

impl<'a, F: OnFailure> SelectionReportAssertionChain<'a, F> {
    /// At least one item was left out for the reason. Its details are not compared.
    ///
    /// # Example
    ///
    /// ```
    /// use cupel_testing::{ExclusionReasonKind, SelectionReportAssertions, item, report};
    ///
    /// let report = report().over_budget(item("long", 90), 40).build();
    /// report.should().exclude_item_with_reason(ExclusionReasonKind::BudgetExceeded);
    /// ```
    #[track_caller]
    pub fn exclude_item_with_reason(
        self,
        reason: impl Into<ExclusionReasonKind>,
    ) -> F::Outcome<'a> {
        let reason = reason.into();
        let excluded = &self.report().excluded;
        let holds = excluded.iter().any(|excluded| has_reason(excluded, reason));
        self.require(holds, || {
            let count = excluded.len();
            let reason_list = list::reasons(excluded.iter());
            SelectionReportAssertionError {
                assertion: "ExcludeItemWithReason",
                expected: format!("at least 1 excluded item with reason {reason}"),
                actual: format!("0 of {count} excluded items; reasons: [{reason_list}]"),
                message: format!(
                    "ExcludeItemWithReason({reason}) failed: no excluded item had reason \
                     {reason}. Excluded had {count} items with reasons: [{reason_list}]."
                ),
            }
        })
    }

    /// At least one item that satisfies the predicate was left out for the reason.
    ///
    /// # Example
    ///
    /// ```
    /// use cupel_testing::{ExclusionReasonKind, SelectionReportAssertions, item, report};
    ///
    /// let report = report().over_budget(item("long", 90), 40).build();
    /// report.should().exclude_item_matching_with_reason(
    ///     |e| e.item.content() == "long",
    ///     ExclusionReasonKind::BudgetExceeded,
    /// );
    /// ```
    #[track_caller]
    pub fn exclude_item_matching_with_reason(
        self,
        predicate: impl FnMut(&ExcludedItem) -> bool,
        reason: impl Into<ExclusionReasonKind>,
    ) -> F::Outcome<'a> {
        let reason = reason.into();
        let matched = matching(&self.report().excluded, predicate);
        let holds = matched.iter().any(|excluded| has_reason(excluded, reason));
        self.require(holds, || {
            let count = matched.len();
            let actual_reasons = list::reasons(matched.iter().copied());
            SelectionReportAssertionError {
                assertion: "ExcludeItemMatchingWithReason",
                expected: format!(
                    "at least 1 excluded item that matches the predicate with reason {reason}"
                ),
                actual: format!("{count} matching items; reasons: [{actual_reasons}]"),
                message: format!(
                    "ExcludeItemMatchingWithReason(reason={reason}) failed: predicate matched \
                     {count} excluded item(s) but none had reason {reason}. Matched items had \
                     reasons: [{actual_reasons}]."
                ),
            }
        })
    }

    /// At least one item that satisfies the predicate was left out as
    /// [`BudgetExceeded`](ExclusionReason::BudgetExceeded) with exactly these token counts.
    ///
    /// On failure the message shows the counts of the first matching item with that reason; if
    /// there is none, the reasons of those that did match.
    ///
    /// # Example
    ///
    /// ```
    /// use cupel_testing::{SelectionReportAssertions, item, report};
    ///
    /// let report = report().over_budget(item("long", 90), 40).build();
    /// report.should().exclude_item_with_budget_details(|e| e.item.content() == "long", 90, 40);
    /// ```
    #[track_caller]
    pub fn exclude_item_with_budget_details(
        self,
        predicate: impl FnMut(&ExcludedItem) -> bool,
        expected_item_tokens: i64,
        expected_available_tokens: i64,
    ) -> F::Outcome<'a> {
        let excluded = &self.report().excluded;
        let matched = matching(excluded, predicate);
        let expected = BudgetDetails {
            item_tokens: expected_item_tokens,
            available_tokens: expected_available_tokens,
        };
        let holds = matched.iter().any(|excluded| BudgetDetails::of(excluded) == Some(expected));
        self.require(holds, || {
            let found = matched.iter().find_map(|excluded| BudgetDetails::of(excluded));
            let (but, actual) = match found {
                Some(details) => ("but found", details.to_string()),
                None => ("but", no_budget_details(&matched, excluded.len())),
            };
            SelectionReportAssertionError {
                assertion: "ExcludeItemWithBudgetDetails",
                expected: format!("BudgetExceeded with {expected}"),
                message: format!(
                    "ExcludeItemWithBudgetDetails failed: expected BudgetExceeded with \
                     {expected}, {but} {actual}."
                ),
                actual,
            }
        })
    }

    /// No excluded item has the kind. Holds if nothing was left out.
    ///
    /// Whether the kind is *in the window* is the business of
    /// [`include_item_with_kind`](Self::include_item_with_kind).
    ///
    /// # Example
    ///
    /// ```
    /// use cupel::ContextKind;
    /// use cupel_testing::{SelectionReportAssertions, item, report};
    ///
    /// let report = report().over_budget(item("long", 90).kind("Document"), 40).build();
    /// report.should().have_no_exclusions_for_kind(ContextKind::message());
    /// ```
    #[track_caller]
    pub fn have_no_exclusions_for_kind(self, kind: impl Borrow<ContextKind>) -> F::Outcome<'a> {
        let kind: &ContextKind = kind.borrow();
        let of_kind = matching(&self.report().excluded, |excluded| excluded.item.kind() == kind);
        self.require(of_kind.is_empty(), || {
            let count = of_kind.len();
            let first = format!("score={}, reason={}", of_kind[0].score, of_kind[0].reason.name());
            SelectionReportAssertionError {
                assertion: "HaveNoExclusionsForKind",
                expected: format!("no excluded item with Kind={kind}"),
                actual: format!("{count} excluded items; first: {first}"),
                message: format!(
                    "HaveNoExclusionsForKind({kind}) failed: found {count} excluded item(s) with \
                     Kind={kind}. First: {first}."
                ),
            }
        })
    }
}

fn has_reason(excluded: &ExcludedItem, reason: ExclusionReasonKind) -> bool {
    ExclusionReasonKind::from(&excluded.reason) == reason
}

fn matching(
    excluded: &[ExcludedItem],
    mut predicate: impl FnMut(&ExcludedItem) -> bool,
) -> Vec<&ExcludedItem> {
    excluded.iter().filter(|excluded| predicate(excluded)).collect()
}

/// Fields of `BudgetExceeded`.
#[derive(Clone, Copy, PartialEq)]
struct BudgetDetails {
    item_tokens: i64,
    available_tokens: i64,
}

impl BudgetDetails {
    fn of(excluded: &ExcludedItem) -> Option<Self> {
        match excluded.reason {
            ExclusionReason::BudgetExceeded { item_tokens, available_tokens } => {
                Some(Self { item_tokens, available_tokens })
            }
            _ => None,
        }
    }
}

impl fmt::Display for BudgetDetails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { item_tokens, available_tokens } = self;
        write!(f, "item_tokens={item_tokens}, available_tokens={available_tokens}")
    }
}

/// Description of the exclusions when none is over budget.
fn no_budget_details(matched: &[&ExcludedItem], excluded_count: usize) -> String {
    format!(
        "no matching item had reason BudgetExceeded. Predicate matched {} of {excluded_count} \
         excluded item(s) with reasons: [{}]",
        matched.len(),
        list::reasons(matched.iter().copied()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SelectionReportAssertions, item, report};
    use cupel::SelectionReport;

    fn duplicate() -> ExclusionReason {
        ExclusionReason::Deduplicated { deduplicated_against: "a".into() }
    }

    fn left_out() -> SelectionReport {
        report()
            .included(item("a", 10).score(0.9))
            .over_budget(item("big", 300).kind("Document").score(0.8), 90)
            .over_budget(item("bigger", 400).kind("Document").score(0.7), 90)
            .excluded(item("a", 10).score(0.6), duplicate())
            .build()
    }

    #[test]
    fn a_reason_is_found_by_its_variant_whatever_its_details() {
        let other = ExclusionReason::BudgetExceeded { item_tokens: -1, available_tokens: -1 };
        left_out()
            .should()
            .exclude_item_with_reason(ExclusionReasonKind::Deduplicated)
            .exclude_item_with_reason(&other)
            .exclude_item_with_reason(other);
    }

    #[test]
    fn a_reason_that_nothing_has_fails() {
        let (left_out, empty) = (left_out(), SelectionReport::default());
        let absent = ExclusionReasonKind::Filtered;
        assert!(left_out.check().exclude_item_with_reason(absent).is_err());
        assert!(empty.check().exclude_item_with_reason(absent).is_err());
    }

    #[test]
    fn reserved_and_unknown_reasons_can_be_asserted() {
        let unknown = ExclusionReason::Unknown { name: "TooRude".into(), fields: vec![] };
        report()
            .excluded(item("a", 1), ExclusionReason::ScoredTooLow { score: 0.1, threshold: 0.2 })
            .excluded(item("b", 1), unknown)
            .build()
            .should()
            .exclude_item_with_reason(ExclusionReasonKind::ScoredTooLow)
            .exclude_item_with_reason(ExclusionReasonKind::Unknown);
    }

    #[test]
    fn predicate_and_reason_must_hold_for_the_same_item() {
        let left_out = left_out();
        let is_a = |e: &ExcludedItem| e.item.content() == "a";
        let (over, same) = (ExclusionReasonKind::BudgetExceeded, ExclusionReasonKind::Deduplicated);
        left_out.should().exclude_item_matching_with_reason(is_a, same);
        assert!(left_out.check().exclude_item_matching_with_reason(is_a, over).is_err());
        assert!(left_out.check().exclude_item_matching_with_reason(|_| false, same).is_err());
        let empty = SelectionReport::default();
        assert!(empty.check().exclude_item_matching_with_reason(|_| true, same).is_err());
    }

    #[test]
    fn an_exclusion_predicate_sees_score_and_reason() {
        let over = ExclusionReasonKind::BudgetExceeded;
        left_out().should().exclude_item_matching_with_reason(|e| e.score > 0.75, over);
        let sees_reason = |e: &ExcludedItem| e.reason == duplicate();
        left_out().should().exclude_item_matching_with_reason(sees_reason, duplicate());
    }

    #[test]
    fn any_match_with_the_expected_token_counts_passes() {
        left_out()
            .should()
            .exclude_item_with_budget_details(|_| true, 300, 90)
            .exclude_item_with_budget_details(|_| true, 400, 90);
    }

    #[test]
    fn token_counts_are_exact_and_those_of_one_item() {
        let left_out = left_out();
        for (item_tokens, available_tokens) in [(301, 90), (300, 89), (90, 300)] {
            let checked = left_out.check().exclude_item_with_budget_details(
                |_| true,
                item_tokens,
                available_tokens,
            );
            assert!(checked.is_err());
        }
        let big = |e: &ExcludedItem| e.item.content() == "big";
        assert!(left_out.check().exclude_item_with_budget_details(big, 400, 90).is_err());
    }

    #[test]
    fn budget_details_need_a_match_that_was_over_budget() {
        let (left_out, empty) = (left_out(), SelectionReport::default());
        let is_a = |e: &ExcludedItem| e.item.content() == "a";
        assert!(left_out.check().exclude_item_with_budget_details(is_a, 10, 90).is_err());
        assert!(left_out.check().exclude_item_with_budget_details(|_| false, 300, 90).is_err());
        assert!(empty.check().exclude_item_with_budget_details(|_| true, 0, 0).is_err());
    }

    #[test]
    fn available_tokens_may_be_negative() {
        let report = report().over_budget(item("a", 1), -20).build();
        report.should().exclude_item_with_budget_details(|_| true, 1, -20);
    }

    #[test]
    fn a_kind_without_exclusions_holds_even_if_it_was_no_candidate() {
        let left_out = left_out();
        left_out.should().have_no_exclusions_for_kind(ContextKind::memory());
        assert!(left_out.check().have_no_exclusions_for_kind(ContextKind::message()).is_err());
        let spelled = ContextKind::new("DOCUMENT").unwrap();
        assert!(left_out.check().have_no_exclusions_for_kind(&spelled).is_err());
        SelectionReport::default().should().have_no_exclusions_for_kind(spelled);
    }
}
