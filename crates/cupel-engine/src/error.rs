//! Errors as data: one type for every call.

use std::fmt;

use cupel::CupelError;
use cupel_chat::ChatError;
use serde::{Deserialize, Serialize};

use crate::{Part, RuleBroken, Schema};

/// Why a call has no answer.
///
/// Made for programs as much as for people: [`code`](Self::code) never changes, and place, rule and
/// remedy stand apart. As JSON it is a document of its own, like every answer.
///
/// ```
/// use cupel_engine::{Engine, ErrorCode};
///
/// let engine = Engine::builder().max_tokens(100).build()?;
/// let error = engine.select(r#"{"messages": 3}"#).unwrap_err();
/// assert_eq!(error.code(), ErrorCode::MalformedRequest);
/// assert_eq!(error.code().as_str(), "malformed-request");
/// assert_eq!(error.path(), Some("messages"));
/// assert_eq!(error.location(), Some((1, 14)));
/// assert_eq!(error.rule(), "must be a list, got 3");
/// assert_eq!(error.remedy(), Some("give the messages as a list"));
/// # Ok::<(), cupel_engine::EngineError>(())
/// ```
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EngineError(Box<Details>);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Details {
    schema: Schema,
    /// Kind of the error; never changes.
    code: ErrorCode,
    /// The rule that was broken, with the value that broke it.
    rule: String,
    /// Remedy: what to do about the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
    /// Where in the request, the policy or the options, as in `messages[4].role`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// Line of the place, from 1, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    /// Column of the place in characters, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    /// Messages that must be kept and do not fit, the largest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    parts: Vec<Part>,
    /// Tokens that must be kept, where they do not fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    needed_tokens: Option<i64>,
    /// Tokens that there is room for, where what must be kept does not fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    available_tokens: Option<i64>,
    /// The rules of the provider that the request breaks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    violations: Vec<RuleBroken>,
}

/// Kind of an error. Texts may change from version to version, these names do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ErrorCode {
    /// The text is not JSON, or not of the shape that its format asks for.
    MalformedRequest,
    /// The text is JSON, but of none of the formats.
    UnknownFormat,
    /// The request breaks rules of its provider.
    InvalidRequest,
    /// A pin that matches nothing.
    UnmatchedPin,
    /// The messages that must be kept do not fit by themselves.
    DoesNotFit,
    /// Neither the call nor the model nor the policy says how much fits.
    NoBudget,
    /// Limits that contradict each other.
    InvalidBudget,
    /// No policy of this name.
    UnknownPolicy,
    /// A policy that cannot be read or built.
    InvalidPolicy,
    /// No model of this name.
    UnknownModel,
    /// No tokenizer of this name.
    UnknownTokenizer,
    /// A tokenizer's file that cannot be read.
    UnreadableTokenizer,
    /// A message that is not in the request.
    UnknownMessage,
    /// Vectors that do not go together, or with the request.
    InvalidVectors,
    /// A file of shorter forms cannot be read.
    InvalidRenderings,
    /// The state of a session that cannot be read.
    InvalidState,
    /// An argument that makes no sense.
    InvalidArgument,
    /// A strategy refused to go on.
    SelectionFailed,
}

impl ErrorCode {
    /// All of them.
    pub const ALL: [Self; 18] = [
        Self::MalformedRequest,
        Self::UnknownFormat,
        Self::InvalidRequest,
        Self::UnmatchedPin,
        Self::DoesNotFit,
        Self::NoBudget,
        Self::InvalidBudget,
        Self::UnknownPolicy,
        Self::InvalidPolicy,
        Self::UnknownModel,
        Self::UnknownTokenizer,
        Self::UnreadableTokenizer,
        Self::UnknownMessage,
        Self::InvalidVectors,
        Self::InvalidRenderings,
        Self::InvalidState,
        Self::InvalidArgument,
        Self::SelectionFailed,
    ];

    /// Its name, as in `does-not-fit`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MalformedRequest => "malformed-request",
            Self::UnknownFormat => "unknown-format",
            Self::InvalidRequest => "invalid-request",
            Self::UnmatchedPin => "unmatched-pin",
            Self::DoesNotFit => "does-not-fit",
            Self::NoBudget => "no-budget",
            Self::InvalidBudget => "invalid-budget",
            Self::UnknownPolicy => "unknown-policy",
            Self::InvalidPolicy => "invalid-policy",
            Self::UnknownModel => "unknown-model",
            Self::UnknownTokenizer => "unknown-tokenizer",
            Self::UnreadableTokenizer => "unreadable-tokenizer",
            Self::UnknownMessage => "unknown-message",
            Self::InvalidVectors => "invalid-vectors",
            Self::InvalidRenderings => "invalid-renderings",
            Self::InvalidState => "invalid-state",
            Self::InvalidArgument => "invalid-argument",
            Self::SelectionFailed => "selection-failed",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl EngineError {
    pub(crate) fn new(code: ErrorCode, rule: impl Into<String>) -> Self {
        Self(Box::new(Details {
            schema: Schema,
            code,
            rule: rule.into(),
            remedy: None,
            path: None,
            line: None,
            column: None,
            parts: Vec::new(),
            needed_tokens: None,
            available_tokens: None,
            violations: Vec::new(),
        }))
    }

    /// Error about a text that should be JSON of some shape.
    pub(crate) fn of_json(code: ErrorCode, error: &serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let rule = error.to_string().replace(&format!(" at line {line} column {column}"), "");
        Self::new(code, rule).at_place(line, column)
    }

    pub(crate) fn with_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.0.remedy = Some(remedy.into());
        self
    }

