//! The file format: a situation, and what is expected of it.
//!
//! `conformance/README.md` documents every field.

mod diagnostics;
mod expected;
mod fields;
mod item;
mod strategy;
mod task;
#[cfg(test)]
mod tests;

use std::fmt;

use crate::protocol::Task;
use fields::Fields;

pub use diagnostics::{ExpectedDecision, ExpectedDiagnostics, ExpectedOverflow};
pub use expected::{
    Expected, ExpectedError, ExpectedItems, ExpectedScore, ExpectedSensitivity, ExpectedSlicing,
};

/// The contents of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector {
    /// The fact that the vector states.
    pub title: String,
    /// The situation.
    pub task: Task,
    /// Result that is expected.
    pub expected: Expected,
    /// Scores that differ by less are equal.
    pub score_epsilon: f64,
    /// Fields that the format does not have, or that do not belong where they are.
    pub unknown_fields: Vec<String>,
    /// Rules of this suite that the file breaks.
    pub broken_rules: Vec<String>,
}

impl Vector {
    /// Reads a file's text.
    ///
    /// ```
    /// use cupel_conformance::Vector;
    ///
    /// let vector: Vector = r#"
    ///     [test]
    ///     name = "one item is the most recent"
    ///     stage = "scoring"
    ///     scorer = "recency"
    ///
    ///     [[items]]
    ///     content = "only"
    ///     tokens = 1
    ///     timestamp = 2024-06-01T00:00Z
    ///
    ///     [[expected]]
    ///     content = "only"
    ///     score_approx = 1.0
    /// "#.parse()?;
    /// assert!(vector.unknown_fields.is_empty());
    /// # Ok::<(), cupel_conformance::VectorError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the text is not TOML, or a field is missing or has the wrong type.
    pub fn parse(file: &str) -> Result<Self, VectorError> {
        let table = file.parse().map_err(|error: toml::de::Error| {
            VectorError::new(format!("not TOML: {}", error.to_string().trim_end()))
        })?;
        let mut root = Fields::root(table);
        let mut test = root.table(&["test"])?.ok_or_else(|| root.missing("test"))?;
        let title = test.text(&["name"])?;
        if title.is_none() {
            root.notes.broken_rule("`test.name` is missing");
        }
        let at_construction = test.flag("expect_construction_error")?.unwrap_or(false);
        let error = expected::error(&mut root, at_construction)?;
        let (task, expected) = task::task(&mut root, &mut test, error)?;
        let score_epsilon = score_epsilon(&mut root)?;

        let notes = root.notes.clone();
        test.finish();
        root.finish();
        let notes = notes.take();
        Ok(Self {
            title: title.unwrap_or_default(),
            task,
            expected,
            score_epsilon,
            unknown_fields: notes.unknown_fields,
            broken_rules: notes.broken_rules,
        })
    }
}

impl std::str::FromStr for Vector {
    type Err = VectorError;

    fn from_str(text: &str) -> Result<Self, VectorError> {
        Self::parse(text)
    }
}

fn score_epsilon(root: &mut Fields) -> Result<f64, VectorError> {
    let Some(mut tolerance) = root.table(&["tolerance"])? else { return Ok(1e-9) };
    let epsilon = tolerance.float(&["score_epsilon"])?;
    tolerance.finish();
    Ok(epsilon.unwrap_or(1e-9))
}

/// Why a file cannot be read as a vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VectorError(String);

impl VectorError {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// A stable name of the error.
    #[must_use]
    pub fn code(&self) -> &'static str {
        "invalid_vector"
    }
}

impl fmt::Display for VectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for VectorError {}
