//! Sessions: windows that keep the prompt cache.

use std::sync::{Arc, Mutex, PoisonError};

use cupel_engine::{EngineError, Options, SessionState};
use napi::Result;
use napi::bindgen_prelude::AsyncTask;
use napi_derive::napi;

use crate::engine::{positions, rewritten, written};
use crate::errors;
use crate::work::Work;

type Shared = Arc<Mutex<cupel_engine::Session>>;

/// A conversation whose windows keep what the provider has in its cache.
#[napi]
pub struct Session(Shared);

impl Session {
    pub(crate) fn new(session: cupel_engine::Session) -> Self {
        Self(Arc::new(Mutex::new(session)))
    }
}

/// The session. It is replaced as a whole, so that a panic leaves nothing half done.
fn with<T>(session: &Shared, ask: impl FnOnce(&mut cupel_engine::Session) -> T) -> T {
    ask(&mut session.lock().unwrap_or_else(PoisonError::into_inner))
}

fn next(
    shared: &Shared,
    request: String,
    options: &str,
    now: Option<f64>,
) -> std::result::Result<cupel_engine::Step, EngineError> {
    let options = Options::from_json(options)?;
    // Works on a copy, so that nothing waits for a lock on Node's own thread.
    let mut session = with(shared, |session| session.clone());
    let step = session.next_with(request, &options, now.map(|seconds| seconds.max(0.0) as u64))?;
    with(shared, |here| *here = session);
    Ok(step)
}

#[napi]
impl Session {
    /// Proposes the window of the next request.
    #[napi]
    pub fn next(&self, request: String, options: String, now: Option<f64>) -> Result<Step> {
        let step = next(&self.0, request, &options, now);
        step.map(|answer| Step { answer }).map_err(|error| errors::of_engine(&error))
    }

    /// As `next`, on a thread of its own.
    #[napi(ts_return_type = "Promise<Step>")]
    pub fn next_async(
        &self,
        request: String,
        options: String,
        now: Option<f64>,
    ) -> AsyncTask<Work<cupel_engine::Step, Step>> {
        let shared = self.0.clone();
        let job = move || next(&shared, request, &options, now);
        AsyncTask::new(Work::new(job, |answer| Step { answer }))
    }

    /// The provider has answered: the step that was proposed last counts.
    #[napi]
    pub fn accept(&self) -> bool {
        with(&self.0, cupel_engine::Session::accept)
    }

    /// Forgets the step that was proposed last.
    #[napi]
    pub fn roll_back(&self) {
        with(&self.0, cupel_engine::Session::roll_back);
    }

    /// The accepted steps, as JSON.
    #[napi]
    pub fn state(&self) -> Option<String> {
        with(&self.0, |session| session.state().map(SessionState::to_json))
    }
}

/// The window of a step.
#[napi]
pub struct Step {
    answer: cupel_engine::Step,
}

#[napi]
impl Step {
    /// The indices of the messages that stay.
    #[napi(getter)]
    pub fn kept(&self) -> Vec<u32> {
        positions(&self.answer.kept_messages)
    }

    /// The request without what was left out.
    #[napi(getter)]
    pub fn text(&self) -> String {
        self.answer.text.clone()
    }

    /// The tokens of the window.
    #[napi(getter)]
    pub fn tokens(&self) -> i64 {
        self.answer.summary.tokens_after
    }

    /// Returns true if the request was repaired, so that its messages are not those that were handed in.
    #[napi(getter)]
    pub fn is_repaired(&self) -> bool {
        !self.answer.repairs.is_empty()
    }

    /// The messages that are not what they were, as a JSON list of pairs of index and JSON.
    #[napi(getter)]
    pub fn rewritten(&self) -> Option<String> {
        rewritten(&self.answer.rewritten)
    }

    /// Everything but texts, as JSON.
    #[napi]
    pub fn answer(&self) -> Result<String> {
        written(&self.answer)
    }
}
