//! A report in the making.

use super::{
    CountRequirementShortfall, ExcludedItem, IncludedItem, OverflowEvent, SelectionReport,
    TraceEvent,
};

/// Gathers what a report consists of, in the order in which it happens.
#[derive(Debug, Default)]
pub(crate) struct ReportDraft(SelectionReport);

impl ReportDraft {
    pub(crate) fn event(&mut self, event: TraceEvent) {
        self.0.events.push(event);
    }

    pub(crate) fn included(&mut self, included: IncludedItem) {
        self.0.included.push(included);
    }

    pub(crate) fn excluded(&mut self, excluded: ExcludedItem) {
        self.0.excluded.push(excluded);
    }

    pub(crate) fn candidates(&mut self, total: usize, total_tokens: i64) {
        self.0.total_candidates = total;
        self.0.total_tokens_considered = total_tokens;
    }

    pub(crate) fn shortfall(&mut self, shortfall: CountRequirementShortfall) {
        self.0.count_requirement_shortfalls.push(shortfall);
    }

    pub(crate) fn overflow(&mut self, overflow: OverflowEvent) {
        self.0.overflow = Some(overflow);
    }

    /// Report of everything gathered so far, exclusions still in the order in which they happened.
    #[cfg(feature = "serde")]
    pub(crate) fn so_far(&self) -> &SelectionReport {
        &self.0
    }

    #[cfg(feature = "serde")]
    pub(crate) fn resume(report: SelectionReport) -> Self {
        Self(report)
    }

    pub(crate) fn finish(mut self) -> SelectionReport {
        self.0.sort_excluded();
        self.0
    }
}
