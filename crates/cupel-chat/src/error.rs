//! What can go wrong.

use cupel::CupelError;
use thiserror::Error;

use crate::{Bundle, Violation};

/// Why a request cannot be read, or no candidates can be made of it.
///
/// # Example
///
/// ```
/// use cupel_chat::{ChatError, Format, Request};
///
/// let error = Request::parse("{\"messages\": 3}", Some(Format::OpenAiChat)).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "line 1, column 14: messages: must be a list, got 3; give the messages as a list"
/// );
/// assert_eq!(error.location(), Some((1, 14)));
/// ```
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ChatError {
    /// The text is not JSON, or not of the shape that the format asks for.
    #[error("line {line}, column {column}: {}{problem}; {remedy}", prefix(path))]
    Malformed {
        /// Line of the place, from 1.
        line: usize,
        /// Column of the place in characters, from 1.
        column: usize,
        /// JSON path of the place, as in `messages[4].role`; empty for the whole.
        path: String,
        /// What is wrong with it.
        problem: String,
        /// What to do.
        remedy: String,
    },

    /// The text is JSON, but of none of the formats.
    #[error("{problem}; name its format: {}", crate::Format::names())]
    UnknownFormat {
        /// What was found instead.
        problem: String,
    },

    /// The request breaks rules of its provider.
    #[error("the request breaks {}: {}", count(violations), first(violations))]
    Invalid {
        /// All of them, in the order of the request.
        violations: Vec<Violation>,
    },

    /// A pin that names nothing in the request.
    #[error("{0}")]
    Pin(String),
}

impl ChatError {
    /// Line and column of the place, from 1, where there is one.
    pub fn location(&self) -> Option<(usize, usize)> {
        match self {
            Self::Malformed { line, column, .. } => Some((*line, *column)),
            _ => None,
        }
    }

    /// The text of the error without line and column, for whoever shows them in front.
    pub fn message(&self) -> String {
        match self {
            Self::Malformed { path, problem, remedy, .. } => {
                format!("{}{problem}; {remedy}", prefix(path))
            }
            other => other.to_string(),
        }
    }
}

fn prefix(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("{path}: ") }
}

fn count(violations: &[Violation]) -> String {
    match violations.len() {
        1 => "a rule of its provider".to_owned(),
        many => format!("{many} rules of its provider"),
    }
}

fn first(violations: &[Violation]) -> String {
    violations.first().map(ToString::to_string).unwrap_or_default()
}

/// Why nothing was selected.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SelectError {
    /// The request itself.
    #[error(transparent)]
    Chat(#[from] ChatError),

    /// What is pinned does not fit by itself.
    #[error(
        "what is pinned needs {pinned_tokens} tokens, but only {available} are available; \
         pinned are: {}",
        listed(parts)
    )]
    PinnedDoNotFit {
        /// Tokens of all that is pinned.
        pinned_tokens: i64,
        /// Tokens that the budget leaves for it.
        available: i64,
        /// What is pinned, the largest first.
        parts: Vec<Bundle>,
    },

    /// The pipeline.
    #[error(transparent)]
    Cupel(CupelError),
}

fn listed(parts: &[Bundle]) -> String {
    let parts: Vec<String> =
        parts.iter().map(|part| format!("{} ({} tokens)", part.label(), part.tokens())).collect();
    parts.join(", ")
}
