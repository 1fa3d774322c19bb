//! What the page shows of a request, for the playground.

use cupel_engine::{Engine, EngineError, NamedPolicy, Options};
use cupel_page::{View, ViewOptions};
use serde::Deserialize;
use serde_json::Value;

/// The question `view`, which is the page's and not the engine's.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
    ask: String,
    #[serde(default)]
    options: Value,
    /// Policies to compare with, by name.
    #[serde(default)]
    beside: Vec<String>,
}

impl Question {
    /// The question, if it is one.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let question: Self = serde_json::from_str(text).ok()?;
        (question.ask == "view").then_some(question)
    }

    pub(crate) fn answer(&self, engine: &Engine, request: String) -> Result<String, EngineError> {
        let options = match &self.options {
            Value::Null => Options::new(),
            given => Options::from_json(&given.to_string())?,
        };
        let mut how = ViewOptions::new().taste(true);
        for name in &self.beside {
            how = how.beside(NamedPolicy::find(name)?);
        }
        Ok(View::of_request(engine, request, &options, &how)?.to_json())
    }
}
