//! A child that is forked has one thread: locks that others held stay locked in it for good. So a
//! fork waits until no thread is at work, and no work begins meanwhile.
//!
//! All of it is counters and short sleeps, since a lock would be one more that a child may inherit.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Number of threads that are at work.
static WORKING: AtomicUsize = AtomicUsize::new(0);

/// Number of threads that are about to fork.
static FORKING: AtomicUsize = AtomicUsize::new(0);

/// Time that a fork waits for work. Then it goes on as it would without us.
const PATIENCE: Duration = Duration::from_secs(10);

const BETWEEN_LOOKS: Duration = Duration::from_millis(1);

thread_local! {
    static IS_AT_WORK: Cell<bool> = const { Cell::new(false) };
}

/// This thread is at work, until this is dropped.
pub(crate) struct AtWork(());

impl AtWork {
    /// Waits for forks that are under way. The interpreter's lock must not be held.
    pub(crate) fn begin() -> Self {
        loop {
            WORKING.fetch_add(1, Ordering::SeqCst);
            if FORKING.load(Ordering::SeqCst) == 0 {
                break;
            }
            WORKING.fetch_sub(1, Ordering::SeqCst);
            thread::sleep(BETWEEN_LOOKS);
        }
        IS_AT_WORK.set(true);
        Self(())
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        IS_AT_WORK.set(false);
        WORKING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Calls Python code from work, which is no work itself: it may fork, and holds no locks of ours.
pub(crate) fn in_python<T>(call: impl FnOnce(Python<'_>) -> T) -> T {
    let pause = IS_AT_WORK.get().then_some(AtWork(()));
    let is_paused = pause.is_some();
    drop(pause);
    let answer = Python::attach(call);
    if is_paused {
        // Given back by whoever began the work.
        std::mem::forget(AtWork::begin());
    }
    answer
}

#[pyfunction]
fn before_fork(py: Python<'_>) {
    py.detach(|| {
        FORKING.fetch_add(1, Ordering::SeqCst);
        let began = Instant::now();
        while WORKING.load(Ordering::SeqCst) > 0 && began.elapsed() < PATIENCE {
            thread::sleep(BETWEEN_LOOKS);
        }
    });
}

#[pyfunction]
fn after_fork_in_parent() {
    FORKING.fetch_sub(1, Ordering::SeqCst);
}

#[pyfunction]
fn after_fork_in_child() {
    FORKING.store(0, Ordering::SeqCst);
    WORKING.store(0, Ordering::SeqCst);
}

/// Makes Python call these around each fork, where there is such a thing.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let os = py.import(intern!(py, "os"))?;
    if !os.hasattr(intern!(py, "register_at_fork"))? {
        return Ok(());
    }
    let hooks = PyDict::new(py);
    hooks.set_item("before", wrap_pyfunction!(before_fork, module)?)?;
    hooks.set_item("after_in_parent", wrap_pyfunction!(after_fork_in_parent, module)?)?;
    hooks.set_item("after_in_child", wrap_pyfunction!(after_fork_in_child, module)?)?;
    os.call_method(intern!(py, "register_at_fork"), (), Some(&hooks))?;
    Ok(())
}
