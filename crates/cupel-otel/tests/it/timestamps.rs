//! Spans cover the work that they stand for.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cupel_otel::CupelVerbosity::{Full, StageOnly};

use crate::seen::{Memory, Run};
use crate::situation;

pub(crate) const SLOW: Duration = Duration::from_millis(90);

#[test]
fn a_stage_that_takes_90_ms_has_a_span_of_90_ms() {
    let memory = Memory::new();
    let before = now();
    situation::slow_scoring(SLOW).run(&mut memory.collector(StageOnly)).unwrap();
    let run = memory.run();
    assert!(before <= run.root.start && run.root.end <= now());
    assert_slow_score(&run);
}

#[test]
fn a_run_that_fails_later_shows_it_too() {
    for verbosity in [StageOnly, Full] {
        let memory = Memory::new();
        situation::slow_scoring_in_vain(SLOW).run(&mut memory.collector(verbosity)).unwrap_err();
        assert_slow_score(&memory.run());
    }
}

#[test]
fn events_bear_a_time_within_their_span() {
    let memory = Memory::new();
    situation::usual().run(&mut memory.collector(Full)).unwrap();
    for stage in memory.run().stages {
        assert!(stage.events.iter().all(|event| stage.start <= event.time));
        assert!(stage.events.iter().all(|event| event.time <= stage.end));
    }
}

/// Besides what holds for every run: stages lie one after the other within their root.
pub(crate) fn assert_slow_score(run: &Run) {
    let score = run.stage("score");
    assert!(score.milliseconds() >= 90.0, "{score:#?}");
    // Nobody else slept.
    for stage in run.stages.iter().filter(|stage| stage.name != score.name) {
        assert!(stage.milliseconds() < score.milliseconds(), "{stage:#?}");
    }
}

fn now() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos()).unwrap()
}
