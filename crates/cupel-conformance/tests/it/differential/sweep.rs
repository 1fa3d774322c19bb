//! Tries many seeds on all cores, and makes the first failure readable.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cupel_conformance::random::{self, Rng};

use super::case::Case;
use super::compare::{Verdict, ensure};

/// Problems of the main comparison, unless the environment says otherwise.
const PROBLEMS: u64 = 20_000;

/// Longest time to make a failure smaller. Long lists may take longer than anyone waits.
const SHRINKING: Duration = Duration::from_secs(30);

/// Seeds that a thread takes at a time.
const CHUNK: u64 = 64;

/// Puts one problem out of `one_in` to the check.
///
/// # Panics
///
/// Panics with a small problem that fails the check, if there is any.
#[track_caller]
pub(crate) fn sweep(one_in: u64, make: fn(u64) -> Case, check: fn(&Case) -> Verdict) {
    if let Some(seed) = first_bad_seed(one_in, |seed| failure(&make(seed), check).is_some()) {
        panic!("{}", explain(seed, &make(seed), check));
    }
}

/// The same for checks that need no more than random numbers; nothing is shrunk.
///
/// # Panics
///
/// Panics with the first seed that fails the check, if there is any.
#[track_caller]
pub(crate) fn sweep_seeds(one_in: u64, check: fn(&mut Rng) -> Verdict) {
    let verdict = |seed| check(&mut Rng::new(seed));
    if let Some(seed) = first_bad_seed(one_in, |seed| verdict(seed).is_err()) {
        panic!("seed {seed}:\n\n{}", verdict(seed).err().unwrap_or_default());
    }
}

fn first_bad_seed(one_in: u64, fails: impl Fn(u64) -> bool + Sync) -> Option<u64> {
    let first_seed = from_environment("CUPEL_SEED").unwrap_or(0);
    let count = from_environment("CUPEL_PROBLEMS").unwrap_or(PROBLEMS).div_ceil(one_in);
    let seed = |offset: u64| first_seed.wrapping_add(offset);
    first_failure(count, |offset| fails(seed(offset))).map(seed)
}

fn from_environment(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} must be a whole number, got `{text}`")))
}

/// The lowest number below `count` that `fails`.
fn first_failure(count: u64, fails: impl Fn(u64) -> bool + Sync) -> Option<u64> {
    let next = AtomicU64::new(0);
    let failed = AtomicU64::new(count);
    let work = || loop {
        let start = next.fetch_add(CHUNK, Ordering::Relaxed);
        for number in start..start.saturating_add(CHUNK) {
            // Numbers above a known failure are of no interest, those below it are.
            if number >= failed.load(Ordering::Relaxed) {
                return;
            }
            if fails(number) {
                failed.fetch_min(number, Ordering::Relaxed);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    Some(failed.into_inner()).filter(|failed| *failed < count)
}

/// Reason that a case fails; a panic is a reason too.
fn failure(case: &Case, check: fn(&Case) -> Verdict) -> Option<String> {
    let verdict = catch_unwind(AssertUnwindSafe(|| check(case)));
    verdict.unwrap_or_else(|panic| Err(format!("panicked: {}", panic_text(&*panic)))).err()
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// The simplest case that still fails, and how it does.
fn explain(seed: u64, case: &Case, check: fn(&Case) -> Verdict) -> String {
    let with = |problem: &random::Problem| Case { problem: problem.clone(), ..case.clone() };
    let start = Instant::now();
    let small = random::shrink(case.problem.clone(), |smaller| {
        start.elapsed() < SHRINKING && failure(&with(smaller), check).is_some()
    });
    let small = with(&small);
    let what = failure(&small, check).unwrap_or_default();
    format!("seed {seed}, shrunk:\n\n{small}\n{what}")
}

#[test]
fn the_lowest_failure_is_found_whichever_thread_finds_it() {
    assert_eq!(first_failure(1000, |number| number % 100 == 99), Some(99));
    assert_eq!(first_failure(1000, |number| number == 999), Some(999));
    assert_eq!(first_failure(1000, |number| number >= 1000), None);
    assert_eq!(first_failure(0, |_| true), None);
}

#[test]
fn a_failure_is_shown_shrunk_with_its_seed() {
    let has_no_large_item = |case: &Case| {
        let is_large = case.problem.items.iter().any(|item| item.tokens > 50);
        ensure(!is_large, || "an item is large".to_owned())
    };
    let large = |seed: &u64| has_no_large_item(&Case::plain(*seed)).is_err();
    let seed = (0..100).find(large).expect("some problem has a large item");
    let text = explain(seed, &Case::plain(seed), has_no_large_item);
    assert!(text.starts_with(&format!("seed {seed}, shrunk:\n")), "{text}");
    assert!(text.ends_with("[0] \"0\", tokens: 51\n\nan item is large"), "{text}");
}
