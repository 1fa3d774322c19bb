//! Work on all cores, with results in the order of the work.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// As many threads as the machine has cores for us.
pub fn available_threads() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// The result of each job below `jobs`, in their order, or the error of the first job that fails.
///
/// Jobs are handed out in order to whoever is free, and every job that began is finished: so the
/// first error is the same on any number of threads.
///
/// # Errors
///
/// That of the first job that fails.
pub fn try_map<T: Send, E: Send>(
    threads: NonZeroUsize,
    jobs: usize,
    work: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let job = next.fetch_add(1, Ordering::Relaxed);
            if job >= jobs {
                return done;
            }
            let result = work(job);
            if result.is_err() {
                // Nobody begins another one.
                next.fetch_max(jobs, Ordering::Relaxed);
            }
            done.push((job, result));
        }
    };
    let mut done = thread::scope(|scope| {
        let others: Vec<_> = (1..threads.get().min(jobs)).map(|_| scope.spawn(worker)).collect();
        let mut done = worker();
        for other in others {
            match other.join() {
                Ok(more) => done.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_unstable_by_key(|(job, _)| *job);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threads(count: usize) -> NonZeroUsize {
        NonZeroUsize::new(count).unwrap()
    }

    #[test]
    fn results_are_in_the_order_of_the_jobs_on_any_number_of_threads() {
        let expected: Vec<usize> = (0..1_000).map(|job| job * job).collect();
        for count in [1, 2, 5, 2_000] {
            let result = try_map(threads(count), 1_000, |job| Ok::<_, ()>(job * job));
            assert_eq!(result.unwrap(), expected);
        }
        assert_eq!(try_map(threads(3), 0, |_| Ok::<(), ()>(())), Ok(Vec::new()));
    }

    #[test]
    fn the_first_error_is_the_same_on_any_number_of_threads() {
        for count in [1, 2, 5] {
            let result = try_map(threads(count), 1_000, |job| {
                if job == 40 {
                    thread::sleep(std::time::Duration::from_millis(20));
                }
                if job >= 40 { Err(job) } else { Ok(()) }
            });
            assert_eq!(result, Err(40));
        }
    }
}
