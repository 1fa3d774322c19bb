//! Which language texts are in.

use std::collections::HashMap;
use std::sync::OnceLock;

use foldhash::fast::RandomState;

use super::analysis::is_compound;
use super::for_each_word;
use super::language::Language;
use super::script::{is_han, is_kana};

/// How many words are looked at.
const MOST_WORDS: u32 = 20_000;

/// How many bytes are looked at, should words be that long.
const MOST_BYTES: usize = 16 * MOST_WORDS as usize;

/// The share of a language's words that its texts have at least.
const LEAST_SHARE: f64 = 0.06;

/// How many times as many words of its own a language must have as any other.
const LEAD: f64 = 1.5;

/// One bit for each language, in their order.
type Languages = u32;

impl Language {
    /// The language that texts are in; `None` where that is unsure, as for code, numbers, texts of a
    /// few words or in several languages.
    ///
    /// **Steps:** of the first 20,000 words, count those that are stop words of each language. (A
    /// pair of characters counts as a word of Chinese, and of Japanese where Kana is in it.) The
    /// language with the most must have at least 6 % of the words; and beside each other language, of
    /// the words that only one of the two has, it must have 1.5 times as many.
    ///
    /// **Cost:** one pass, over no more than 20,000 words or 320,000 bytes.
    ///
    /// # Example
    ///
    /// ```
    /// use cupel_relevance::Language;
    ///
    /// assert_eq!(Language::detect(["Where is the key?"]), Some(Language::English));
    /// assert_eq!(Language::detect(["鍵はどこにありますか"]), Some(Language::Japanese));
    /// assert_eq!(Language::detect(["let x = 3;", "17.5"]), None);
    /// ```
    pub fn detect<'t>(texts: impl IntoIterator<Item = &'t str>) -> Option<Self> {
        let mut count = Count::new();
        for text in texts {
            if !count.add(text) {
                break;
            }
        }
        count.language()
    }
}

/// Words counted by the languages that have them.
pub(crate) struct Count {
    lists: &'static StopLists,
    /// For each set of languages.
    words_by_set: Vec<u32>,
    words: u32,
    bytes_left: usize,
    buffer: String,
}

impl Count {
    pub(crate) fn new() -> Self {
        let lists = StopLists::get();
        let words_by_set = vec![0; lists.sets.len()];
        Self { lists, words_by_set, words: 0, bytes_left: MOST_BYTES, buffer: String::new() }
    }

    /// Counts the words of a text. Returns whether more is wanted.
    pub(crate) fn add(&mut self, text: &str) -> bool {
        let read = super::beginning(text, self.bytes_left);
        self.bytes_left -= read.len();
        for_each_word(read, |word| {
            if self.words < MOST_WORDS && !is_compound(word) {
                self.words += 1;
                if let Some(set) = self.lists.set_of(word, &mut self.buffer) {
                    self.words_by_set[set] += 1;
                }
            }
        });
        self.words < MOST_WORDS && read.len() == text.len()
    }

    /// The language of what was counted.
    pub(crate) fn language(&self) -> Option<Language> {
        // The first of the best, should two have as many.
        let best = Language::all().rev().max_by_key(|language| self.of(*language))?;
        let is_enough = f64::from(self.of(best)) >= LEAST_SHARE * f64::from(self.words);
        let leads = |other: Language| {
            let lead = f64::from(self.of_one_only(best, other));
            lead > 0.0 && lead >= LEAD * f64::from(self.of_one_only(other, best))
        };
        let mut others = Language::all().filter(|other| *other != best);
        (is_enough && others.all(leads)).then_some(best)
    }

    fn of(&self, language: Language) -> u32 {
        self.sum(|set| set & bit(language) != 0)
    }

    /// The words of one language that another has not.
    fn of_one_only(&self, one: Language, other: Language) -> u32 {
        self.sum(|set| set & bit(one) != 0 && set & bit(other) == 0)
    }

    fn sum(&self, counts: impl Fn(Languages) -> bool) -> u32 {
        let sets = self.lists.sets.iter().zip(&self.words_by_set);
        sets.filter(|(set, _)| counts(**set)).map(|(_, words)| words).sum()
    }
}

const fn bit(language: Language) -> Languages {
    1 << language as u32
}

/// The stop words of all languages, each with the languages that have it.
struct StopLists {
    /// For each word the number of its set.
    words: HashMap<&'static str, usize, RandomState>,
    /// The distinct sets of languages; first those of the scripts without spaces.
    sets: Vec<Languages>,
}

const CHINESE: usize = 0;
const JAPANESE: usize = 1;

impl StopLists {
    fn get() -> &'static Self {
        static LISTS: OnceLock<StopLists> = OnceLock::new();
        LISTS.get_or_init(Self::collect)
    }

    fn collect() -> Self {
        let mut languages: HashMap<&'static str, Languages, RandomState> = HashMap::default();
        for language in Language::all() {
            for word in language.stop_words() {
                *languages.entry(word).or_default() |= bit(language);
            }
        }
        let mut sets = vec![bit(Language::Chinese), bit(Language::Japanese)];
        let mut distinct: Vec<Languages> = languages.values().copied().collect();
        distinct.sort_unstable();
        distinct.dedup();
        sets.extend(distinct);
        let number: HashMap<Languages, usize> =
            sets.iter().enumerate().map(|(number, set)| (*set, number)).collect();
        let words = languages.into_iter().map(|(word, set)| (word, number[&set])).collect();
        Self { words, sets }
    }

    /// The number of the set of languages that have a word.
    fn set_of(&self, word: &str, lower: &mut String) -> Option<usize> {
        if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return self.words.get(word).copied();
        }
        if word.chars().any(is_kana) {
            return Some(JAPANESE);
        }
        if word.chars().all(is_han) {
            return Some(CHINESE);
        }
        lower.clear();
        lower.extend(word.chars().flat_map(char::to_lowercase));
        self.words.get(lower.as_str()).copied()
    }
}
