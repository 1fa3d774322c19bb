//! A collector that keeps all that it is told.

use cupel::{
    ContextBudget, ContextItem, CountRequirementShortfall, CupelError, DiagnosticTraceCollector,
    ExclusionReason, InclusionReason, OverflowEvent, SelectionReport, StageTraceSnapshot,
    TraceCollector, TraceDetailLevel, TraceEvent, TraceInterest,
};

/// Records at the finest level, and keeps what the end of the run brings.
pub(crate) struct Witness {
    recorder: DiagnosticTraceCollector,
    completed: Option<Completed>,
    failures: Vec<CupelError>,
}

/// Report that a collector gets when a run is done.
pub(crate) struct Completed {
    pub(crate) report: SelectionReport,
    pub(crate) budget: ContextBudget,
    pub(crate) snapshots: Vec<StageTraceSnapshot>,
}

/// All that a run told.
pub(crate) struct Testimony {
    /// The report as the collector itself put it together from the single calls.
    pub(crate) recorded: SelectionReport,
    /// Absent if the run failed.
    pub(crate) completed: Option<Completed>,
    pub(crate) failures: Vec<CupelError>,
}

impl Witness {
    pub(crate) fn new() -> Self {
        Self {
            recorder: DiagnosticTraceCollector::new(TraceDetailLevel::Item),
            completed: None,
            failures: Vec::new(),
        }
    }

    pub(crate) fn testimony(self) -> Testimony {
        Testimony {
            recorded: self.recorder.into_report(),
            completed: self.completed,
            failures: self.failures,
        }
    }
}

impl TraceCollector for Witness {
    fn is_enabled(&self) -> bool {
        true
    }

    fn interest(&self) -> TraceInterest {
        TraceInterest::ALL
    }

    fn record_stage_event(&mut self, event: TraceEvent) {
        self.recorder.record_stage_event(event);
    }

    fn record_item_event(&mut self, event: TraceEvent) {
        self.recorder.record_item_event(event);
    }

    fn record_included_at(
        &mut self,
        position: usize,
        item: ContextItem,
        score: f64,
        reason: InclusionReason,
    ) {
        self.recorder.record_included_at(position, item, score, reason);
    }

    fn record_excluded_at(
        &mut self,
        position: usize,
        item: ContextItem,
        score: f64,
        reason: ExclusionReason,
    ) {
        self.recorder.record_excluded_at(position, item, score, reason);
    }

    fn set_candidates(&mut self, total: usize, total_tokens: i64) {
        self.recorder.set_candidates(total, total_tokens);
    }

    fn record_shortfall(&mut self, shortfall: CountRequirementShortfall) {
        self.recorder.record_shortfall(shortfall);
    }

    fn record_overflow(&mut self, event: OverflowEvent) {
        self.recorder.record_overflow(event);
    }

    fn on_run_failed(&mut self, error: &CupelError) {
        self.failures.push(error.clone());
    }

    fn on_pipeline_completed(
        &mut self,
        report: &SelectionReport,
        budget: &ContextBudget,
        stage_snapshots: &[StageTraceSnapshot],
    ) {
        assert!(self.completed.is_none(), "a run is completed once");
        self.completed = Some(Completed {
            report: report.clone(),
            budget: budget.clone(),
            snapshots: stage_snapshots.to_vec(),
        });
    }
}
