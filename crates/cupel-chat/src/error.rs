//! Errors.

use std::borrow::Cow;

use thiserror::Error;

use crate::{Pin, UnknownFormat, Violation};

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
/// assert_eq!(error.code(), "malformed-request");
/// assert_eq!((error.path(), error.location()), (Some("messages"), Some((1, 14))));
/// assert_eq!(error.problem(), "must be a list, got 3");
/// assert_eq!(error.remedy(), "give the messages as a list");
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
        /// Problem of the value.
        problem: String,
        /// The remedy.
        remedy: String,
    },

    /// The text is JSON, but of none of the formats.
    #[error("{problem}; {remedy}")]
    UnknownFormat {
        /// Value that was found instead.
        problem: String,
        /// The remedy.
        remedy: String,
    },

    /// The request breaks rules of its provider.
    #[error("the request breaks {}: {}", count(violations), first(violations))]
    Invalid {
        /// All of them, in the order of the request.
        violations: Vec<Violation>,
    },

    /// A pin that matches nothing in the request.
    #[error("pin `{pin}`: {problem}; {remedy}")]
    Pin {
        /// The pin.
        pin: Pin,
        /// Problem of the value.
        problem: String,
        /// The remedy.
        remedy: String,
    },
}

impl ChatError {
    /// A stable name of what went wrong: `malformed-request`, `unknown-format`, `invalid-request`
    /// or `unmatched-pin`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Malformed { .. } => "malformed-request",
            Self::UnknownFormat { .. } => UnknownFormat::CODE,
            Self::Invalid { .. } => "invalid-request",
            Self::Pin { .. } => "unmatched-pin",
        }
    }

    /// The JSON path of the place, as in `messages[4].role`, where there is one; of broken rules the
    /// first.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        let path = match self {
            Self::Malformed { path, .. } => path,
            Self::Invalid { violations } => &violations.first()?.path,
            Self::UnknownFormat { .. } | Self::Pin { .. } => return None,
        };
        Some(path.as_str()).filter(|path| !path.is_empty())
    }

    /// The stable name of the provider's rule that is broken, as in `orphan-result`; of several the
    /// first.
    #[must_use]
    pub fn rule(&self) -> Option<&'static str> {
        self.violations().first().map(|violation| violation.rule)
    }

    /// The rules of its provider that the request breaks; none if something else is wrong.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        match self {
            Self::Invalid { violations } => violations,
            _ => &[],
        }
    }

    /// Problem, without the place and the remedy.
    #[must_use]
    pub fn problem(&self) -> &str {
        match self {
            Self::Malformed { problem, .. }
            | Self::UnknownFormat { problem, .. }
            | Self::Pin { problem, .. } => problem,
            Self::Invalid { violations } => violations.first().map_or("", |first| &first.text),
        }
    }

    /// The remedy.
    #[must_use]
    pub fn remedy(&self) -> Cow<'_, str> {
        match self {
            Self::Malformed { remedy, .. }
            | Self::UnknownFormat { remedy, .. }
            | Self::Pin { remedy, .. } => Cow::Borrowed(remedy),
            Self::Invalid { violations } => {
                Cow::Borrowed(violations.first().map_or("", |first| &first.remedy))
            }
        }
    }

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

#[cfg(test)]
mod tests {
    use crate::testing::{Words, read};
    use crate::{CandidateOptions, ChatError, Format, Request};

    #[test]
    fn every_error_says_what_where_and_what_to_do() {
        let unknown = Request::parse("{}", None).unwrap_err();
        let broken = r#"[{"role":"tool","tool_call_id":"x","content":"?"}]"#;
        let broken = read(broken, Format::OpenAiChat);
        let broken = broken.candidates(&Words, &CandidateOptions::default()).unwrap_err();
        let pins = vec!["role:robot".parse().unwrap()];
        let pinned = read(r#"[{"role":"user","content":"a"}]"#, Format::OpenAiChat);
        let pinned = pinned
            .candidates(&Words, &CandidateOptions { pins, ..Default::default() })
            .unwrap_err();
        let parts = |error: &ChatError| {
            let parts = [error.code(), error.path().unwrap_or("-"), error.rule().unwrap_or("-")];
            (parts.join(" "), format!("{}; {}", error.problem(), error.remedy()))
        };
        assert_eq!(parts(&unknown).0, "unknown-format - -");
        assert_eq!(unknown.to_string(), parts(&unknown).1);
        assert_eq!(parts(&broken).0, "invalid-request [0] orphan-result");
        assert!(broken.to_string().ends_with(&parts(&broken).1));
        assert_eq!(parts(&pinned).0, "unmatched-pin - -");
        assert_eq!(
            pinned.to_string(),
            "pin `role:robot`: no message has this role; give one of user"
        );
    }
}
