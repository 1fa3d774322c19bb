//! Rows that threads share: each is done once, and none is lost with a thread that fails.
//!
//! Needs nothing but the standard library, so that its tests take a compiler and a second:
//! `rustc --edition 2024 --test src/rows.rs`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// All rows, in order, by so many threads. A row whose work panics is `failed`, and so are those
/// that nobody began before `is_over`.
pub(crate) fn done<T: Send>(
    count: usize,
    threads: usize,
    is_over: impl Fn() -> bool + Sync,
    work: impl Fn(usize) -> T + Sync,
    failed: impl Fn() -> T,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        while !is_over() {
            let row = next.fetch_add(1, Ordering::Relaxed);
            if row >= count {
                break;
            }
            if let Ok(one) = catch_unwind(AssertUnwindSafe(|| work(row))) {
                done.push((row, one));
            }
        }
        done
    };
    let mut rows: Vec<Option<T>> = (0..count).map(|_| None).collect();
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(count))
            .map_while(|_| thread::Builder::new().spawn_scoped(scope, take).ok())
            .collect();
        for (row, one) in take() {
            rows[row] = Some(one);
        }
        for (row, one) in others.into_iter().flat_map(|other| other.join().unwrap_or_default()) {
            rows[row] = Some(one);
        }
    });
    rows.into_iter().map(|row| row.unwrap_or_else(&failed)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_in_order_whoever_did_them() {
        for threads in [0, 1, 2, 7, 64] {
            let rows = done(50, threads, || false, |row| Some(row * 2), || None);
            let expected: Vec<Option<usize>> = (0..100).step_by(2).map(Some).collect();
            assert_eq!(rows, expected, "{threads} threads");
        }
        assert!(done(0, 4, || false, Some, || None).is_empty());
    }

    #[test]
    fn a_row_that_panics_takes_no_other_with_it() {
        for threads in [1, 4] {
            let work = |row: usize| {
                assert!(row % 10 != 3, "on purpose");
                Some(row)
            };
            let rows = done(40, threads, || false, work, || None);
            let expected: Vec<_> = (0..40).map(|row| (row % 10 != 3).then_some(row)).collect();
            assert_eq!(rows, expected, "{threads} threads");
        }
    }

    #[test]
    fn nothing_is_begun_when_it_is_over() {
        let begun = AtomicUsize::new(0);
        let is_over = || begun.load(Ordering::Relaxed) >= 5;
        let work = |_| begun.fetch_add(1, Ordering::Relaxed);
        assert_eq!(done(1_000, 1, is_over, work, || 0).len(), 1_000);
        assert_eq!(begun.into_inner(), 5);
    }
}
