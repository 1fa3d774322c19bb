//! Work without the interpreter's lock, which Ctrl-C can end.
//!
//! Work may call Python code, as a scorer. What that raises belongs to the call that the work is
//! for, and to no other thread: it is kept by the thread that works.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::fork::AtWork;

/// Time that somebody who interrupts may have to wait.
const BETWEEN_SIGNALS: Duration = Duration::from_millis(50);

/// As much room for calls within calls as the first thread of a program has.
const STACK_BYTES: usize = 8 << 20;

/// Requests above this size may take long enough that somebody wants to interrupt.
const LONG_BYTES: usize = 64 << 10;

thread_local! {
    /// First exception that Python code raised in the work of this thread.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
    /// True if nobody waits any more for the work of this thread.
    static ABANDONED: RefCell<Abandoned> = RefCell::default();
}

/// True if nobody waits any more for some work. Threads that share the work share it.
#[derive(Clone, Default)]
pub(crate) struct Abandoned(Arc<AtomicBool>);

impl Abandoned {
    /// That of the work of this thread.
    pub(crate) fn here() -> Self {
        ABANDONED.with_borrow(Clone::clone)
    }

    pub(crate) fn is_so(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Returns true if work on a text of so many bytes should be able to end early.
pub(crate) fn is_long(bytes: usize) -> bool {
    bytes >= LONG_BYTES
}

/// Keeps what Python code raised, to be raised where the work was asked for.
pub(crate) fn keep_raised(error: PyErr) {
    RAISED.with_borrow_mut(|raised| {
        raised.get_or_insert(error);
    });
}

/// Does work on this thread; what Python code raised meanwhile is its answer.
pub(crate) fn heard<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    // Python code may ask for work itself, whose exceptions are its own to catch.
    let outer = RAISED.take();
    let answer = work();
    RAISED.replace(outer).map_or(Ok(answer), Err)
}

/// Does work while other Python threads run.
///
/// Long work is done on a thread of its own, while this one listens for signals. Whoever interrupts
/// gets the exception at once. The work changes nothing; a batch ends after the rows at hand, Python
/// code is called no more, and one request goes on unheard to its end.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    is_long: bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    if !is_long {
        return py.detach(|| {
            let _at_work = AtWork::begin();
            heard(work)
        });
    }
    let (answer, answers) = mpsc::channel();
    let abandoned = Abandoned::default();
    let known = abandoned.clone();
    let worker = thread::Builder::new().name("cupel".to_owned()).stack_size(STACK_BYTES);
    let started = worker.spawn(move || {
        ABANDONED.set(known);
        let at_work = AtWork::begin();
        let told = heard(work);
        drop(at_work);
        // Nobody listens any more after an interrupt.
        let _ = answer.send(told);
    });
    started.map_err(|error| PyRuntimeError::new_err(format!("cannot start a thread: {error}")))?;
    let mut answers = answers;
    loop {
        let (listened, heard) = py.detach(move || {
            let heard = answers.recv_timeout(BETWEEN_SIGNALS);
            (answers, heard)
        });
        match heard {
            Ok(answer) => return answer,
            Err(RecvTimeoutError::Timeout) => {
                py.check_signals().inspect_err(|_| abandoned.0.store(true, Ordering::Relaxed))?;
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the engine stopped; please report this"));
            }
        }
        answers = listened;
    }
}
