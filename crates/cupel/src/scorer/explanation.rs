use std::fmt;

/// Reason for a score, or for a part of one.
///
/// Programs tell the variants apart; people read their [`Display`](fmt::Display).
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScorePart {
    /// A part of the recipe, in words: `neighbours`, `weighted average`.
    Step(String),
    /// A word of the query that the item has too, as it was written there.
    Word(String),
    /// Another item, by how it begins, that shares its score with this one.
    Neighbour(String),
}

impl From<&str> for ScorePart {
    fn from(step: &str) -> Self {
        Self::Step(step.to_owned())
    }
}

impl From<String> for ScorePart {
    fn from(step: String) -> Self {
        Self::Step(step)
    }
}

impl fmt::Display for ScorePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Step(step) => f.write_str(step),
            Self::Word(word) => write!(f, "word `{word}`"),
            Self::Neighbour(beginning) => write!(f, "neighbour `{beginning}`"),
        }
    }
}

/// Why an item has its score: a line for people, and what it is made of.
///
/// # Example
///
/// ```
/// use cupel::{ScoreExplanation, ScorePart};
///
/// let word = ScoreExplanation::new(ScorePart::Word("deploy".into()), 1.5);
/// let whole = ScoreExplanation::new("words", 1.5).with_parts(vec![word]);
/// assert_eq!(whole.to_string(), "words 1.5000\n  word `deploy` 1.5000");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreExplanation {
    /// Reason for the score: a word of the query, a neighbour, a part of the recipe.
    pub what: ScorePart,
    /// Score that it earned.
    pub score: f64,
    /// Parts of the score, as far as the scorer tells them.
    pub parts: Vec<ScoreExplanation>,
}

impl ScoreExplanation {
    /// An explanation without parts.
    #[must_use]
    pub fn new(what: impl Into<ScorePart>, score: f64) -> Self {
        Self { what: what.into(), score, parts: Vec::new() }
    }

    /// With parts.
    #[must_use]
    pub fn with_parts(mut self, parts: Vec<Self>) -> Self {
        self.parts = parts;
        self
    }
}

/// One line for each part, indented under what it is a part of.
impl fmt::Display for ScoreExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A list of what is still to be written, so that depth costs no stack.
        let mut pending = vec![(0, self)];
        while let Some((depth, part)) = pending.pop() {
            if depth > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{:indent$}{} {:.4}", "", part.what, part.score, indent = 2 * depth)?;
            pending.extend(part.parts.iter().rev().map(|part| (depth + 1, part)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_shown_under_their_whole() {
        let explanation = ScoreExplanation::new("words", 1.5).with_parts(vec![
            ScoreExplanation::new(ScorePart::Word("deploy".into()), 1.0)
                .with_parts(vec![ScoreExplanation::new("in the title", 0.25)]),
            ScoreExplanation::new(ScorePart::Neighbour("It failed".into()), 0.5),
        ]);
        assert_eq!(
            explanation.to_string(),
            "words 1.5000\n  word `deploy` 1.0000\n    in the title 0.2500\n  neighbour `It failed` 0.5000"
        );
    }
}
