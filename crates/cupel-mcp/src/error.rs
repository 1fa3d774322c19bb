//! What a tool answers where it has no answer: data that a model and a program can act on.

use cupel_engine::EngineError;
use serde::Serialize;
use serde_json::Value;

/// Why a tool has no answer. `code` never changes, `path` says which argument or which place of the request, `remedy`
/// what to do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolError {
    /// What kind of error it is.
    pub code: &'static str,
    /// The rule that was broken, with the value that broke it.
    pub rule: String,
    /// Where: an argument, or a place in the request, as in `messages[4].role`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// What the engine said beside that, as it says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

impl ToolError {
    pub(crate) fn new(code: &'static str, rule: impl Into<String>) -> Self {
        Self { code, rule: rule.into(), path: None, remedy: None, details: None }
    }

    /// An argument that makes no sense.
    pub(crate) fn argument(path: impl Into<String>, rule: impl Into<String>) -> Self {
        Self::new("invalid-argument", rule).at(path)
    }

    pub(crate) fn at(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// The error as a person reads it.
    #[must_use]
    pub fn message(&self) -> String {
        let place = self.path.as_ref().map(|path| format!("{path}: ")).unwrap_or_default();
        let remedy = self.remedy.as_ref().map(|remedy| format!("; {remedy}")).unwrap_or_default();
        format!("{place}{}{remedy}", self.rule)
    }
}

impl From<EngineError> for ToolError {
    fn from(error: EngineError) -> Self {
        let has_more = error.shortfall().is_some() || !error.violations().is_empty();
        Self {
            code: error.code().as_str(),
            rule: error.rule().to_owned(),
            path: error.path().map(str::to_owned),
            remedy: error.remedy().map(str::to_owned),
            details: has_more.then(|| bounded(&error)),
        }
    }
}

/// The numbers of a shortfall and the rules broken, of each the first few: an error has to be readable.
fn bounded(error: &EngineError) -> Value {
    const MOST: usize = 10;
    let mut details = serde_json::Map::new();
    if let Some((needed, available)) = error.shortfall() {
        details.insert("needed_tokens".into(), needed.into());
        details.insert("available_tokens".into(), available.into());
    }
    let violations: Vec<Value> =
        error.violations().iter().take(MOST).map(|it| it.text.clone().into()).collect();
    if !violations.is_empty() {
        details.insert("violations".into(), violations.into());
    }
    details.into()
}
