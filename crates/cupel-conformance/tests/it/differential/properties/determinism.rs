//! Promises about doing the same thing twice.

use std::sync::Barrier;
use std::thread;

use cupel::{DiagnosticTraceCollector, NullTraceCollector, TraceCollector, TraceDetailLevel};

use crate::differential::case::{Case, Library};
use crate::differential::compare::same;
use crate::differential::sweep::sweep;

/// Dry-run determinism: identical inputs give identical output, whatever the order of hash maps;
/// built anew from the same data, every byte of the report is the same.
#[test]
fn two_runs_are_equal_to_the_last_byte() {
    sweep(20, Case::plain, |case| {
        let library = case.library();
        let first = account(&library);
        same("the second run", &first, &account(&library))?;
        same("the run of a second pipeline", &first, &account(&case.library()))
    });
}

/// Dry-run determinism, and no stage keeps state: what other threads run at the same time on the
/// same pipeline changes no byte of the report.
#[test]
fn eight_threads_on_one_pipeline_report_the_same_bytes() {
    sweep(100, Case::plain, |case| {
        let library = case.library();
        let alone = account(&library);
        let start = Barrier::new(8);
        let accounts: Vec<String> = thread::scope(|scope| {
            let run = || {
                start.wait();
                account(&library)
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(run)).collect();
            threads.into_iter().map(|thread| thread.join().expect("no run panics")).collect()
        });
        accounts.iter().try_for_each(|other| same("the run of a thread", &alone, other))
    });
}

/// Trace collectors: recording is an account of a run and has no influence on it, at any level of
/// detail.
#[test]
fn recording_changes_nothing() {
    sweep(10, Case::plain, |case| {
        let library = case.library();
        let plain = library.pipeline.window(&library.items, &library.budget);
        let plain = plain.map(|window| window.iter().map(|one| one.position).collect::<Vec<_>>());
        let level = |level| Box::new(DiagnosticTraceCollector::new(level));
        let collectors: [Box<dyn TraceCollector>; 3] = [
            Box::<NullTraceCollector>::default(),
            level(TraceDetailLevel::Stage),
            level(TraceDetailLevel::Item),
        ];
        collectors.into_iter().try_for_each(|mut collector| {
            let (items, budget) = (&library.items, &library.budget);
            let window = library.pipeline.run_traced(items, budget, &mut *collector);
            match (&plain, &window) {
                (Ok(plain), Ok(window)) => library.same_items("the traced window", plain, window),
                _ => same("the error", &plain.as_ref().err(), &window.as_ref().err()),
            }
        })
    });
}

/// Everything that a run at the finest level says, in the wire form, without its durations.
fn account(library: &Library) -> String {
    let mut collector = DiagnosticTraceCollector::new(TraceDetailLevel::Item);
    let (items, budget) = (&library.items, &library.budget);
    let window = library.pipeline.run_traced(items, budget, &mut collector);
    let mut report = collector.into_report();
    for event in &mut report.events {
        event.duration_ms = 0.0;
    }
    let report = serde_json::to_string(&report).expect("every report has a wire form");
    match window {
        Ok(window) => format!("{}\n{report}", window.len()),
        Err(error) => format!("{error}\n{report}"),
    }
}
