//! Words that mark a question: words that ask, verbs of saying, months.
//!
//! They are known of ten languages. In others, rules that need them are off: nothing is guessed.

mod chinese;
mod dutch;
mod english;
mod french;
mod german;
mod italian;
mod japanese;
mod portuguese;
mod russian;
mod spanish;

use super::language::Language;

/// The words of one language that say something about a question rather than about its subject.
///
/// Lists are words with spaces between them, in lower case.
pub(crate) struct Vocabulary {
    /// Words that say what to do with the answer, not what it is about.
    pub(crate) asking: &'static str,
    /// The months, each in all of its forms; empty where they are numbers.
    pub(crate) months: [&'static str; 12],
    /// Words that may stand between a day and its month.
    pub(crate) between_day_and_month: &'static str,
    /// Questions to the assistant about its own words.
    pub(crate) addressing: Addressing,
    /// Words by which a user is polite, points back, corrects and rules.
    pub(crate) cues: Cues,
}

/// Words by which a user's message is told for a courtesy, a correction or a standing rule.
///
/// `courtesies`, `answers`, `small` and `pronouns` are words with spaces between them. The others are lists of
/// patterns; see `keep/pattern.rs`.
pub(crate) struct Cues {
    /// True if words have spaces between them; else patterns are found anywhere in a sentence.
    pub(crate) has_spaces: bool,
    /// Words that say nothing beyond politeness, agreement or amazement.
    pub(crate) courtesies: &'static str,
    /// Words that a reply to a question begins with.
    pub(crate) answers: &'static str,
    /// Words beside stop words that say nothing by themselves: ordinals, small numbers, "go ahead".
    pub(crate) small: &'static str,
    /// Words that stand for something said before.
    pub(crate) pronouns: &'static str,
    /// Patterns that point at the reply before.
    pub(crate) pointers: &'static [&'static str],
    /// Patterns of statements that take back or replace what was said.
    pub(crate) corrections: &'static [&'static str],
    /// Patterns of standing rules, constraints and lasting wishes.
    pub(crate) rules: &'static [&'static str],
    /// Patterns that look like rules and are none.
    pub(crate) not_rules: &'static [&'static str],
}

/// Questions to somebody about what they said.
pub(crate) struct Addressing {
    /// Words of which one stands before another; where nothing need follow, the second is empty.
    pub(crate) pairs: &'static [(&'static str, &'static str)],
    /// Number of words later the second may come.
    pub(crate) reach: usize,
    /// Phrases in this very form, case included.
    pub(crate) phrases: &'static [&'static str],
}

impl Vocabulary {
    /// That of a language, if it is known. Where there is no language, it is English: so are most
    /// questions about code and the output of tools.
    pub(crate) fn of(language: Option<Language>) -> Option<&'static Self> {
        Some(match language {
            None | Some(Language::English) => &english::VOCABULARY,
            Some(Language::Chinese) => &chinese::VOCABULARY,
            Some(Language::Dutch) => &dutch::VOCABULARY,
            Some(Language::French) => &french::VOCABULARY,
            Some(Language::German) => &german::VOCABULARY,
            Some(Language::Italian) => &italian::VOCABULARY,
            Some(Language::Japanese) => &japanese::VOCABULARY,
            Some(Language::Portuguese) => &portuguese::VOCABULARY,
            Some(Language::Russian) => &russian::VOCABULARY,
            Some(Language::Spanish) => &spanish::VOCABULARY,
            Some(_) => return None,
        })
    }

    /// Those that a question may use about texts in a language: that language's, and English.
    pub(crate) fn heard_in(language: Option<Language>) -> impl Iterator<Item = &'static Self> {
        let is_english = matches!(language, None | Some(Language::English));
        let own = if is_english { None } else { Self::of(language) };
        std::iter::once(&english::VOCABULARY).chain(own)
    }
}

/// Returns true if a list has a word.
pub(crate) fn has(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Analysis;

    fn known() -> impl Iterator<Item = (Language, &'static Vocabulary)> {
        Language::all().filter_map(|language| Some((language, Vocabulary::of(Some(language))?)))
    }

    #[test]
    fn ten_languages_have_one() {
        let names: Vec<&str> = known().map(|(language, _)| language.name()).collect();
        let expected = [
            "chinese",
            "dutch",
            "english",
            "french",
            "german",
            "italian",
            "japanese",
            "portuguese",
            "russian",
            "spanish",
        ];
        assert_eq!(names, expected);
        assert!(Vocabulary::of(Some(Language::Finnish)).is_none());
    }

    #[test]
    fn every_list_is_in_lower_case() {
        for (language, vocabulary) in known() {
            let pairs =
                vocabulary.addressing.pairs.iter().flat_map(|(first, second)| [*first, *second]);
            let months = vocabulary.months.iter().copied();
            for list in pairs.chain(months).chain([vocabulary.asking]) {
                assert_eq!(list, list.to_lowercase(), "{language}");
            }
        }
    }

    #[test]
    fn words_that_ask_are_more_than_stop_words() {
        for (language, vocabulary) in known() {
            let terms = Analysis::of(language).terms(vocabulary.asking);
            assert!(terms.len() > 20, "{language}: {terms:?}");
        }
    }

    #[test]
    fn english_is_heard_everywhere_and_once() {
        let count = |language| Vocabulary::heard_in(language).count();
        assert_eq!((count(None), count(Some(Language::English))), (1, 1));
        assert_eq!((count(Some(Language::Finnish)), count(Some(Language::German))), (1, 2));
    }
}
