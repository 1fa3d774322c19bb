//! Assertions about what is in the window.

use std::borrow::Borrow;

use cupel::{ContextKind, IncludedItem};

use crate::{OnFailure, SelectionReportAssertionChain, SelectionReportAssertionError, list};

impl<'a, F: OnFailure> SelectionReportAssertionChain<'a, F> {
    /// At least one included item has the kind. Kinds compare without regard to case.
    ///
    /// # Example
    ///
    /// ```
    /// use cupel::ContextKind;
    /// use cupel_testing::{SelectionReportAssertions, item, report};
    ///
    /// let report = report().included(item("hello", 5)).build();
    /// report.should().include_item_with_kind(ContextKind::message());
    /// ```
    #[track_caller]
    pub fn include_item_with_kind(self, kind: impl Borrow<ContextKind>) -> F::Outcome<'a> {
        let kind: &ContextKind = kind.borrow();
        let included = &self.report().included;
        let holds = included.iter().any(|included| included.item.kind() == kind);
        self.require(holds, || {
            let count = included.len();
            let actual_kinds = kinds_of(included).join(", ");
            SelectionReportAssertionError {
                assertion: "IncludeItemWithKind",
                expected: format!("at least 1 included item with Kind={kind}"),
                actual: format!("0 of {count} included items; kinds: [{actual_kinds}]"),
                message: format!(
                    "IncludeItemWithKind({kind}) failed: Included contained 0 items with \
                     Kind={kind}. Included had {count} items with kinds: [{actual_kinds}]."
                ),
            }
        })
    }

    /// At least one included item satisfies the predicate.
    ///
    /// On failure the message also shows the first five included items.
    ///
    /// # Example
    ///
    /// ```
    /// use cupel_testing::{SelectionReportAssertions, item, report};
    ///
    /// let report = report().included(item("hello", 5).score(0.9)).build();
    /// report.should().include_item_matching(|i| i.item.content() == "hello" && i.score > 0.5);
    /// ```
    #[track_caller]
    pub fn include_item_matching(
        self,
        predicate: impl FnMut(&IncludedItem) -> bool,
    ) -> F::Outcome<'a> {
        let included = &self.report().included;
        let holds = included.iter().any(predicate);
        self.require(holds, || {
            let count = included.len();
            let shown = list::first_few(included, |included| {
                let IncludedItem { item, score, reason, .. } = included;
                format!("(kind={}, score={score}, reason={reason})", item.kind())
            });
            let items = if count > 0 { format!(" Items: [{shown}].") } else { String::new() };
            SelectionReportAssertionError {
                assertion: "IncludeItemMatching",
                expected: "at least 1 included item that matches the predicate".to_owned(),
                actual: format!("0 of {count} included items; items: [{shown}]"),
                message: format!(
                    "IncludeItemMatching failed: no item in Included matched the predicate. \
                     Included had {count} items.{items}"
                ),
            }
        })
    }

    /// Exactly `n` included items have the kind.
    ///
    /// With `n` = 0 no included item has it; whether an *excluded* one does is the business of
    /// [`have_no_exclusions_for_kind`](Self::have_no_exclusions_for_kind).
    ///
    /// # Example
    ///
    /// ```
    /// use cupel::ContextKind;
    /// use cupel_testing::{SelectionReportAssertions, item, report};
    ///
    /// let report = report().included(item("a", 5)).included(item("b", 5)).build();
    /// report
    ///     .should()
    ///     .include_exactly_n_items_with_kind(ContextKind::message(), 2)
    ///     .include_exactly_n_items_with_kind(ContextKind::document(), 0);
    /// ```
    #[track_caller]
    pub fn include_exactly_n_items_with_kind(
        self,
        kind: impl Borrow<ContextKind>,
        n: usize,
    ) -> F::Outcome<'a> {
        let kind: &ContextKind = kind.borrow();
        let included = &self.report().included;
        let actual = included.iter().filter(|included| included.item.kind() == kind).count();
        self.require(actual == n, || {
            let count = included.len();
            SelectionReportAssertionError {
                assertion: "IncludeExactlyNItemsWithKind",
                expected: format!("exactly {n} included items with Kind={kind}"),
                actual: format!("{actual} of {count} included items"),
                message: format!(
                    "IncludeExactlyNItemsWithKind({kind}, {n}) failed: expected {n} items with \
                     Kind={kind} in Included, but found {actual}. Included had {count} items \
                     total."
                ),
            }
        })
    }
}

/// The different kinds in the window, alphabetically.
pub(crate) fn kinds_of(included: &[IncludedItem]) -> Vec<&str> {
    list::kinds(included.iter().map(|included| included.item.kind()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SelectionReportAssertions, item, report};
    use cupel::{InclusionReason, SelectionReport};

    fn window() -> SelectionReport {
        report()
            .included(item("rules", 5).kind("SystemPrompt").pinned())
            .included(item("hello", 10).score(0.9))
            .included(item("again", 20).score(0.4))
            .over_budget(item("page", 500).kind("Document").score(0.7), 65)
            .build()
    }

    #[test]
    fn a_kind_is_found_in_any_spelling_by_value_or_reference() {
        let upper = ContextKind::new("MESSAGE").unwrap();
        window()
            .should()
            .include_item_with_kind(&upper)
            .include_item_with_kind(upper)
            .include_item_with_kind(ContextKind::system_prompt());
    }

    #[test]
    fn a_kind_that_was_only_excluded_is_not_included() {
        let (window, empty) = (window(), SelectionReport::default());
        assert!(window.check().include_item_with_kind(ContextKind::document()).is_err());
        assert!(empty.check().include_item_with_kind(ContextKind::message()).is_err());
    }

    #[test]
    fn a_predicate_sees_item_score_and_reason() {
        window()
            .should()
            .include_item_matching(|i| i.item.content() == "again")
            .include_item_matching(|i| i.score == 0.9)
            .include_item_matching(|i| i.reason == InclusionReason::Pinned);
    }

    #[test]
    fn a_predicate_that_matches_nothing_in_the_window_fails() {
        let (window, empty) = (window(), SelectionReport::default());
        assert!(window.check().include_item_matching(|i| i.item.content() == "page").is_err());
        assert!(empty.check().include_item_matching(|_| true).is_err());
    }

    #[test]
    fn counts_of_a_kind_are_exact() {
        let window = window();
        let message = ContextKind::message();
        window.should().include_exactly_n_items_with_kind(&message, 2);
        for n in [0, 1, 3] {
            assert!(window.check().include_exactly_n_items_with_kind(&message, n).is_err());
        }
    }

    #[test]
    fn none_of_a_kind_holds_although_one_was_excluded() {
        window().should().include_exactly_n_items_with_kind(ContextKind::document(), 0);
    }

    #[test]
    fn an_empty_window_has_none_of_any_kind() {
        let empty = SelectionReport::default();
        empty.should().include_exactly_n_items_with_kind(ContextKind::message(), 0);
        assert!(
            empty.check().include_exactly_n_items_with_kind(ContextKind::message(), 1).is_err()
        );
    }
}
