//! Work without the interpreter's lock, which Ctrl-C can end.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// How long somebody who interrupts may have to wait.
const BETWEEN_SIGNALS: Duration = Duration::from_millis(50);

/// As much room for calls within calls as the first thread of a program has.
const STACK_BYTES: usize = 8 << 20;

/// Requests above this size may take long enough that somebody wants to interrupt.
const LONG_BYTES: usize = 64 << 10;

/// Whether work on a text of so many bytes should be able to end early.
pub(crate) fn is_long(bytes: usize) -> bool {
    bytes >= LONG_BYTES
}

/// Does work while other Python threads run.
///
/// Long work is done on a thread of its own, while this one listens for signals. Whoever interrupts
/// gets the exception at once; the work goes on unheard to its end, and changes nothing.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    is_long: bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    if !is_long {
        return Ok(py.detach(work));
    }
    let (answer, answers) = mpsc::channel();
    let worker = thread::Builder::new().name("cupel".to_owned()).stack_size(STACK_BYTES);
    let started = worker.spawn(move || {
        // Nobody listens any more after an interrupt.
        let _ = answer.send(work());
    });
    started.map_err(|error| PyRuntimeError::new_err(format!("cannot start a thread: {error}")))?;
    let mut answers = answers;
    loop {
        let (listened, heard) = py.detach(move || {
            let heard = answers.recv_timeout(BETWEEN_SIGNALS);
            (answers, heard)
        });
        match heard {
            Ok(answer) => return Ok(answer),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the engine stopped; please report this"));
            }
        }
        answers = listened;
    }
}
