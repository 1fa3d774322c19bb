//! The library's report in the words of the protocol.

use cupel::{
    ContextBudget, CountRequirementShortfall, IncludedItem, InclusionReason, SelectionReport,
    StageTraceSnapshot, TraceCollector, TraceEvent,
};

use crate::oracle::order::descending;
use crate::protocol::{Decision, OverflowEvent, Reason, Report, Shortfall, StageCount};

/// Keeps what a finished run reports.
#[derive(Debug, Default)]
pub(super) struct Recorder(Report);

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
        self.0 = self::report(report);
        self.0.stages = Some(stage_snapshots.iter().map(stage_count).collect());
    }
}

impl Recorder {
    pub(super) fn report(self) -> Report {
        self.0
    }
}

/// The report without stage counts, which only a collector gets.
pub fn report(report: &SelectionReport) -> Report {
    let included = report.included.iter().map(|included| Decision {
        index: index(included.position),
        score: included.score,
        reason: Reason::named(included.reason.name()),
    });
    let excluded = report.excluded.iter().map(|excluded| {
        // The wire form of a reason is what the protocol has.
        let reason = serde_json::to_value(&excluded.reason).and_then(serde_json::from_value);
        let reason =
            reason.unwrap_or_else(|error| Reason::named(format!("not serializable: {error}")));
        Decision { index: index(excluded.position), score: excluded.score, reason }
    });
    Report {
        included: Some(included.collect()),
        excluded: Some(excluded.collect()),
        total_candidates: Some(report.total_candidates),
        total_tokens_considered: Some(report.total_tokens_considered),
        count_requirement_shortfalls: Some(
            report.count_requirement_shortfalls.iter().map(shortfall).collect(),
        ),
        overflow: report.overflow.as_ref().map(|event| overflow(event, &report.included)),
        stages: None,
    }
}

/// Item count that a collector is told for a stage.
pub fn stage_count(snapshot: &StageTraceSnapshot) -> StageCount {
    StageCount {
        stage: snapshot.stage.name().to_owned(),
        item_count_in: snapshot.item_count_in,
        item_count_out: snapshot.item_count_out,
    }
}

/// A position; one that does not exist where the library has lost it.
fn index(position: Option<usize>) -> usize {
    position.unwrap_or(usize::MAX)
}

/// The event has items, no positions. They are the window's, since nothing is dropped: pinned ones
/// in input order, then the others, best first.
fn overflow(event: &cupel::OverflowEvent, included: &[IncludedItem]) -> OverflowEvent {
    let is_pinned = |one: &&IncludedItem| one.reason == InclusionReason::Pinned;
    let (mut merged, mut scored): (Vec<_>, Vec<_>) = included.iter().partition(is_pinned);
    merged.sort_by_key(|one| one.position);
    scored.sort_by(|a, b| descending(a.score, b.score).then(a.position.cmp(&b.position)));
    merged.append(&mut scored);
    let items = &event.overflowing_items;
    let is_same = merged.len() == items.len()
        && merged.iter().zip(items).all(|(one, item)| one.item.is_same_item(item));
    let positions = merged.iter().map(|one| if is_same { index(one.position) } else { usize::MAX });
    OverflowEvent {
        tokens_over_budget: event.tokens_over_budget,
        overflowing_items: positions.collect(),
    }
}

pub(super) fn shortfall(shortfall: &CountRequirementShortfall) -> Shortfall {
    Shortfall {
        kind: shortfall.kind.clone(),
        required_count: shortfall.required_count,
        satisfied_count: shortfall.satisfied_count,
    }
}
