//! Behind a collector that passes on only the end of a run, everything is there all the same.

use cupel::{ContextBudget, SelectionReport, StageTraceSnapshot, TraceCollector, TraceEvent};
use cupel_otel::CupelOtelTraceCollector;
use cupel_otel::CupelVerbosity::{Full, StageAndExclusions, StageOnly};

use crate::seen::{Memory, Run};
use crate::situation;
use crate::tiers::{assert_full, assert_stage_and_exclusions, assert_stage_only};
use crate::timestamps::{SLOW, assert_slow_score};

#[test]
fn every_tier_is_complete() {
    let assertions: [(_, fn(&Run)); 3] = [
        (StageOnly, assert_stage_only),
        (StageAndExclusions, assert_stage_and_exclusions),
        (Full, assert_full),
    ];
    for (verbosity, assert) in assertions {
        let memory = Memory::new();
        situation::usual().run(&mut OnlyTheEnd(memory.collector(verbosity))).unwrap();
        assert(&memory.run());
    }
}

#[test]
fn times_are_those_of_the_work() {
    let memory = Memory::new();
    let mut collector = OnlyTheEnd(memory.collector(StageOnly));
    situation::slow_scoring(SLOW).run(&mut collector).unwrap();
    assert_slow_score(&memory.run());
}

struct OnlyTheEnd(CupelOtelTraceCollector);

impl TraceCollector for OnlyTheEnd {
    fn is_enabled(&self) -> bool {
        true
    }

    fn record_stage_event(&mut self, _event: TraceEvent) {}

    fn record_item_event(&mut self, _event: TraceEvent) {}

    fn on_pipeline_completed(
        &mut self,
        report: &SelectionReport,
        budget: &ContextBudget,
        stage_snapshots: &[StageTraceSnapshot],
    ) {
        self.0.on_pipeline_completed(report, budget, stage_snapshots);
    }
}
