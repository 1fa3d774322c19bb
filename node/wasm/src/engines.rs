//! Engines, made once for each settings.

use std::cell::RefCell;

use cupel_engine::{Engine, EngineError};
use serde_json::Value;

use crate::view;

/// More would be forgotten before they are used again.
const MOST: usize = 64;

thread_local! {
    /// By their settings, the one that was used last at the end.
    static ENGINES: RefCell<Vec<(String, Engine)>> = const { RefCell::new(Vec::new()) };
}

/// The answer of the engine with these settings, or the error, both as JSON.
pub(crate) fn ask(settings: &str, question: &str, request: String) -> Result<String, String> {
    let answer = engine(settings).and_then(|engine| match view::Question::read(question) {
        Some(question) => question.answer(&engine, request),
        None => engine.answer_json(question, request),
    });
    answer.map_err(|error| told(&error))
}

fn engine(settings: &str) -> Result<Engine, EngineError> {
    ENGINES.with_borrow_mut(|engines| {
        let known = engines.iter().position(|(known, _)| known == settings);
        let engine = match known {
            Some(at) => engines.remove(at).1,
            None => Engine::builder().set_json(settings)?.build()?,
        };
        if engines.len() == MOST {
            engines.remove(0);
        }
        engines.push((settings.to_owned(), engine.clone()));
        Ok(engine)
    })
}

/// An error with all that it says.
fn told(error: &EngineError) -> String {
    let mut details = serde_json::to_value(error).unwrap_or_default();
    details["message"] = Value::from(error.to_string());
    details.to_string()
}