    pub(crate) fn at_path(mut self, path: impl Into<String>) -> Self {
        self.0.path = Some(path.into()).filter(|path| !path.is_empty());
        self
    }

    pub(crate) fn at_place(mut self, line: usize, column: usize) -> Self {
        (self.0.line, self.0.column) = (Some(line), Some(column));
        self
    }

    pub(crate) fn does_not_fit(needed: i64, available: i64, parts: Vec<Part>) -> Self {
        let rule = format!("what must be kept takes {needed} tokens, {available} are there");
        let mut error = Self::new(ErrorCode::DoesNotFit, rule)
            .with_remedy("raise the budget, lower the reserve or pin less");
        error.0.parts = parts;
        (error.0.needed_tokens, error.0.available_tokens) = (Some(needed), Some(available));
        error
    }

    /// Kind of the error; never changes.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    /// The rule that was broken, with the value that broke it.
    #[must_use]
    pub fn rule(&self) -> &str {
        &self.0.rule
    }

    /// Remedy: what to do about the error.
    #[must_use]
    pub fn remedy(&self) -> Option<&str> {
        self.0.remedy.as_deref()
    }

    /// Where in the request, the policy or the options, as in `messages[4].role`.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        self.0.path.as_deref()
    }

    /// Line and column of the place, from 1, where there is one.
    #[must_use]
    pub fn location(&self) -> Option<(usize, usize)> {
        self.0.line.zip(self.0.column)
    }

    /// Messages that must be kept and do not fit, the largest first.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.0.parts
    }

    /// The tokens that must be kept and the tokens there is room for, where the first do not fit.
    #[must_use]
    pub fn shortfall(&self) -> Option<(i64, i64)> {
        self.0.needed_tokens.zip(self.0.available_tokens)
    }

    /// The rules of the provider that the request breaks.
    #[must_use]
    pub fn violations(&self) -> &[RuleBroken] {
        &self.0.violations
    }

    /// Returns true if the call was understood and the answer is no: the request does not fit, or its
    /// provider would refuse it. All other errors are the caller's to mend.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(self.code(), ErrorCode::DoesNotFit | ErrorCode::InvalidRequest)
    }

    /// Path, rule and remedy in one line, without line and column.
    #[must_use]
    pub fn message(&self) -> String {
        let path = self.path().map(|path| format!("{path}: ")).unwrap_or_default();
        let remedy = self.remedy().map(|remedy| format!("; {remedy}")).unwrap_or_default();
        format!("{path}{}{remedy}", self.rule())
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.location() {
            write!(f, "line {line}, column {column}: ")?;
        }
        f.write_str(&self.message())
    }
}

impl fmt::Debug for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for EngineError {}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for EngineError {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "EngineError".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Details::json_schema(generator)
    }
}

impl From<ChatError> for EngineError {
    fn from(error: ChatError) -> Self {
        match error {
            ChatError::Malformed { line, column, path, problem, remedy } => {
                Self::new(ErrorCode::MalformedRequest, problem)
                    .with_remedy(remedy)
                    .at_path(path)
                    .at_place(line, column)
            }
            ChatError::UnknownFormat { problem, remedy } => {
                Self::new(ErrorCode::UnknownFormat, problem).with_remedy(remedy)
            }
            ChatError::Invalid { violations } => {
                let many = if violations.len() == 1 { "" } else { "s" };
                let rule = format!(
                    "its provider would refuse this request: {} problem{many}",
                    violations.len()
                );
                let mut error = Self::new(ErrorCode::InvalidRequest, rule);
                error.0.violations = violations.into_iter().map(RuleBroken::from).collect();
                error
            }
            other => Self::new(ErrorCode::UnmatchedPin, other.to_string()),
        }
    }
}

impl From<CupelError> for EngineError {
    fn from(error: CupelError) -> Self {
        let code = match error {
            CupelError::InvalidBudget(_) => ErrorCode::InvalidBudget,
            CupelError::PinnedExceedsBudget { .. } | CupelError::Overflow { .. } => {
                ErrorCode::DoesNotFit
            }
            _ => ErrorCode::SelectionFailed,
        };
        Self::new(code, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_code_is_its_name_in_json_and_no_code_is_missing() {
        for (at, code) in ErrorCode::ALL.into_iter().enumerate() {
            let json = serde_json::to_string(&code).unwrap();
            assert_eq!(json, format!("\"{code}\""));
            assert_eq!(code as usize, at, "{code} is not where it was declared");
        }
        let next = serde_json::from_str::<ErrorCode>("\"no-such-code\"").unwrap_err().to_string();
        assert_eq!(next.matches('`').count(), 2 * (ErrorCode::ALL.len() + 1), "{next}");
    }
}
