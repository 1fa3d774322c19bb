//! Errors: of a file and the line in it; of a policy and the query at which it fails.

use std::fmt;
use std::io;

use cupel::wire::ReadError;

/// A file that cannot be read, or that breaks a rule of its format.
///
/// One line: file, line, column where it helps, path within the line, rule and remedy.
///
/// ```
/// use cupel_eval::{DataSet, ReadOptions};
///
/// let text = r#"{"pool": "a/1", "items": [{"content": "hello", "tokens": "x"}], "queries": []}"#;
/// let error = DataSet::read("talk.jsonl", text.as_bytes(), &ReadOptions::default()).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "talk.jsonl:1: items[0].tokens: must be a whole number, got \"x\""
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataError {
    code: &'static str,
    file: String,
    line: Option<usize>,
    column: Option<usize>,
    problem: Problem,
}

/// The bytes cannot be had.
const UNREADABLE: &str = "unreadable-data";
/// The bytes are no JSON.
const NOT_JSON: &str = "data-not-json";
/// The JSON breaks a rule of the format.
const INVALID: &str = "invalid-data";

impl DataError {
    /// A stable, language-neutral name of what went wrong: `unreadable-data`, `data-not-json` or
    /// `invalid-data`.
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// The file, as the caller named it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The line, from 1; `None` if the whole file is meant.
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// Where in the line's JSON, as `items[3].tokens`; empty if the whole line is meant.
    pub fn path(&self) -> &str {
        &self.problem.path
    }

    pub(crate) fn in_file(file: &str, rule: impl Into<String>) -> Self {
        let problem = Problem::new(rule);
        Self { code: INVALID, file: file.to_owned(), line: None, column: None, problem }
    }

    pub(crate) fn in_line(file: &str, line: usize, problem: Problem) -> Self {
        Self { code: INVALID, file: file.to_owned(), line: Some(line), column: None, problem }
    }

    pub(crate) fn not_json(file: &str, line: usize, error: &serde_json::Error) -> Self {
        let place = format!(" at line {} column {}", error.line(), error.column());
        let cause = error.to_string().replace(&place, "").to_lowercase();
        let rule = format!("is not JSON: {cause}; each line must be one complete JSON object");
        let error_in_line = Self::in_line(file, line, Problem::new(rule));
        Self { code: NOT_JSON, column: Some(error.column()), ..error_in_line }
    }

    pub(crate) fn unreadable(file: &str, line: usize, error: &io::Error) -> Self {
        let rule = match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                "the gzip data ends early; the file was cut off, fetch or write it again".to_owned()
            }
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                "the gzip data is damaged; fetch or write the file again".to_owned()
            }
            _ => format!("cannot read: {}", cause(error)),
        };
        Self { code: UNREADABLE, ..Self::in_line(file, line, Problem::new(rule)) }
    }

    pub(crate) fn cannot_open(file: &str, error: &io::Error) -> Self {
        let rule = format!("cannot read: {}", cause(error));
        Self { code: UNREADABLE, ..Self::in_file(file, rule) }
    }
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        for place in [self.line, self.column].into_iter().flatten() {
            write!(f, ":{place}")?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl std::error::Error for DataError {}

/// Message of the system, in the manner of our own messages.
fn cause(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

/// A rule that a line breaks, with the path to the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    path: String,
    rule: String,
}

impl Problem {
    pub(crate) fn new(rule: impl Into<String>) -> Self {
        Self { path: String::new(), rule: rule.into() }
    }

    /// A problem with one place, as `evidence[2]`.
    pub(crate) fn at(path: impl Into<String>, rule: impl Into<String>) -> Self {
        Self { path: path.into(), rule: rule.into() }
    }

    /// A problem that the library found.
    pub(crate) fn of_library(error: &ReadError<serde_json::Error>) -> Self {
        match error {
            ReadError::Value(problem) => Self::at(problem.path(), problem.rule()),
            other => Self::new(other.to_string()),
        }
    }

    /// The same problem, seen from whoever holds it, as `queries[4]`.
    pub(crate) fn within(self, parent: &str) -> Self {
        let dot = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        Self { path: format!("{parent}{dot}{}", self.path), ..self }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.rule)
    }
}

/// A method that could not answer: which one, at which query, and why.
#[derive(Debug, thiserror::Error)]
#[error("{method}: pool `{pool}`, query `{query}`: {source}")]
#[non_exhaustive]
pub struct RunError {
    /// The method's name.
    pub method: String,
    /// The pool's name.
    pub pool: String,
    /// The query's id.
    pub query: String,
    /// Why.
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

impl RunError {
    /// A stable, language-neutral name of the error.
    pub fn code(&self) -> &'static str {
        "method-failed"
    }
}

/// A method that could not trim a request of an agent: which one, in which run, at which step, and
/// why.
#[derive(Debug, thiserror::Error)]
#[error("{method}: run `{run}`{}: {source}", place(*.at))]
#[non_exhaustive]
pub struct AgentError {
    /// The method's name.
    pub method: String,
    /// The run's name.
    pub run: String,
    /// Number of messages the request had; `None` if the whole run is meant.
    pub at: Option<usize>,
    /// Why.
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

impl AgentError {
    /// A stable, language-neutral name of the error.
    pub fn code(&self) -> &'static str {
        "method-failed"
    }
}

fn place(at: Option<usize>) -> String {
    at.map(|at| format!(", step at {at}")).unwrap_or_default()
}
