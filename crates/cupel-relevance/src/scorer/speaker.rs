use cupel::{ContextItem, CupelError, ItemList, ScoreExplanation, Scorer};

use crate::grouping::tag_value;
use crate::text::for_each_word;
use crate::{Query, parameter};

/// A factor for items whose speaker is named in the query: "What did Ann say about the key?"
///
/// The speaker of an item is its tag `speaker:…`. One word of the name is enough, in any case, if it
/// has more than one letter.
///
/// **When to choose it:** as a factor in a [`ProductScorer`](crate::ProductScorer) over
/// conversations of several people.
///
/// **Cost:** a look at the tags of an item.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, Scorer};
/// use cupel_relevance::{Query, SpeakerScorer};
///
/// let said = |speaker: &str| {
///     ContextItemBuilder::new("Yes.", 2).tags(vec![format!("speaker:{speaker}")]).build()
/// };
/// let scorer = SpeakerScorer::new(Query::new("What did ann say?"), 1.5)?;
/// assert_eq!(scorer.score(&said("Ann Lee")?, &[]), 1.5);
/// assert_eq!(scorer.score(&said("Bob")?, &[]), 1.0);
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Debug, Clone)]
pub struct SpeakerScorer {
    query: Query,
    factor: f64,
}

impl SpeakerScorer {
    /// With the factor for items of a named speaker.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if the factor is negative or not finite.
    pub fn new(query: Query, factor: f64) -> Result<Self, CupelError> {
        parameter::not_negative("factor", factor)?;
        Ok(Self { query, factor })
    }

    fn is_named(&self, speaker: &str) -> bool {
        let mut is_named = false;
        for_each_word(speaker, |word| {
            is_named |= word.chars().nth(1).is_some() && self.query.has_word(&word.to_lowercase());
        });
        is_named
    }
}

impl Scorer for SpeakerScorer {
    fn score(&self, item: &ContextItem, _: &[ContextItem]) -> f64 {
        match tag_value(item, "speaker") {
            Some(speaker) if self.is_named(speaker) => self.factor,
            _ => 1.0,
        }
    }

    fn score_all(&self, items: &ItemList<'_>, scores: &mut [f64]) {
        let mut previous: Option<(&str, f64)> = None;
        for (item, score) in items.iter().zip(scores) {
            let speaker = tag_value(item, "speaker").unwrap_or_default();
            *score = match previous {
                Some((same, factor)) if same == speaker => factor,
                _ => self.score(item, items),
            };
            previous = Some((speaker, *score));
        }
    }

    fn explain(&self, items: &ItemList<'_>, positions: &[usize]) -> Vec<ScoreExplanation> {
        let explain = |at: &usize| {
            ScoreExplanation::new("speaker named in the query", self.score(&items[*at], items))
        };
        positions.iter().map(explain).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{build, item, scores};

    fn factors(query: &str, speakers: &[&str]) -> Vec<f64> {
        let tagged = |speaker: &&str| item("x").tags(vec![format!("speaker:{speaker}")]);
        let mut items = build(speakers.iter().map(tagged));
        items.push(item("x").build().unwrap());
        scores(&SpeakerScorer::new(Query::new(query), 2.0).unwrap(), &items)
    }

    #[test]
    fn one_word_of_the_name_is_enough_and_case_does_not_count() {
        let speakers = ["Industrial Designer", "ANN", "Annie", "ANN"];
        assert_eq!(factors("What does Ann's designer want?", &speakers), [2.0, 2.0, 1.0, 2.0, 1.0]);
    }

    #[test]
    fn single_letters_and_missing_names_are_nobody() {
        assert_eq!(factors("Is plan B better?", &["B", "PhD B", ""]), [1.0; 4]);
        assert_eq!(factors("", &["Ann"]), [1.0; 2]);
    }
}
