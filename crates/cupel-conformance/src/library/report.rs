//! The library's report, by position instead of by item.

use cupel::{
    ContextBudget, ContextItem, CountRequirementShortfall, ExcludedItem, SelectionReport,
    StageTraceSnapshot, TraceCollector, TraceEvent,
};

use crate::protocol::{Decision, OverflowEvent, Reason, Report, Shortfall, StageCount};

/// Keeps what a finished run reports.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    report: SelectionReport,
    stages: Vec<StageCount>,
}

impl TraceCollector for Recorder {
    fn is_enabled(&self) -> bool {
        true
    }

    fn record_stage_event(&mut self, _event: TraceEvent) {}

    fn record_item_event(&mut self, _event: TraceEvent) {}

    fn on_pipeline_completed(
        &mut self,
        report: &SelectionReport,
        _budget: &ContextBudget,
        stage_snapshots: &[StageTraceSnapshot],
    ) {
        self.report = report.clone();
        let stages = stage_snapshots.iter().map(|snapshot| StageCount {
            stage: snapshot.stage.name().to_owned(),
            item_count_in: snapshot.item_count_in,
            item_count_out: snapshot.item_count_out,
        });
        self.stages = stages.collect();
    }
}

impl Recorder {
    pub(super) fn report(self, items: &[ContextItem]) -> Report {
        Report { stages: Some(self.stages), ..report(&self.report, items) }
    }
}

/// The report without stage counts, which only a collector gets.
pub(super) fn report(report: &SelectionReport, items: &[ContextItem]) -> Report {
    let included = report.included.iter().map(|included| Decision {
        index: position(&included.item, items),
        score: included.score,
        reason: Reason::named(included.reason.name()),
    });
    Report {
        included: Some(included.collect()),
        excluded: Some(report.excluded.iter().map(|item| excluded(item, items)).collect()),
        total_candidates: Some(report.total_candidates),
        total_tokens_considered: Some(report.total_tokens_considered),
        count_requirement_shortfalls: Some(
            report.count_requirement_shortfalls.iter().map(shortfall).collect(),
        ),
        overflow: report.overflow.as_ref().map(|event| OverflowEvent {
            tokens_over_budget: event.tokens_over_budget,
            overflowing_items: positions(&event.overflowing_items, items),
        }),
        stages: None,
    }
}

fn excluded(excluded: &ExcludedItem, items: &[ContextItem]) -> Decision {
    // The wire form of a reason is what the protocol has.
    let reason = serde_json::to_value(&excluded.reason).and_then(serde_json::from_value);
    let reason = reason.unwrap_or_else(|error| Reason::named(format!("not serializable: {error}")));
    Decision { index: position(&excluded.item, items), score: excluded.score, reason }
}

pub(super) fn shortfall(shortfall: &CountRequirementShortfall) -> Shortfall {
    Shortfall {
        kind: shortfall.kind.clone(),
        required_count: shortfall.required_count,
        satisfied_count: shortfall.satisfied_count,
    }
}

/// Where an item is in the list; a position that does not exist if it is not.
pub(super) fn position(item: &ContextItem, items: &[ContextItem]) -> usize {
    items.iter().position(|other| other.is_same_item(item)).unwrap_or(usize::MAX)
}

pub(super) fn positions(found: &[ContextItem], items: &[ContextItem]) -> Vec<usize> {
    found.iter().map(|item| position(item, items)).collect()
}
