//! Assertions about the report as a whole: counts, order, budget and kinds.

use cupel::{ContextBudget, budget_utilization, compare_scores};

use crate::inclusion::kinds_of;
use crate::{OnFailure, SelectionReportAssertionChain, SelectionReportAssertionError};

impl<'a, F: OnFailure> SelectionReportAssertionChain<'a, F> {
    /// At least `n` items were left out. With `n` = 0 it always holds.
    ///
    /// # Example
    ///
    /// ```
    /// use cupel_testing::{SelectionReportAssertions, item, report};
    ///
    /// let report = report().over_budget(item("long", 90), 40).build();
    /// report.should().have_at_least_n_exclusions(1);
    /// ```
    #[track_caller]
    pub fn have_at_least_n_exclusions(self, n: usize) -> F::Outcome<'a> {
        let actual = self.report().excluded.len();
        self.require(actual >= n, || SelectionReportAssertionError {
            assertion: "HaveAtLeastNExclusions",
            expected: format!("at least {n} excluded items"),
            actual: format!("{actual} excluded items"),
            message: format!(
                "HaveAtLeastNExclusions({n}) failed: expected at least {n} excluded items, but \
                 Excluded had {actual}."
            ),
        })
    }

    /// No excluded item has a higher score than the one before it.
    ///
    /// Every report of a pipeline fulfils this; the assertion is for reports made by hand or by
    /// another implementation. Equal scores may stand in any order, and NaN comes last, as in the
    /// library.
    ///
    /// # Example
    ///
    /// ```
    /// use cupel_testing::{SelectionReportAssertions, item, report};
    ///
    /// let report = report()
    ///     .over_budget(item("good", 90).score(0.9), 40)
    ///     .over_budget(item("fair", 80).score(0.5), 40)
    ///     .build();
    /// report.should().excluded_items_are_sorted_by_score_descending();
    /// ```
    #[track_caller]
    pub fn excluded_items_are_sorted_by_score_descending(self) -> F::Outcome<'a> {
        let excluded = &self.report().excluded;
        let rise = excluded
            .windows(2)
            .position(|pair| compare_scores(pair[0].score, pair[1].score).is_gt());
        self.require(rise.is_none(), || {
            let at = rise.unwrap_or_default();
            let next = at + 1;
            let (score, next_score) = (excluded[at].score, excluded[next].score);
            SelectionReportAssertionError {
                assertion: "ExcludedItemsAreSortedByScoreDescending",
                expected: "non-increasing scores of excluded items".to_owned(),
                actual: format!("index {at}: score={score}, index {next}: score={next_score}"),
                message: format!(
                    "ExcludedItemsAreSortedByScoreDescending failed: item at index {next} \
                     (score={next_score}) is higher than item at index {at} (score={score}). \
                     Expected non-increasing scores."
                ),
            }
        })
    }

    /// The tokens of the window are at least this share of the budget's
    /// [`max_tokens`](ContextBudget::max_tokens).
    ///
    /// The comparison is an exact `>=`: choose a threshold that is not on the brink. The target of
    /// the budget plays no part. A budget of 0 is used to 0.0.
    ///
    /// # Example
    ///
    /// ```
    /// use cupel_testing::{SelectionReportAssertions, budget, item, report};
    ///
    /// let report = report().included(item("hello", 80)).build();
    /// report.should().have_budget_utilization_above(0.75, &budget(100));
    /// ```
    #[track_caller]
    pub fn have_budget_utilization_above(
        self,
        threshold: f64,
        budget: &ContextBudget,
    ) -> F::Outcome<'a> {
        let report = self.report();
        let utilization = budget_utilization(report, budget);
        self.require(utilization >= threshold, || {
            let tokens = report.included.iter().map(|included| i128::from(included.item.tokens()));
            let counts = format!(
                "includedTokens={}, budget.MaxTokens={}",
                tokens.sum::<i128>(),
                budget.max_tokens(),
            );
            SelectionReportAssertionError {
                assertion: "HaveBudgetUtilizationAbove",
                expected: format!("utilization >= {threshold}"),
                actual: format!("utilization {utilization} ({counts})"),
                message: format!(
                    "HaveBudgetUtilizationAbove({threshold}) failed: computed utilization was \
                     {utilization:.6} ({counts})."
                ),
            }
        })
    }

    /// The window holds at least `n` different kinds. With `n` = 0 it always holds.
    ///
    /// # Example
    ///
    /// ```
    /// use cupel_testing::{SelectionReportAssertions, item, report};
    ///
    /// let report =
    ///     report().included(item("hello", 5)).included(item("page", 5).kind("Document")).build();
    /// report.should().have_kind_coverage_count(2);
    /// ```
    #[track_caller]
    pub fn have_kind_coverage_count(self, n: usize) -> F::Outcome<'a> {
        let kinds = kinds_of(&self.report().included);
        let actual = kinds.len();
        self.require(actual >= n, || {
            let actual_kinds = kinds.join(", ");
            SelectionReportAssertionError {
                assertion: "HaveKindCoverageCount",
                expected: format!("at least {n} distinct kinds among the included items"),
                actual: format!("{actual} distinct kinds: [{actual_kinds}]"),
                message: format!(
                    "HaveKindCoverageCount({n}) failed: expected at least {n} distinct \
                     ContextKind values in Included, but found {actual}: [{actual_kinds}]."
                ),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SelectionReportAssertions, budget, item, report};
    use cupel::SelectionReport;

    fn excluded(scores: &[f64]) -> SelectionReport {
        let mut report =
            scores.iter().fold(report(), |r, s| r.over_budget(item("x", 9).score(*s), 1)).build();
        for (excluded, score) in report.excluded.iter_mut().zip(scores) {
            excluded.score = *score;
        }
        report
    }

    fn included(tokens: &[i64]) -> SelectionReport {
        tokens.iter().fold(report(), |report, t| report.included(item("x", *t))).build()
    }

    #[test]
    fn at_least_means_as_many_or_more() {
        let two = excluded(&[0.5, 0.4]);
        two.should().have_at_least_n_exclusions(0).have_at_least_n_exclusions(2);
        assert!(two.check().have_at_least_n_exclusions(3).is_err());
        excluded(&[]).should().have_at_least_n_exclusions(0);
        assert!(excluded(&[]).check().have_at_least_n_exclusions(1).is_err());
    }

    #[test]
    fn none_one_falling_and_equal_scores_are_sorted() {
        for scores in [&[][..], &[0.3], &[0.9, 0.5, 0.1], &[0.5, 0.5], &[0.0, -0.0, 0.0]] {
            excluded(scores).should().excluded_items_are_sorted_by_score_descending();
        }
    }

    #[test]
    fn a_rising_pair_is_not_sorted_wherever_it_is() {
        for scores in [&[0.1, 0.2][..], &[0.9, 0.5, 0.6], &[0.5, f64::INFINITY]] {
            let report = excluded(scores);
            assert!(report.check().excluded_items_are_sorted_by_score_descending().is_err());
        }
    }

    #[test]
    fn nan_is_sorted_at_the_end_only() {
        excluded(&[0.5, f64::NAN, f64::NAN])
            .should()
            .excluded_items_are_sorted_by_score_descending();
        let report = excluded(&[f64::NAN, 0.5]);
        assert!(report.check().excluded_items_are_sorted_by_score_descending().is_err());
    }

    #[test]
    fn utilization_is_of_the_maximum_and_compared_exactly() {
        let budget = ContextBudget::builder(100).target_tokens(50).build().unwrap();
        let report = included(&[20, 30]);
        report.should().have_budget_utilization_above(0.5, &budget);
        let above = f64::from_bits(0.5_f64.to_bits() + 1);
        assert!(report.check().have_budget_utilization_above(above, &budget).is_err());
    }

    #[test]
    fn an_empty_window_or_budget_is_used_to_zero() {
        included(&[]).should().have_budget_utilization_above(0.0, &budget(100));
        assert!(included(&[]).check().have_budget_utilization_above(0.01, &budget(100)).is_err());
        included(&[7]).should().have_budget_utilization_above(0.0, &budget(0));
        assert!(included(&[7]).check().have_budget_utilization_above(0.1, &budget(0)).is_err());
    }

    #[test]
    fn a_threshold_above_one_needs_a_window_over_budget() {
        assert!(included(&[100]).check().have_budget_utilization_above(1.1, &budget(100)).is_err());
        included(&[120]).should().have_budget_utilization_above(1.1, &budget(100));
    }

    #[test]
    fn nothing_is_above_nan() {
        assert!(
            included(&[9]).check().have_budget_utilization_above(f64::NAN, &budget(9)).is_err()
        );
    }

    #[test]
    fn kinds_are_counted_once_in_any_spelling() {
        let report = report()
            .included(item("a", 1))
            .included(item("b", 1).kind("MESSAGE"))
            .included(item("c", 1).kind("Document"))
            .over_budget(item("d", 1).kind("Memory"), 0)
            .build();
        report.should().have_kind_coverage_count(2).have_kind_coverage_count(0);
        assert!(report.check().have_kind_coverage_count(3).is_err());
    }

    #[test]
    fn an_empty_window_covers_no_kind() {
        included(&[]).should().have_kind_coverage_count(0);
        assert!(included(&[]).check().have_kind_coverage_count(1).is_err());
    }
}
