//! One collector serves any number of runs; clones serve runs at the same time.

use cupel::TraceCollector as _;
use cupel_otel::CupelVerbosity::Full;

use crate::errors::assert_failed_at_slice;
use crate::seen::{Memory, Run};
use crate::situation;
use crate::tiers::assert_full;

#[test]
fn nothing_of_a_run_is_left_for_the_next() {
    let memory = Memory::new();
    let mut collector = memory.collector(Full);
    situation::usual().run(&mut collector).unwrap();
    situation::failing_at_slice().run(&mut collector).unwrap_err();
    situation::usual().run(&mut collector).unwrap();

    let runs = Run::all(&memory.spans());
    assert_eq!(runs.len(), 3);
    assert_full(&runs[0]);
    assert_failed_at_slice(&runs[1], Full);
    assert_full(&runs[2]);
}

#[test]
fn a_run_that_never_ended_ends_before_the_next_begins() {
    let memory = Memory::new();
    let mut collector = memory.collector(Full);
    collector.on_run_started(&situation::usual().budget);
    situation::usual().run(&mut collector).unwrap();

    let runs = Run::all(&memory.spans());
    assert_eq!(runs[0].root.error.as_deref(), Some("the run did not finish"));
    assert!(runs[0].root.end <= runs[1].root.start);
    assert_full(&runs[1]);
}

#[test]
fn clones_write_to_the_same_place() {
    let memory = Memory::new();
    let collector = memory.collector(Full);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let mut collector = collector.clone();
            scope.spawn(move || situation::usual().run(&mut collector).unwrap());
        }
    });
    let runs = Run::all(&memory.spans());
    assert_eq!(runs.len(), 8);
    runs.iter().for_each(assert_full);
}

#[test]
fn the_window_is_the_same_with_and_without() {
    let situation = situation::usual();
    let plain = situation.pipeline.run(&situation.items, &situation.budget).unwrap();
    assert_eq!(situation.run(&mut Memory::new().collector(Full)).unwrap(), plain);
}
