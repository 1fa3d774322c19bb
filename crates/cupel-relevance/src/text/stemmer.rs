//! Stems of words.

use super::language::Language;

/// Snowball's stemmer for a language.
pub(super) struct Stemmer {
    snowball: frostem::Stemmer,
    /// Returns false if a word is its own stem: cheaper to ask than to stem.
    may_change: fn(&str) -> bool,
}

impl Stemmer {
    /// `None` for a language without stems.
    pub(super) fn new(language: Language) -> Option<Self> {
        let may_change = match language {
            Language::English => may_change_in_english,
            _ => |_: &str| true,
        };
        Some(Self { snowball: frostem::Stemmer::new(language.algorithm()?), may_change })
    }

    /// Calls `emit` with the stem of a word in lower case.
    pub(super) fn stem(&self, word: &str, emit: &mut impl FnMut(&str)) {
        if (self.may_change)(word) { emit(&self.snowball.stem(word)) } else { emit(word) }
    }
}

/// Returns true if a word ends like one that the English stemmer alters. Beyond ASCII nothing is promised.
fn may_change_in_english(word: &str) -> bool {
    match word.as_bytes() {
        [] | [_] | [_, _] => false,
        [.., b'e' | b'i' | b's' | b'y'] => true,
        [.., before, last] => match last {
            b'c' => *before == b'i',
            b'd' => *before == b'e',
            b'g' | b't' => *before == b'n',
            b'l' => matches!(before, b'a' | b'l' | b'u'),
            b'm' => *before == b's',
            b'n' => *before == b'o',
            b'r' => matches!(before, b'e' | b'o'),
            _ => !last.is_ascii(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    #[test]
    fn words_that_are_said_not_to_change_do_not() {
        let snowball = frostem::Stemmer::new(Language::English.algorithm().unwrap());
        let mut random = Random(3);
        let endings = [
            "", "", "", "in", "e", "l", "tiona", "io", "is", "en", "an", "ate", "fu", "ivenes",
            "ie", "i",
        ];
        for _ in 0..50_000 {
            let letters = (0..=random.below(7)).map(|_| char::from(b'a' + random.below(26) as u8));
            let mut word: String = letters.collect();
            word.push_str(endings[random.below(endings.len())]);
            word.push(char::from(b'a' + random.below(26) as u8));
            if !may_change_in_english(&word) {
                assert_eq!(snowball.stem(&word), word);
            }
        }
    }

    #[test]
    fn stems_are_those_of_snowball() {
        let stem = |language, word| {
            let mut stems = Vec::new();
            Stemmer::new(language).unwrap().stem(word, &mut |stem| stems.push(stem.to_owned()));
            stems
        };
        assert_eq!(stem(Language::English, "relational"), ["relat"]);
        assert_eq!(stem(Language::English, "foo"), ["foo"]);
        assert_eq!(stem(Language::Spanish, "casas"), ["cas"]);
        assert!(Stemmer::new(Language::Chinese).is_none());
    }
}
