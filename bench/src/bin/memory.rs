//! Runs each subject once and prints the most bytes it held beyond its input.

#![forbid(unsafe_code)]

use cupel_bench::memory::{Outcome, Subject, subjects};
use cupel_bench::options::{Format, Options};
use cupel_bench::{data, ours, published, report};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

fn main() {
    let options = Options::from_command_line();
    let measured = |subject: &Subject| Outcome::new(subject, &options, peak(subject, &options));
    let outcomes: Vec<Outcome> = subjects(&options).iter().map(measured).collect();
    match options.format {
        Format::Json => println!("{}", report::json(&outcomes)),
        format => print!("{}", report::memory(&outcomes).render(format)),
    }
}

fn peak(subject: &Subject, options: &Options) -> usize {
    let rows = data::rows(options.size(subject.items), subject.tags);
    if subject.published {
        let engine = published::Engine::new(subject.plan, rows);
        let (answer, bytes) = beyond_what_is_held(|| engine.run());
        assert_eq!(engine.flaw(&answer), None);
        bytes
    } else {
        let engine = ours::Engine::new(subject.plan, rows);
        let (answer, bytes) = beyond_what_is_held(|| engine.run());
        assert_eq!(engine.flaw(&answer), None);
        bytes
    }
}

fn beyond_what_is_held<T>(job: impl FnOnce() -> T) -> (T, usize) {
    ALLOCATED.reset_peak_usage();
    let before = ALLOCATED.current_usage();
    let answer = job();
    (answer, ALLOCATED.peak_usage() - before)
}
