//! Work that takes a processor: here if it is soon done, on another thread if it is not.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

use cupel_engine::Cancel;
use tokio::sync::Semaphore;

use crate::unfit::Unfit;

/// Bytes of a request that are soon read, or counted: waking a thread would take as long.
const SOON_DONE: usize = 16_384;

/// Places for work on other threads: more at once would not be done any sooner, take more memory, and leave less of
/// the processors to small requests, which are worked on where they are read.
static WORKERS: LazyLock<Semaphore> = LazyLock::new(|| {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    Semaphore::new(cores.max(2))
});

/// Does the work that a request of so many bytes makes. Others must not wait for it, nor suffer if it
/// fails. If its client leaves, which drops this future, the work is cancelled; it has its place until it ends.
pub(crate) async fn aside<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce(&Cancel) -> T + Send + 'static,
) -> Result<T, Unfit> {
    let done = if bytes <= SOON_DONE {
        catch_unwind(AssertUnwindSafe(|| work(&Cancel::new()))).ok()
    } else {
        // Work of a client that leaves while it waits here is never begun.
        let place = WORKERS.acquire().await.ok();
        let leaving = Leaving(Cancel::new());
        let cancel = leaving.0.clone();
        let work = move || {
            let done = work(&cancel);
            drop(place);
            done
        };
        tokio::task::spawn_blocking(work).await.ok()
    };
    done.ok_or_else(|| Unfit::new("internal", "fitting the request failed"))
}

/// Cancels work when it is dropped: by then it is done, or nobody waits for it.
struct Leaving(Cancel);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_that_fails_fails_alone_wherever_it_is_done() {
        for bytes in [0, SOON_DONE + 1] {
            let failed = aside(bytes, |_| panic!("as it must in this test")).await;
            assert_eq!(failed.map(|(): ()| ()).unwrap_err().code, "internal");
            assert_eq!(aside(bytes, |_| 7).await, Ok(7));
        }
    }

    #[tokio::test]
    async fn work_that_nobody_waits_for_is_cancelled() {
        let (begun, begins) = std::sync::mpsc::channel();
        let (ended, ends) = std::sync::mpsc::channel();
        let work = move |cancel: &Cancel| {
            begun.send(()).unwrap();
            let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
            while !cancel.is_cancelled() && std::time::Instant::now() < until {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            ended.send(cancel.is_cancelled()).unwrap();
        };
        let client = tokio::spawn(aside(SOON_DONE + 1, work));
        tokio::task::spawn_blocking(move || begins.recv()).await.unwrap().unwrap();
        client.abort();
        assert!(tokio::task::spawn_blocking(move || ends.recv()).await.unwrap().unwrap());
    }

    #[tokio::test]
    async fn what_is_soon_done_is_done_here_and_the_rest_on_another_thread() {
        let here = std::thread::current().id();
        let place = |_: &Cancel| std::thread::current().id();
        assert_eq!(aside(SOON_DONE, place).await, Ok(here));
        assert_ne!(aside(SOON_DONE + 1, place).await, Ok(here));
    }
}
