use cupel::{ContextItem, CupelError, ItemList, ScoreExplanation, Scorer};

use crate::grouping::tag_value;
use crate::text::{Addressing, Vocabulary, has};
use crate::{Language, Query, parameter};

/// A factor for what the assistant said, where the query asks it about its own words: "What did you
/// recommend?"
///
/// Items of the assistant have the tag `role:assistant`. The query asks about them with `did you`,
/// with `you` before a verb of saying, or with `your` before what was said: in English, and in the
/// language of its [`Analysis`](crate::Analysis) if the verbs of saying are known.
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

impl AddressedScorer {
    /// With the factor for what the assistant said.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if the factor is negative or not finite.
    pub fn new(query: &Query, factor: f64) -> Result<Self, CupelError> {
        parameter::not_negative("factor", factor)?;
        let is_addressed = addresses_assistant(query.text(), query.analysis().language());
        Ok(Self { is_addressed, factor })
    }
}

/// Returns true if a text asks about the assistant's words, in English or in a language.
fn addresses_assistant(text: &str, language: Option<Language>) -> bool {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|letter: char| !letter.is_alphanumeric()).collect();
    let is_asked = |addressing: &Addressing| {
        addressing.phrases.iter().any(|phrase| text.contains(phrase))
            || (0..words.len()).any(|at| has_pair_at(&words[at..], addressing))
    };
    Vocabulary::heard_in(language).any(|heard| is_asked(&heard.addressing))
}

/// Returns true if one of the pairs begins with the first of these words.
fn has_pair_at(words: &[&str], addressing: &Addressing) -> bool {
    let later = words.iter().skip(1).take(addressing.reach);
    let begins = |(first, second): &&(&str, &str)| {
        let mut later = later.clone();
        has(first, words[0]) && (second.is_empty() || later.any(|word| has(second, word)))
    };
    addressing.pairs.iter().any(|pair| begins(&pair))
}

impl Scorer for AddressedScorer {
    fn score(&self, item: &ContextItem, _: &[ContextItem]) -> f64 {
        let applies = self.is_addressed && tag_value(item, "role") == Some("assistant");
        if applies { self.factor } else { 1.0 }
    }

    fn explain(&self, items: &ItemList<'_>, positions: &[usize]) -> Vec<ScoreExplanation> {
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
            assert!(addresses_assistant(text, None), "{text}");
        }
        for text in ["Can you help?", "Thank you. Said who?", "your house", "", "you"] {
            assert!(!addresses_assistant(text, None), "{text}");
        }
    }

    #[test]
    fn they_are_recognised_in_ten_languages() {
        for (language, asked, not_asked) in [
            (Language::German, "Welches Muster hast du mir empfohlen?", "Hat er dir das gesagt?"),
            (Language::German, "Was haben Sie empfohlen?", "Was haben sie gekauft?"),
            (Language::French, "Que m'as-tu conseillé ?", "Que t'a-t-il dit ?"),
            (Language::Spanish, "¿Qué me recomendaste?", "¿Qué recomendó Ana?"),
            (Language::Portuguese, "O que você me sugeriu?", "O que a Ana disse?"),
            (Language::Italian, "Che cosa mi hai consigliato?", "Che cosa ha detto Anna?"),
            (Language::Dutch, "Wat heb je me aangeraden?", "Wat heeft Anna gezegd?"),
            (Language::Russian, "Что ты мне посоветовал?", "Что сказал Иван?"),
            (Language::Chinese, "你推荐了哪本书?", "他推荐了哪本书?"),
            (Language::Japanese, "教えてくれた本は何ですか", "彼が読んだ本は何ですか"),
            (Language::Finnish, "What did you say?", "Mitä suosittelit?"),
        ] {
            assert!(addresses_assistant(asked, Some(language)), "{asked}");
            assert!(!addresses_assistant(not_asked, Some(language)), "{not_asked}");
        }
    }
}
