//! Runs: window, report, trace and errors.

use cupel::{ExcludedItem, IncludedItem, SelectionReport, StageTraceSnapshot, TraceEvent};
use cupel_conformance::oracle;

use crate::case::{Case, Library};
use crate::compare::{Tolerance, Verdict, ensure, same, same_runs};
use crate::observe;
use crate::sweep::sweep;
use crate::witness::{Testimony, Witness};

#[test]
fn runs_equal_the_oracle_to_the_last_field() {
    sweep(1, Case::plain, check);
}

#[test]
fn runs_with_infinite_and_nan_scores_equal_the_oracle() {
    sweep(4, Case::with_raw_scores, check);
}

#[test]
fn runs_of_long_lists_equal_the_oracle() {
    sweep(200, Case::long, check);
}

#[test]
fn runs_with_an_item_that_stands_in_the_list_twice_equal_the_oracle() {
    sweep(8, Case::with_shared_handles, check);
}

fn check(case: &Case) -> Verdict {
    let library = case.library();
    let expected = oracle::run(&case.problem.items, &case.problem.budget, &case.problem.policy)
        .map(|run| observe::by_handle(&library, run))
        .map_err(observe::comparable);
    let tolerance = Tolerance::of(&case.problem.policy.scorer);

    let traced = traced(&library);
    for (what, report) in reports(&library, &traced) {
        let actual = report.map(|report| {
            observe::run(&library, traced.window.clone(), &report, traced.snapshots())
        });
        same_runs(what, &expected, &actual, tolerance)?;
    }
    check_plain_run(&library, &expected)?;
    check_trace(&library, &traced)
}

/// A traced run.
struct Traced {
    /// Empty if the run failed.
    window: Vec<usize>,
    error: Option<cupel::CupelError>,
    testimony: Testimony,
}

impl Traced {
    fn snapshots(&self) -> &[StageTraceSnapshot] {
        self.testimony.completed.as_ref().map_or(&[], |completed| &completed.snapshots)
    }
}

fn traced(library: &Library) -> Traced {
    let mut witness = Witness::new();
    let outcome = library.pipeline.run_traced(&library.items, &library.budget, &mut witness);
    Traced {
        window: outcome.as_deref().map_or(Vec::new(), |window| library.positions(window)),
        error: outcome.err(),
        testimony: witness.testimony(),
    }
}

type NamedReport = (&'static str, Result<SelectionReport, oracle::Error>);

/// The report of the same run by every way to get one.
fn reports(library: &Library, traced: &Traced) -> [NamedReport; 3] {
    let outcome = |report: Option<&SelectionReport>| match &traced.error {
        Some(error) => Err(observe::error(error.clone())),
        None => Ok(report.cloned().expect("a run that does not fail is completed")),
    };
    let completed = traced.testimony.completed.as_ref().map(|completed| &completed.report);
    let dry_run = library.pipeline.dry_run(&library.items, &library.budget);
    [
        ("the recorded report", outcome(Some(&traced.testimony.recorded))),
        ("the completed report", outcome(completed)),
        ("the report of a dry run", dry_run.map_err(observe::error)),
    ]
}

fn check_plain_run(library: &Library, expected: &Result<oracle::Run, oracle::Error>) -> Verdict {
    let plain = library.pipeline.run(&library.items, &library.budget);
    let plain = plain.map(|window| library.positions(&window)).map_err(observe::error);
    let expected = expected.as_ref().map(|run| run.output.clone()).map_err(Clone::clone);
    same("the window of a plain run", &expected, &plain)
}

/// What the trace must say, given the report.
fn check_trace(library: &Library, traced: &Traced) -> Verdict {
    let testimony = &traced.testimony;
    let failures = traced.error.clone().into_iter().collect::<Vec<_>>();
    same("what a collector is told of a failure", &failures, &testimony.failures)?;
    let Some(completed) = &testimony.completed else {
        return ensure(traced.error.is_some(), || "the run was not completed".to_owned());
    };
    same("the budget of a completed run", &library.budget, &completed.budget)?;
    let expected = events(&completed.snapshots, &completed.report.included);
    for report in [&completed.report, &testimony.recorded] {
        let events: Vec<TraceEvent> = report.events.iter().map(without_duration).collect();
        same("the list of events", &expected, &events)?;
    }
    let stages = library.pipeline.dry_run(&library.items, &library.budget);
    let stages = stages.map_or(Vec::new(), |report| report.events);
    let stages: Vec<TraceEvent> = stages.iter().map(without_duration).collect();
    let expected: Vec<TraceEvent> = completed.snapshots.iter().map(stage_event).collect();
    same("the list of a dry run's events", &expected, &stages)
}

/// One event for each item that a stage decides about, then one for the stage.
fn events(snapshots: &[StageTraceSnapshot], included: &[IncludedItem]) -> Vec<TraceEvent> {
    let mut events = Vec::new();
    for snapshot in snapshots {
        let excluded =
            |entry: &ExcludedItem| TraceEvent::item(snapshot.stage, entry.reason.to_string());
        events.extend(snapshot.excluded.iter().map(excluded));
        if snapshot.stage == cupel::PipelineStage::Place {
            events.extend(included.iter().map(|entry| {
                let message = format!("{}: score {}", entry.reason, entry.score);
                TraceEvent::item(snapshot.stage, message)
            }));
        }
        events.push(stage_event(snapshot));
    }
    events
}

fn stage_event(snapshot: &StageTraceSnapshot) -> TraceEvent {
    TraceEvent::stage(snapshot.stage, 0.0, snapshot.item_count_out)
}

fn without_duration(event: &TraceEvent) -> TraceEvent {
    let mut event = event.clone();
    if event.message.is_none() {
        event.duration_ms = 0.0;
    }
    event
}
