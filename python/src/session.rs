//! Sessions: windows that keep the prompt cache.

use std::sync::{Mutex, PoisonError};

use cupel_engine::SessionState;
use pyo3::prelude::*;

use crate::engine::{self, written};
use crate::{errors, options, work};

/// A conversation whose windows keep what the provider has in its cache.
#[pyclass(frozen, module = "cupel_context._native")]
pub(crate) struct Session(Mutex<cupel_engine::Session>);

impl Session {
    pub(crate) fn new(session: cupel_engine::Session) -> Self {
        Self(Mutex::new(session))
    }

    /// The session. What is in it is replaced as a whole, so that a panic leaves nothing half done.
    fn with<T>(&self, ask: impl FnOnce(&mut cupel_engine::Session) -> T) -> T {
        ask(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[pymethods]
impl Session {
    /// Proposes the window of the next request.
    fn next(
        &self,
        py: Python<'_>,
        request: &Bound<'_, PyAny>,
        options: &str,
        now: Option<u64>,
    ) -> PyResult<Step> {
        let (text, is_long) = engine::read(request)?;
        let options = options::read(py, options)?;
        // Works on a copy: whoever interrupts finds the session as it was.
        let mut session = self.with(|session| session.clone());
        let proposed = work::run(py, is_long, move || {
            let step = session.next_with(text, &options, now)?;
            Ok((session, step))
        })?;
        let (session, answer) = proposed.map_err(|error| errors::of_engine(py, &error))?;
        self.with(|here| *here = session);
        Ok(Step { answer })
    }

    /// The provider has answered: the step that was proposed last counts.
    fn accept(&self) -> bool {
        self.with(cupel_engine::Session::accept)
    }

    /// Forgets the step that was proposed last.
    fn roll_back(&self) {
        self.with(cupel_engine::Session::roll_back);
    }

    /// State after the accepted steps, as JSON.
    fn state(&self) -> Option<String> {
        self.with(|session| session.state().map(SessionState::to_json))
    }
}

/// The window of a step.
#[pyclass(frozen, module = "cupel_context._native")]
pub(crate) struct Step {
    answer: cupel_engine::Step,
}

#[pymethods]
impl Step {
    /// The indices of the messages that stay.
    #[getter]
    fn kept(&self) -> Vec<usize> {
        self.answer.kept_messages.clone()
    }

    /// The request without what was left out.
    #[getter]
    fn text(&self) -> &str {
        &self.answer.text
    }

    /// Tokens of the window.
    #[getter]
    fn tokens(&self) -> i64 {
        self.answer.summary.tokens_after
    }

    /// Returns true if the request was repaired, so that its messages are not those that were handed in.
    #[getter]
    fn is_repaired(&self) -> bool {
        !self.answer.repairs.is_empty()
    }

    /// The messages that are not what they were, as JSON, by their indices.
    #[getter]
    fn rewritten(&self) -> Vec<(usize, String)> {
        self.answer.rewritten.clone()
    }

    fn answer(&self) -> PyResult<String> {
        written(&self.answer)
    }
}
