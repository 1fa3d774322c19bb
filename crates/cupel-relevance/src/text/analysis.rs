use std::collections::HashSet;
use std::fmt;
use std::sync::OnceLock;

use foldhash::fast::RandomState;

use super::identifier::for_each_part;
use super::language::Language;
use super::stemmer::Stemmer;

/// Rules by which words become terms.
///
/// A word is put in lower case. Stop words and single letters are dropped. What remains is stemmed,
/// so that `deploys` and `deploying` are the same term. An identifier such as `getUserName` or
/// `max_tokens` counts by its parts and as a whole. A word with a digit, and a compound such as
/// `src/lib.rs` or `2024-05-15`, is kept as it is: it is a number or an id.
///
/// # Example
///
/// ```
/// use cupel_relevance::{Analysis, Language};
///
/// let terms = Analysis::default().terms("The deploys of getUserName failed on 2024-05-15");
/// let expected =
///     ["deploy", "get", "user", "name", "getusername", "fail", "2024", "05", "15", "2024-05-15"];
/// assert_eq!(terms, expected);
///
/// let german = Analysis::of(Language::German).terms("Die Häuser");
/// assert_eq!(german, ["haus"]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Analysis {
    stemming: Option<Language>,
    stop_words: Option<Language>,
}

impl Default for Analysis {
    /// English.
    fn default() -> Self {
        Self::of(Language::English)
    }
}

impl From<Option<Language>> for Analysis {
    /// [`of`](Self::of) a language, or [`plain`](Self::plain).
    fn from(language: Option<Language>) -> Self {
        language.map_or_else(Self::plain, Self::of)
    }
}

impl Analysis {
    /// Stems and stop words of one language.
    #[must_use]
    pub fn of(language: Language) -> Self {
        Self { stemming: Some(language), stop_words: Some(language) }
    }

    /// No stemming and no stop words: for texts in many languages, or in none.
    #[must_use]
    pub fn plain() -> Self {
        Self { stemming: None, stop_words: None }
    }

    /// Words stemmed as in this language, or not at all.
    #[must_use]
    pub fn with_stemming(mut self, language: Option<Language>) -> Self {
        self.stemming = language;
        self
    }

    /// The stop words of this language dropped, or none.
    #[must_use]
    pub fn with_stop_words(mut self, language: Option<Language>) -> Self {
        self.stop_words = language;
        self
    }

    /// The language by which words are stemmed.
    pub fn stemming(&self) -> Option<Language> {
        self.stemming
    }

    /// The language whose stop words are dropped.
    pub fn stop_words(&self) -> Option<Language> {
        self.stop_words
    }

    /// The language that words are taken to be in: that of the stems, else that of the stop words.
    pub fn language(&self) -> Option<Language> {
        self.stemming.or(self.stop_words)
    }

    /// The terms of a text, in order. To look at; an [`Index`](crate::Index) does the same without
    /// copying.
    #[must_use]
    pub fn terms(&self, text: &str) -> Vec<String> {
        let mut analyzer = Analyzer::new(self);
        let mut terms = Vec::new();
        super::for_each_word(text, |word| {
            analyzer.for_each_term(word, |term| terms.push(term.to_owned()));
        });
        terms
    }
}

impl fmt::Display for Analysis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |language: Option<Language>| language.map_or("no", Language::name);
        write!(f, "{} stems and {} stop words", name(self.stemming), name(self.stop_words))
    }
}

/// An [`Analysis`] ready for work.
pub(super) struct Analyzer {
    stemmer: Option<Stemmer>,
    stop_words: Option<&'static StopWords>,
    buffer: String,
}

impl Analyzer {
    pub(super) fn new(analysis: &Analysis) -> Self {
        Self {
            stemmer: analysis.stemming.and_then(Stemmer::new),
            stop_words: analysis.stop_words.map(stop_words),
            buffer: String::new(),
        }
    }

