//! The engine, as Python calls it: texts in, answers as JSON out.

use std::sync::Arc;

use cupel_engine::{EngineError, MarkRule, Prepared, SessionSettings, SessionState};
use pyo3::prelude::*;

use crate::json;
use crate::renderer::CustomRenderer;
use crate::session::Session;
use crate::{errors, options, work};

/// Fits requests into a window; shared by threads.
#[pyclass(frozen, module = "cupel_context._native")]
pub(crate) struct Engine(pub(crate) cupel_engine::Engine);

#[pymethods]
impl Engine {
    /// An engine, from JSON by the keywords of the engine's table of settings.
    #[new]
    fn new(py: Python<'_>, settings: &str, renderers: Vec<Py<PyAny>>) -> PyResult<Self> {
        let set = cupel_engine::Engine::builder().set_json(settings);
        let mut builder = set.map_err(|error| errors::of_engine(py, &error))?;
        if !renderers.is_empty() {
            builder = builder.renderer(CustomRenderer::of(renderers));
        }
        builder.build().map(Self).map_err(|error| errors::of_engine(py, &error))
    }

    /// The name of the policy that it selects by.
    #[getter]
    fn policy(&self) -> &str {
        self.0.policy().name()
    }

    fn select(
        &self,
        py: Python<'_>,
        request: &Bound<'_, PyAny>,
        options: &str,
    ) -> PyResult<Selection> {
        let (text, is_long) = read(request)?;
        let (engine, options) = (self.0.clone(), options::read(py, options)?);
        let selected = work::run(py, is_long, move || {
            let prepared = engine.prepare(text, &options)?;
            let selection = prepared.select()?;
            Ok((prepared, selection))
        })?;
        let (prepared, answer) = selected.map_err(|error| errors::of_engine(py, &error))?;
        Ok(Selection { prepared: Arc::new(prepared), answer })
    }

    /// The answer to a question of the JSON facade.
    fn ask(
        &self,
        py: Python<'_>,
        request: &Bound<'_, PyAny>,
        question: String,
    ) -> PyResult<String> {
        let (text, _) = read(request)?;
        let engine = self.0.clone();
        // Many budgets of a short request are long work too.
        let answer = work::run(py, true, move || engine.answer_json(&question, text))?;
        answer.map_err(|error| errors::of_engine(py, &error))
    }

    fn count_texts(&self, py: Python<'_>, texts: Vec<(String, String)>) -> PyResult<String> {
        let engine = self.0.clone();
        answer(py, true, move || {
            let texts: Vec<(&str, &str)> =
                texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
            Ok(engine.count_texts(&texts))
        })
    }

    /// A session, begun or gone on with.
    #[pyo3(signature = (*, state=None, cache_lifetime=None, cache_marks=false, resend_share=None))]
    fn session(
        &self,
        py: Python<'_>,
        state: Option<&str>,
        cache_lifetime: Option<std::time::Duration>,
        cache_marks: bool,
        resend_share: Option<f64>,
    ) -> PyResult<Session> {
        let session = match state {
            None => self.0.session(),
            Some(text) => {
                let state = SessionState::from_json(text);
                self.0.resume(state.map_err(|error| errors::of_engine(py, &error))?)
            }
        };
        let mut settings = SessionSettings::default();
        if cache_marks {
            settings.cache_marks = MarkRule::Write;
        }
        settings.cache_lifetime = cache_lifetime.unwrap_or(settings.cache_lifetime);
        settings.resend_share = resend_share.unwrap_or(settings.resend_share);
        Ok(Session::new(session.with_settings(settings)))
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// A window, and the request that it was chosen from, which may be asked more.
#[pyclass(frozen, module = "cupel_context._native")]
pub(crate) struct Selection {
    prepared: Arc<Prepared>,
    answer: cupel_engine::Selection,
}

#[pymethods]
impl Selection {
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

    fn report(&self) -> PyResult<String> {
        written(&self.answer.report)
    }

    fn explain(&self, py: Python<'_>, most_left_out: usize) -> PyResult<String> {
        let prepared = self.prepared.clone();
        answer(py, true, move || prepared.explain(most_left_out))
    }
}

/// The text of a request, and whether work on it may be long.
pub(crate) fn read(request: &Bound<'_, PyAny>) -> PyResult<(Arc<str>, bool)> {
    let text = json::request_text(request)?;
    let is_long = work::is_long(text.len());
    Ok((text, is_long))
}

/// Does work, and writes its answer as JSON.
fn answer<T: serde::Serialize + Send + 'static>(
    py: Python<'_>,
    is_long: bool,
    ask: impl FnOnce() -> Result<T, EngineError> + Send + 'static,
) -> PyResult<String> {
    let answer = work::run(py, is_long, ask)?;
    written(&answer.map_err(|error| errors::of_engine(py, &error))?)
}

/// An answer as JSON.
pub(crate) fn written(answer: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(answer)
        .map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string()))
}
