//! A run that fails marks its root span and the span of the stage that failed, and shows how far it came.

use std::panic::{AssertUnwindSafe, catch_unwind};

use cupel::{ContextItem, CupelError, GreedySlice, OverflowStrategy, Placer, ScoredItem, Scorer};
use cupel_otel::CupelVerbosity::{self, Full, StageAndExclusions, StageOnly};

use crate::seen::{Memory, Run, STAGES, attributes};
use crate::situation::{self, Situation, TakesAll, budget, item, pipeline};
use crate::tiers::stage_attributes;

fn failed(situation: &Situation, verbosity: CupelVerbosity) -> (Run, CupelError) {
    let memory = Memory::new();
    let error = situation.run(&mut memory.collector(verbosity)).unwrap_err();
    (memory.run(), error)
}

#[test]
fn pinned_items_that_do_not_fit_fail_at_the_first_stage() {
    let situation = Situation { budget: budget(19), ..situation::usual() };
    let (run, error) = failed(&situation, Full);
    assert_eq!(run.stage_names(), STAGES[..1]);
    assert_eq!(run.stages[0].attributes, stage_attributes("classify", 6, 0, 0));
    assert_eq!(run.stages[0].error, Some(format!("pinned_exceeds_budget: {error}")));
    assert_eq!(run.root.error, run.stages[0].error);
    let expected = attributes![("cupel.budget.max_tokens", 19), ("cupel.verbosity", "Full")];
    assert_eq!(run.root.attributes, expected);
}

#[test]
fn a_slicer_that_fails_leaves_three_stages_and_its_own() {
    for verbosity in [StageOnly, StageAndExclusions, Full] {
        let (run, _) = failed(&situation::failing_at_slice(), verbosity);
        assert_failed_at_slice(&run, verbosity);
    }
}

#[test]
fn an_overflow_leaves_four_stages_and_its_own() {
    let situation = Situation {
        pipeline: pipeline()
            .slicer(TakesAll)
            .overflow_strategy(OverflowStrategy::Throw)
            .build()
            .unwrap(),
        ..situation::usual()
    };
    let (run, error) = failed(&situation, StageAndExclusions);
    assert_eq!(run.stage_names(), STAGES);
    assert_eq!(run.stage("slice").attributes, stage_attributes("slice", 3, 3, 0));
    // The pinned one, and all that was sliced.
    assert_eq!(run.stage("place").attributes, stage_attributes("place", 4, 0, 0));
    assert_eq!(run.stage("place").error, Some(format!("overflow: {error}")));
    assert_eq!(run.root.error, run.stage("place").error);
}

#[test]
fn a_placer_that_fails_leaves_four_stages_and_its_own() {
    let situation =
        Situation { pipeline: pipeline().placer(LosesOne).build().unwrap(), ..situation::usual() };
    let (run, _) = failed(&situation, StageAndExclusions);
    assert_eq!(run.stage_names(), STAGES);
    assert_eq!(run.stage("slice").attributes, stage_attributes("slice", 3, 2, 1));
    assert_eq!(run.stage("slice").events.len(), 1);
    assert_eq!(run.stage("place").attributes, stage_attributes("place", 3, 0, 0));
    assert_eq!(run.stage("place").error.as_deref(), Some("pipeline_config"));
    assert_eq!(run.root.error.as_deref(), Some("pipeline_config"));
}

#[test]
fn a_scorer_that_panics_leaves_an_error_and_the_stage_before() {
    let situation = Situation {
        pipeline: pipeline().scorer(Panics).slicer(GreedySlice).build().unwrap(),
        ..situation::usual()
    };
    let memory = Memory::new();
    let mut collector = memory.collector(StageOnly);
    let run = AssertUnwindSafe(|| situation.run(&mut collector));
    catch_unwind(run).expect_err("the scorer panics");
    assert!(memory.spans().is_empty());

    drop(collector);
    let run = memory.run();
    assert_eq!(run.root.error.as_deref(), Some("the run did not finish"));
    assert_eq!(run.stage_names(), STAGES[..1]);
}

#[test]
fn a_run_that_succeeds_has_no_status() {
    let memory = Memory::new();
    let items = vec![item("a", 1).build().unwrap()];
    Situation { items, ..situation::usual() }.run(&mut memory.collector(Full)).unwrap();
    assert_eq!(memory.run().root.error, None);
}

/// Three stages with their numbers, the one that failed, and a root that says so.
pub(crate) fn assert_failed_at_slice(run: &Run, verbosity: CupelVerbosity) {
    assert_eq!(run.root.error.as_deref(), Some("slicer_config"));
    let errors: Vec<_> = run.stages.iter().map(|stage| stage.error.as_deref()).collect();
    assert_eq!(errors, [None, None, None, Some("slicer_config")]);
    let excluded = i64::from(verbosity >= StageAndExclusions);
    let expected = [
        stage_attributes("classify", 6, 5, excluded),
        stage_attributes("score", 4, 4, 0),
        stage_attributes("deduplicate", 4, 3, excluded),
        stage_attributes("slice", 3, 0, 0),
    ];
    assert_eq!(run.stage_names(), STAGES[..4]);
    for (stage, expected) in run.stages.iter().zip(expected) {
        assert_eq!(stage.attributes, expected);
        let events = stage.attributes.get("cupel.exclusion.count").map_or(0, |_| 1);
        assert_eq!(stage.events.len(), events);
    }
}

struct LosesOne;

impl Placer for LosesOne {
    fn place(&self, items: &[ScoredItem]) -> Vec<ContextItem> {
        items.iter().skip(1).map(|scored| scored.item.clone()).collect()
    }
}

struct Panics;

impl Scorer for Panics {
    fn score(&self, _item: &ContextItem, _all_items: &[ContextItem]) -> f64 {
        panic!("on purpose")
    }
}
