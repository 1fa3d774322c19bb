//! Figures about the use of a budget.

use std::collections::HashSet;

use crate::model::TokenSum;
use crate::slicer::{QuotaConstraintMode, QuotaPolicy};
use crate::{ContextBudget, ContextKind, SelectionReport};

/// Tokens of the window as a share of the budget's maximum; 0.0 for a budget of 0.
#[must_use]
pub fn budget_utilization(report: &SelectionReport, budget: &ContextBudget) -> f64 {
    let tokens: TokenSum = report.included.iter().map(|included| included.item.tokens()).sum();
    ratio(tokens.0 as f64, budget.max_tokens() as f64)
}

/// Number of different kinds the window holds.
#[must_use]
pub fn kind_diversity(report: &SelectionReport) -> usize {
    let kinds: HashSet<&ContextKind> =
        report.included.iter().map(|included| included.item.kind()).collect();
    kinds.len()
}

/// The share of the window's items that have a timestamp; 0.0 for an empty window.
#[must_use]
pub fn timestamp_coverage(report: &SelectionReport) -> f64 {
    let dated = report.included.iter().filter(|included| included.item.timestamp().is_some());
    ratio(dated.count() as f64, report.included.len() as f64)
}

/// Share of one kind's quota that a window uses.
#[derive(Debug, Clone, PartialEq)]
pub struct KindQuotaUtilization {
    /// The kind.
    pub kind: ContextKind,
    /// Unit of the numbers.
    pub mode: QuotaConstraintMode,
    /// At least this much is required.
    pub require: f64,
    /// At most this much is allowed.
    pub cap: f64,
    /// This much is there.
    pub actual: f64,
    /// `actual` as a share of `cap`, within 0.0 and 1.0; 0.0 for a cap of 0.
    pub utilization: f64,
}

/// Use of the quotas of a slicer by a window: one entry per constraint, sorted by kind.
///
/// Percentages are of the budget's target tokens.
#[must_use]
pub fn quota_utilization(
    report: &SelectionReport,
    policy: &dyn QuotaPolicy,
    budget: &ContextBudget,
) -> Vec<KindQuotaUtilization> {
    let mut utilizations: Vec<KindQuotaUtilization> = policy
        .quota_constraints()
        .into_iter()
        .map(|constraint| {
            let of_kind =
                report.included.iter().filter(|included| *included.item.kind() == constraint.kind);
            let actual = match constraint.mode {
                QuotaConstraintMode::Percentage => {
                    let tokens: TokenSum = of_kind.map(|included| included.item.tokens()).sum();
                    ratio(tokens.0 as f64, budget.target_tokens() as f64) * 100.0
                }
                QuotaConstraintMode::Count => of_kind.count() as f64,
            };
            KindQuotaUtilization {
                kind: constraint.kind,
                mode: constraint.mode,
                require: constraint.require,
                cap: constraint.cap,
                actual,
                utilization: ratio(actual, constraint.cap).clamp(0.0, 1.0),
            }
        })
        .collect();
    utilizations.sort_by(|a, b| a.kind.as_str().cmp(b.kind.as_str()));
    utilizations
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { part / whole }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::{IncludedItem, InclusionReason};
    use crate::{
        ContextItemBuilder, CountQuotaEntry, CountQuotaSlice, GreedySlice, QuotaEntry, QuotaSlice,
        ScarcityBehavior,
    };

    fn kind(name: &str) -> ContextKind {
        ContextKind::new(name).unwrap()
    }

    fn report(items: &[(&str, i64)]) -> SelectionReport {
        let included = items.iter().enumerate().map(|(i, (name, tokens))| {
            let mut item = ContextItemBuilder::new("x", *tokens).kind(kind(name));
            if i == 0 {
                item = item.timestamp("2025-01-01T00:00:00Z".parse().unwrap());
            }
            IncludedItem::new(item.build().unwrap(), 0.5, InclusionReason::Scored)
        });
        SelectionReport::of(included.collect(), vec![])
    }

    #[test]
    fn utilization_is_of_the_maximum_not_the_target() {
        let budget = ContextBudget::builder(100).target_tokens(50).build().unwrap();
        assert_eq!(budget_utilization(&report(&[("a", 20), ("b", 5)]), &budget), 0.25);
        assert_eq!(budget_utilization(&report(&[]), &budget), 0.0);
    }

    #[test]
    fn utilization_of_a_zero_budget_is_zero_not_nan() {
        let budget = ContextBudget::builder(0).build().unwrap();
        assert_eq!(budget_utilization(&report(&[("a", 0)]), &budget), 0.0);
    }

    #[test]
    fn spellings_of_a_kind_are_one_kind() {
        assert_eq!(kind_diversity(&report(&[("a", 1), ("A", 1), ("b", 1)])), 2);
        assert_eq!(kind_diversity(&report(&[])), 0);
    }

    #[test]
    fn coverage_is_the_share_of_dated_items() {
        assert_eq!(timestamp_coverage(&report(&[("a", 1), ("a", 1), ("a", 1), ("a", 1)])), 0.25);
        assert_eq!(timestamp_coverage(&report(&[])), 0.0);
    }

    #[test]
    fn percentages_are_of_the_target_and_sorted_by_kind() {
        let entries = [("b", 10.0, 50.0), ("a", 0.0, 0.0), ("c", 0.0, 20.0)];
        let entries = entries.map(|(k, r, c)| QuotaEntry::new(kind(k), r, c).unwrap());
        let slicer = QuotaSlice::new(entries.into(), Box::new(GreedySlice)).unwrap();
        let budget = ContextBudget::builder(500).target_tokens(100).build().unwrap();
        let found = quota_utilization(&report(&[("B", 25), ("a", 5), ("c", 90)]), &slicer, &budget);
        let found: Vec<_> =
            found.iter().map(|u| (u.kind.as_str(), u.actual, u.utilization)).collect();
        assert_eq!(found, [("a", 5.0, 0.0), ("b", 25.0, 0.5), ("c", 90.0, 1.0)]);
    }

    #[test]
    fn counts_are_counted() {
        let entries = vec![CountQuotaEntry::new(kind("tool"), 1, 4).unwrap()];
        let slicer =
            CountQuotaSlice::new(entries, Box::new(GreedySlice), ScarcityBehavior::Degrade)
                .unwrap();
        let budget = ContextBudget::builder(0).build().unwrap();
        let found = quota_utilization(&report(&[("Tool", 9), ("x", 1)]), &slicer, &budget);
        assert_eq!((found[0].actual, found[0].utilization, found[0].cap), (1.0, 0.25, 4.0));
    }
}
