//! The SDK drops events past its limit; the count is exact all the same.

use cupel_otel::CupelVerbosity::StageAndExclusions;
use opentelemetry_sdk::trace::SpanLimits;

use crate::seen::{Memory, Run};
use crate::situation;
use crate::tiers::stage_attributes;

fn run(limits: SpanLimits) -> Run {
    let memory = Memory::with_limits(limits);
    let mut collector = memory.collector(StageAndExclusions);
    situation::thousand_exclusions().run(&mut collector).unwrap();
    memory.run()
}

#[test]
fn a_thousand_exclusions_are_counted_though_few_are_shown() {
    assert_thousand_exclusions(&run(SpanLimits::default()), 128);
}

#[test]
fn with_a_higher_limit_all_are_shown() {
    let limits = SpanLimits { max_events_per_span: 2_000, ..SpanLimits::default() };
    assert_thousand_exclusions(&run(limits), 1_000);
}

#[test]
fn with_no_events_at_all_the_count_stays() {
    let limits = SpanLimits { max_events_per_span: 0, ..SpanLimits::default() };
    assert_thousand_exclusions(&run(limits), 0);
}

pub(crate) fn assert_thousand_exclusions(run: &Run, shown: usize) {
    let slice = run.stage("slice");
    assert_eq!(slice.attributes, stage_attributes("slice", 1_001, 1, 1_000));
    assert_eq!(slice.events_named("cupel.exclusion").len(), shown);
    assert_eq!(slice.events.len(), shown);
    assert_eq!(slice.dropped_events as usize, 1_000 - shown);
}