    /// Calls `emit` for each term of one word.
    pub(super) fn for_each_term(&mut self, word: &str, mut emit: impl FnMut(&str)) {
        // Most words are plain, and need none of what follows.
        if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return self.for_lower(word, &mut emit);
        }
        // Numbers have no parts and no stems, and stop no search.
        if word.bytes().all(|byte| byte.is_ascii_digit()) {
            return emit(word);
        }
        if is_compound(word) {
            self.lower(word);
            return emit(&self.buffer);
        }
        let mut parts = 0_usize;
        for_each_part(word, |part| {
            parts += 1;
            self.for_part(part, &mut emit);
        });
        if parts > 1 {
            self.lower(word.trim_matches('_'));
            emit(&self.buffer);
        }
    }

    fn for_part(&mut self, part: &str, emit: &mut impl FnMut(&str)) {
        self.lower(part);
        self.for_lower(&self.buffer, emit);
    }

    fn for_lower(&self, word: &str, emit: &mut impl FnMut(&str)) {
        let is_stop_word = self.stop_words.is_some_and(|words| words.contains(word));
        if is_stop_word || is_single_letter(word) {
            return;
        }
        match &self.stemmer {
            Some(stemmer) if !has_digit(word) => stemmer.stem(word, emit),
            _ => emit(word),
        }
    }

    fn lower(&mut self, word: &str) {
        self.buffer.clear();
        if word.is_ascii() {
            self.buffer.push_str(word);
            self.buffer.make_ascii_lowercase();
        } else {
            self.buffer.push_str(&word.to_lowercase());
        }
    }
}

impl Language {
    /// Returns true if a word, in lower case, is a stop word.
    pub(crate) fn has_stop_word(self, word: &str) -> bool {
        stop_words(self).contains(word)
    }
}

type StopWords = HashSet<&'static str, RandomState>;

/// The stop words of a language, collected once.
fn stop_words(language: Language) -> &'static StopWords {
    static COLLECTED: [OnceLock<StopWords>; Language::COUNT] =
        [const { OnceLock::new() }; Language::COUNT];
    COLLECTED[language as usize].get_or_init(|| language.stop_words().collect())
}

/// Returns true if words were joined to this one: no word has such a character by itself.
pub(super) fn is_compound(word: &str) -> bool {
    word.bytes().any(|byte| matches!(byte, b'-' | b'.' | b'/' | b'\\' | b':' | b'@' | b','))
}

fn is_single_letter(word: &str) -> bool {
    matches!(word.as_bytes(), [letter] if letter.is_ascii_alphabetic())
}

fn has_digit(word: &str) -> bool {
    word.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_terms(text: &str, expected: &[&str]) {
        assert_eq!(Analysis::default().terms(text), expected);
    }

    #[test]
    fn stop_words_and_single_letters_are_dropped_digits_are_not() {
        assert_terms("What is a plan B with 7 steps?", &["plan", "7", "step"]);
        assert_terms("don't, she's, we’ll", &[]);
    }

    #[test]
    fn identifiers_count_by_their_parts_and_as_a_whole() {
        assert_terms("max_tokens", &["max", "token", "max_tokens"]);
        assert_terms("__init__", &["init"]);
        assert_terms("isReady", &["readi", "isready"]);
    }

    #[test]
    fn numbers_and_ids_are_kept_whole() {
        assert_terms(
            "HAT001 4WQ150s 3.14",
            &["hat", "001", "hat001", "4wq150s", "3", "14", "3.14"],
        );
    }

    #[test]
    fn other_languages_have_stems_and_stop_words_of_their_own() {
        let french = Analysis::of(Language::French);
        assert_eq!(french.terms("les maisons et nous"), ["maison"]);
        let russian = Analysis::of(Language::Russian);
        assert_eq!(russian.terms("и домами"), ["дом"]);
    }

    #[test]
    fn stemming_and_stop_words_can_be_switched_off() {
        assert_eq!(Analysis::plain().terms("The Deploys"), ["the", "deploys"]);
        let unstemmed = Analysis::default().with_stemming(None);
        assert_eq!(unstemmed.terms("The Deploys"), ["deploys"]);
        let all_words = Analysis::default().with_stop_words(None);
        assert_eq!(all_words.terms("The Deploys"), ["the", "deploy"]);
    }

    #[test]
    fn pairs_of_characters_are_terms() {
        assert_terms("部署失败", &["部署", "署失", "失败"]);
    }
}
