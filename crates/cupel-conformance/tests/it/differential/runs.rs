//! Runs: window, report, trace and errors.

use cupel::{
    ContextItem, CupelError, ExcludedItem, IncludedItem, SelectionReport, StageTraceSnapshot,
    TraceEvent,
};
use cupel_conformance::library::error_answer;
use cupel_conformance::oracle;
use cupel_conformance::oracle::order::descending;
use cupel_conformance::protocol::Report;

use super::case::{Case, Library};
use super::compare::{Outcome, Tolerance, Verdict, comparable, ensure, outcome, same, same_runs};
use super::sweep::sweep;
use super::witness::{Testimony, Witness};

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
        .map_err(comparable);
    let tolerance = Tolerance::of(&case.problem.policy.scorer);

    let traced = traced(&library);
    for (what, report) in reports(&library, &traced) {
        same_runs(what, &expected, &outcome(report, traced.snapshots()), tolerance)?;
    }
    check_windows(&library, &traced, &expected)?;
    check_trace(&library, &traced)
}

/// A traced run.
struct Traced {
    window: Result<Vec<ContextItem>, CupelError>,
    testimony: Testimony,
}

impl Traced {
    fn snapshots(&self) -> &[StageTraceSnapshot] {
        self.testimony.completed.as_ref().map_or(&[], |completed| &completed.snapshots)
    }
}

fn traced(library: &Library) -> Traced {
    let mut witness = Witness::new();
    let window = library.pipeline.run_traced(&library.items, &library.budget, &mut witness);
    Traced { window, testimony: witness.testimony() }
}

type NamedReport = (&'static str, Result<SelectionReport, CupelError>);

/// The report of the same run by every way to get one.
fn reports(library: &Library, traced: &Traced) -> [NamedReport; 3] {
    let outcome = |report: Option<&SelectionReport>| match &traced.window {
        Err(error) => Err(error.clone()),
        Ok(_) => Ok(report.cloned().expect("a run that does not fail is completed")),
    };
    let completed = traced.testimony.completed.as_ref().map(|completed| &completed.report);
    [
        ("the recorded report", outcome(Some(&traced.testimony.recorded))),
        ("the completed report", outcome(completed)),
        ("the report of a dry run", library.pipeline.dry_run(&library.items, &library.budget)),
    ]
}

/// The window by every way to get one.
fn check_windows(library: &Library, traced: &Traced, expected: &Outcome) -> Verdict {
    let (items, budget) = (&library.items, &library.budget);
    let windows = [traced.window.clone(), library.pipeline.run(items, budget)];
    let positions = library.pipeline.window(items, budget);
    let positions = positions.map(|window| window.iter().map(|placed| placed.position).collect());
    let output = expected.as_ref().map(Report::output).map_err(Clone::clone);
    let failed = |error: &CupelError| comparable(error_answer(error));
    same("the window by position", &output, &positions.map_err(|error| failed(&error)))?;
    for window in windows {
        match (&output, &window) {
            (Ok(output), Ok(window)) => library.same_items("the window", output, window)?,
            (_, window) => {
                let error = window.as_ref().err().map(failed);
                same("the error", &output.as_ref().err(), &error.as_ref())?;
            }
        }
    }
    Ok(())
}

/// Checks the trace against the report.
fn check_trace(library: &Library, traced: &Traced) -> Verdict {
    let testimony = &traced.testimony;
    let failures = traced.window.as_ref().err().into_iter().cloned().collect::<Vec<_>>();
    same("what a collector is told of a failure", &failures, &testimony.failures)?;
    let Some(completed) = &testimony.completed else {
        return ensure(traced.window.is_err(), || "the run was not completed".to_owned());
    };
    same("the budget of a completed run", &library.budget, &completed.budget)?;
    if let Some(overflow) = &completed.report.overflow {
        same("the budget of an overflow event", &library.budget, &overflow.budget)?;
    }
    check_snapshots(&completed.report, &completed.snapshots)?;
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

/// Checks that the exclusions of all stages, in order, are those of the report.
fn check_snapshots(report: &SelectionReport, snapshots: &[StageTraceSnapshot]) -> Verdict {
    let mut excluded: Vec<&ExcludedItem> = Vec::new();
    for snapshot in snapshots {
        let count = snapshot.item_count_in - snapshot.item_count_out;
        same("the number that a stage left out", &count, &snapshot.excluded_count)?;
        same("the number of their entries", &count, &snapshot.excluded.len())?;
        excluded.extend(&snapshot.excluded);
    }
    excluded.sort_by(|a, b| descending(a.score, b.score));
    let positions = |excluded: &[&ExcludedItem]| -> Vec<Option<usize>> {
        excluded.iter().map(|excluded| excluded.position).collect()
    };
    let reported: Vec<&ExcludedItem> = report.excluded.iter().collect();
    same("what the stages left out", &positions(&reported), &positions(&excluded))
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
