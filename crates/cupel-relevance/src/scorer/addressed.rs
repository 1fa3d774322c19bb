use cupel::{ContextItem, CupelError, ScoreExplanation, Scorer};

use crate::grouping::tag_value;
use crate::{Query, parameter};

/// A factor for what the assistant said, where the query asks it about its own words: "What did you
/// recommend?"
///
/// Items of the assistant have the tag `role:assistant`. The query, in English, asks about them with
/// `did you`, with `you` before a verb of saying, or with `your` before what was said.
///
/// **When to choose it:** as a factor in a [`ProductScorer`](crate::ProductScorer) over chats with an
/// assistant, whose long replies would otherwise lose to the short questions.
///
/// **Cost:** the query is read once; a look at the tags of an item.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, Scorer};
/// use cupel_relevance::{AddressedScorer, Query};
///
/// let said = |role: &str| {
///     ContextItemBuilder::new("Use a queue.", 4).tags(vec![format!("role:{role}")]).build()
/// };
/// let scorer = AddressedScorer::new(&Query::new("Which pattern did you recommend?"), 3.0)?;
/// assert_eq!(scorer.score(&said("assistant")?, &[]), 3.0);
/// assert_eq!(scorer.score(&said("user")?, &[]), 1.0);
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AddressedScorer {
    is_addressed: bool,
    factor: f64,
}

/// Before `you`.
const HELPERS: [&str; 4] = ["did", "had", "have", "were"];

/// After `you`.
const SAID: [&str; 17] = [
    "advised",
    "describe",
    "described",
    "explained",
    "gave",
    "listed",
    "mentioned",
    "proposed",
    "provided",
    "recommend",
    "recommended",
    "said",
    "shared",
    "suggest",
    "suggested",
    "told",
    "wrote",
];

/// After `your`.
const SAYINGS: [&str; 8] = [
    "advice",
    "answer",
    "recommendation",
    "recommendations",
    "reply",
    "response",
    "suggestion",
    "suggestions",
];

impl AddressedScorer {
    /// With the factor for what the assistant said.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if the factor is negative or not finite.
    pub fn new(query: &Query, factor: f64) -> Result<Self, CupelError> {
        parameter::not_negative("factor", factor)?;
        Ok(Self { is_addressed: addresses_assistant(query.text()), factor })
    }
}

fn addresses_assistant(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|letter: char| !letter.is_alphanumeric()).collect();
    words.windows(2).any(|pair| match pair {
        [before, "you"] => HELPERS.contains(before),
        ["you", after] => SAID.contains(after),
        ["your", after] => SAYINGS.contains(after),
        _ => false,
    })
}

impl Scorer for AddressedScorer {
    fn score(&self, item: &ContextItem, _: &[ContextItem]) -> f64 {
        let applies = self.is_addressed && tag_value(item, "role") == Some("assistant");
        if applies { self.factor } else { 1.0 }
    }

    fn explain(&self, items: &[ContextItem], positions: &[usize]) -> Vec<ScoreExplanation> {
        let explain = |at: &usize| {
            ScoreExplanation::new("the assistant is asked", self.score(&items[*at], items))
        };
        positions.iter().map(explain).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_about_the_assistants_words_are_recognised() {
        for text in
            ["What did YOU say?", "the steps you listed", "your advice, please", "Were you sure?"]
        {
            assert!(addresses_assistant(text), "{text}");
        }
        for text in ["Can you help?", "Thank you. Said who?", "your house", "", "you"] {
            assert!(!addresses_assistant(text), "{text}");
        }
    }
}
