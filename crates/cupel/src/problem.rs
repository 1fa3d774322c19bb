//! Problem of a value: the message, and the path to the value.

use std::fmt;

use crate::CupelError;
use crate::model::OneLine;

/// A rule that a value breaks, with the path to the place.
///
/// # Example
///
/// ```
/// use cupel::{PathSegment, Problem};
///
/// let problem = Problem::new("must be positive, got -1").in_field("weight").in_list(2);
/// let problem = problem.in_field("scorers");
/// assert_eq!(problem.path(), "scorers[2].weight");
/// assert_eq!(problem.rule(), "must be positive, got -1");
/// assert_eq!(problem.segments()[1], PathSegment::Index(2));
/// assert_eq!(problem.to_string(), "scorers[2].weight: must be positive, got -1");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// From the whole to the place; empty for the whole.
    path: Vec<PathSegment>,
    rule: String,
}

/// One step of the path to a [`Problem`].
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PathSegment {
    /// Into the field of this name.
    Field(String),
    /// Into a list, at this position.
    Index(usize),
}

impl Problem {
    /// A problem with the whole: what the rule is, and what was found.
    #[must_use]
    pub fn new(rule: impl Into<String>) -> Self {
        Self { path: Vec::new(), rule: rule.into() }
    }

    /// The same problem, seen from whoever holds it in a field.
    #[must_use]
    pub fn in_field(self, name: &str) -> Self {
        self.within(PathSegment::Field(name.to_owned()))
    }

    /// The same problem, seen from whoever holds it in a list.
    #[must_use]
    pub fn in_list(self, index: usize) -> Self {
        self.within(PathSegment::Index(index))
    }

    fn within(mut self, parent: PathSegment) -> Self {
        self.path.insert(0, parent);
        self
    }

    /// Where it is, as `scorers[2].weight`; empty for the whole.
    #[must_use]
    pub fn path(&self) -> String {
        Path(&self.path).to_string()
    }

    /// Where it is, step by step; none for the whole.
    #[must_use]
    pub fn segments(&self) -> &[PathSegment] {
        &self.path
    }

    /// The rule that is broken, and what was found instead.
    #[must_use]
    pub fn rule(&self) -> &str {
        &self.rule
    }

    /// A stable, language-neutral name: `invalid_value`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        "invalid_value"
    }
}

struct Path<'p>(&'p [PathSegment]);

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, segment) in self.0.iter().enumerate() {
            match segment {
                PathSegment::Index(index) => write!(f, "[{index}]")?,
                PathSegment::Field(name) if depth == 0 => OneLine(name).fmt(f)?,
                PathSegment::Field(name) => write!(f, ".{}", OneLine(name))?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", Path(&self.path))?;
        }
        OneLine(&self.rule).fmt(f)
    }
}

impl std::error::Error for Problem {}

impl From<CupelError> for Problem {
    /// The variants of the error carry a text, which constructors write as a problem is written:
    /// the path, a colon, the rule. This is the one place that reads it back.
    fn from(error: CupelError) -> Self {
        let text = error.to_string();
        match text.split_once(": ") {
            Some((path, rule)) if !path.contains(char::is_whitespace) => {
                Self { path: read_path(path), rule: rule.to_owned() }
            }
            _ => Self::new(text),
        }
    }
}

impl From<Problem> for CupelError {
    fn from(problem: Problem) -> Self {
        Self::PipelineConfig(problem.to_string())
    }
}

/// The inverse of writing a path.
fn read_path(text: &str) -> Vec<PathSegment> {
    let pieces = text.split(['.', '[']).filter(|piece| !piece.is_empty());
    let segment = |piece: &str| match piece.strip_suffix(']').map(str::parse) {
        Some(Ok(index)) => PathSegment::Index(index),
        _ => PathSegment::Field(piece.to_owned()),
    };
    pieces.map(segment).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_scorer(text: &str) -> Problem {
        CupelError::ScorerConfig(text.to_owned()).into()
    }

    #[test]
    fn the_path_of_a_constructor_is_read_back() {
        for path in ["weight", "scorers[2].weight", "weights.a-b", "[3]", "[3][4].x[0]"] {
            let problem = of_scorer(&format!("{path}: must be positive, got -1"));
            assert_eq!(
                (problem.path().as_str(), problem.rule()),
                (path, "must be positive, got -1")
            );
            let dot = if path.starts_with('[') { "" } else { "." };
            assert_eq!(problem.in_list(7).path(), format!("[7]{dot}{path}"));
        }
    }

    #[test]
    fn a_text_without_a_path_is_a_rule_about_the_whole() {
        let text = "kind `a`: require `2` must not exceed cap `1`";
        let problem = of_scorer(text);
        assert_eq!((problem.path().as_str(), problem.rule()), ("", text));
        assert_eq!(problem.in_field("quotas").to_string(), format!("quotas: {text}"));
    }
}
