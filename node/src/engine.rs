//! The engine, as JavaScript calls it: texts in, answers as JSON out.

use std::sync::Arc;

use cupel_engine::{EngineError, Options, Prepared, SessionSettings, SessionState};
use napi::Result;
use napi::bindgen_prelude::AsyncTask;
use napi_derive::napi;
use serde::Serialize;

use crate::errors;
use crate::session::Session;
use crate::work::Work;

/// Fits requests into a window.
#[napi]
pub struct Engine(cupel_engine::Engine);

#[napi]
impl Engine {
    /// An engine, from JSON by the keywords of the engine's table of settings.
    #[napi(constructor)]
    pub fn new(settings: String) -> Result<Self> {
        let built = cupel_engine::Engine::builder()
            .set_json(&settings)
            .and_then(cupel_engine::EngineBuilder::build);
        built.map(Self).map_err(|error| errors::of_engine(&error))
    }

    /// The name of the policy that it selects by.
    #[napi(getter)]
    pub fn policy(&self) -> String {
        self.0.policy().name().to_owned()
    }

    /// The best request that fits.
    #[napi]
    pub fn select(&self, request: String, options: String) -> Result<Selection> {
        let selected = select(&self.0, request, &options);
        selected.map(Selection::from).map_err(|error| errors::of_engine(&error))
    }

    /// As `select`, on a thread of its own.
    #[napi(ts_return_type = "Promise<Selection>")]
    pub fn select_async(
        &self,
        request: String,
        options: String,
    ) -> AsyncTask<Work<Selected, Selection>> {
        let engine = self.0.clone();
        AsyncTask::new(Work::new(move || select(&engine, request, &options), Selection::from))
    }

    /// The answer to a question of the JSON facade.
    #[napi]
    pub fn ask(&self, request: String, question: String) -> Result<String> {
        self.0.answer_json(&question, request).map_err(|error| errors::of_engine(&error))
    }

    /// As `ask`, on a thread of its own.
    #[napi(ts_return_type = "Promise<string>")]
    pub fn ask_async(&self, request: String, question: String) -> AsyncTask<Work<String, String>> {
        let engine = self.0.clone();
        AsyncTask::new(Work::new(move || engine.answer_json(&question, request), |answer| answer))
    }

    /// A session, begun or gone on with.
    #[napi]
    pub fn session(
        &self,
        state: Option<String>,
        cache_lifetime: Option<f64>,
        cache_marks: bool,
        resend_share: Option<f64>,
    ) -> Result<Session> {
        let session = match state {
            None => self.0.session(),
            Some(text) => {
                let state = SessionState::from_json(&text);
                self.0.resume(state.map_err(|error| errors::of_engine(&error))?)
            }
        };
        let mut settings = SessionSettings::default();
        if cache_marks {
            settings.cache_marks = cupel_engine::MarkRule::Write;
        }
        let lifetime = cache_lifetime.and_then(|s| std::time::Duration::try_from_secs_f64(s).ok());
        settings.cache_lifetime = lifetime.unwrap_or(settings.cache_lifetime);
        settings.resend_share = resend_share.unwrap_or(settings.resend_share);
        Ok(Session::new(session.with_settings(settings)))
    }
}

/// A prepared request and what was selected of it.
pub(crate) type Selected = (Prepared, cupel_engine::Selection);

fn select(
    engine: &cupel_engine::Engine,
    request: String,
    options: &str,
) -> std::result::Result<Selected, EngineError> {
    let prepared = engine.prepare(request, &Options::from_json(options)?)?;
    let selection = prepared.select()?;
    Ok((prepared, selection))
}

/// A window, and the request that it was chosen from, which may be asked more.
#[napi]
pub struct Selection {
    prepared: Arc<Prepared>,
    answer: cupel_engine::Selection,
}

impl From<Selected> for Selection {
    fn from((prepared, answer): Selected) -> Self {
        Self { prepared: Arc::new(prepared), answer }
    }
}

#[napi]
impl Selection {
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

    /// The report of the specification, as JSON.
    #[napi]
    pub fn report(&self) -> Result<String> {
        written(&self.answer.report)
    }

    /// The explanation, as JSON.
    #[napi]
    pub fn explain(&self, most_left_out: u32) -> Result<String> {
        let told = self.prepared.explain(most_left_out as usize);
        written(&told.map_err(|error| errors::of_engine(&error))?)
    }
}

/// Indices as numbers that JavaScript has.
pub(crate) fn positions(kept: &[usize]) -> Vec<u32> {
    kept.iter().map(|at| *at as u32).collect()
}

/// Rewritten messages as JSON, if there are any.
pub(crate) fn rewritten(changed: &[(usize, String)]) -> Option<String> {
    // What is there is JSON already: it is joined, not written again.
    let pairs: Vec<String> = changed.iter().map(|(at, json)| format!("[{at},{json}]")).collect();
    (!pairs.is_empty()).then(|| format!("[{}]", pairs.join(",")))
}

/// An answer as JSON.
pub(crate) fn written(answer: &impl Serialize) -> Result<String> {
    serde_json::to_string(answer).map_err(|error| errors::unwritten(&error))
}
