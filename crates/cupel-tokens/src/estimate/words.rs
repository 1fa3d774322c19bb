//! Which language words of ASCII letters are in.

use super::group::{Group, is_code};

/// So many tokens of words around it are taken for English, for each word that only English has.
const VOUCHED_BY_ENGLISH: usize = 10;

/// So many tokens of words are taken for code, for each sign of it.
const VOUCHED_BY_CODE: usize = 3;

/// Evidence in a text for the language of its plain words.
///
/// A tokenizer that was made with English in mind takes other languages apart more finely, however
/// plain their letters are. English gives itself away by a few words that no text is long without,
/// and code by its symbols. What neither vouches for may be in any language.
#[derive(Debug, Default)]
pub(super) struct Words {
    english: usize,
    code: usize,
}

/// Evidence of one piece for the language of the words around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    English,
    Code,
}

impl Sign {
    /// The sign that a piece is, if it is one.
    pub(super) fn of(group: Group, piece: &str) -> Option<Self> {
        match group {
            Group::Word if is_english(piece) => Some(Self::English),
            Group::Word if begins_code(piece) => Some(Self::Code),
            Group::CodeSymbol => Some(Self::Code),
            _ => None,
        }
    }
}

/// The tokens of plain words by what they are.
pub(super) struct Shares {
    pub(super) english: usize,
    pub(super) code: usize,
}

impl Words {
    /// Takes in what a piece says.
    pub(super) fn see(&mut self, sign: Option<Sign>) {
        match sign {
            Some(Sign::English) => self.english += 1,
            Some(Sign::Code) => self.code += 1,
            None => {}
        }
    }

    /// Shares of English and of code in so many tokens of plain words.
    pub(super) fn shares(&self, tokens: usize) -> Shares {
        let english = tokens.min(self.english.saturating_mul(VOUCHED_BY_ENGLISH));
        let code = (tokens - english).min(self.code.saturating_mul(VOUCHED_BY_CODE));
        Shares { english, code }
    }
}

/// Returns true if a piece is a word that is frequent in English and in no other language.
fn is_english(piece: &str) -> bool {
    let word = piece.strip_prefix(' ').unwrap_or(piece).as_bytes();
    match word.len() {
        3 => ENGLISH_OF_3.contains(&packed(word)),
        4 => ENGLISH_OF_4.contains(&packed(word)),
        5 => ENGLISH_OF_5.contains(&packed(word)),
        6 => packed(word) == ENGLISH_OF_6,
        _ => false,
    }
}

const ENGLISH_OF_3: [u64; 5] =
    [packed(b"the"), packed(b"and"), packed(b"are"), packed(b"you"), packed(b"not")];
const ENGLISH_OF_4: [u64; 10] = [
    packed(b"that"),
    packed(b"with"),
    packed(b"this"),
    packed(b"from"),
    packed(b"have"),
    packed(b"your"),
    packed(b"when"),
    packed(b"they"),
    packed(b"been"),
    packed(b"what"),
];
const ENGLISH_OF_5: [u64; 4] =
    [packed(b"which"), packed(b"their"), packed(b"would"), packed(b"there")];
const ENGLISH_OF_6: u64 = packed(b"should");

/// A word of at most eight letters as a number, whatever its case. With the bit of small letters set
/// nothing but a letter looks like one.
const fn packed(word: &[u8]) -> u64 {
    let mut number = 0;
    let mut at = 0;
    while at < word.len() {
        number = number << 8 | (word[at] | 0x20) as u64;
        at += 1;
    }
    number
}

/// Returns true if a word follows a character as it does in code, as in `.len` or `_size`.
fn begins_code(piece: &str) -> bool {
    piece.bytes().next().is_some_and(|first| first == b'.' || is_code(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(pieces: &[&str]) -> Words {
        let mut words = Words::default();
        for piece in pieces {
            words.see(Sign::of(Group::of(piece), piece));
        }
        words
    }

    #[test]
    fn english_words_vouch_for_others_around_them() {
        let Shares { english, code } =
            seen(&["The", " crane", " lifts", " the", " boat"]).shares(5);
        assert_eq!((english, code), (5, 0));
        let Shares { english, .. } = seen(&["Derek", " mengangkat", " kapal"]).shares(7);
        assert_eq!(english, 0);
    }

    #[test]
    fn symbols_vouch_for_code() {
        let Shares { english, code } = seen(&["if", " x", " ==", " self", ".len", " {"]).shares(20);
        assert_eq!((english, code), (0, 9));
    }

    #[test]
    fn no_more_is_vouched_for_than_there_is() {
        let Shares { english, code } = seen(&[" the", " {", "}"]).shares(12);
        assert_eq!((english, code), (10, 2));
    }
}
