//! Cuts a text into words, in one pass and without copying.

use super::script::{Part, part_of};

/// The most bytes of a word that count: what is longer is a blob, and its beginning names it.
const LONGEST: usize = 128;

/// Calls `emit` with every word of the text, in order:
///
/// - a run of letters, digits and underscores: `getUserName`, `snake_case`, `x86`;
/// - after the last word of a compound, the compound: `src/lib.rs`, `2024-05-15`, `a@b.org`, `1,200`,
///   beside its words;
/// - overlapping pairs of characters where a script has no spaces, or the character that is alone.
///
/// Calls the function for each word. The letters after an apostrophe as in `don't` or `Ann's` are dropped.
pub(crate) fn for_each_word<'t>(text: &'t str, mut emit: impl FnMut(&'t str)) {
    let mut scan = Scan { text, at: 0 };
    let mut compound: Option<usize> = None;
    while let Some(start) = scan.skip_to_word() {
        let Some(end) = scan.word(&mut emit) else {
            compound = None;
            continue;
        };
        emit(cut(&text[start..end]));
        // Most words end at a blank, and nothing goes on there.
        if compound.is_none() && matches!(scan.byte(end), Some(b' ' | b'\n') | None) {
            continue;
        }
        if scan.joins_next(end) {
            compound.get_or_insert(start);
            scan.at = end + 1;
        } else {
            if let Some(first) = compound.take() {
                emit(cut(&text[first..end]));
            }
            scan.skip_contraction();
        }
    }
}

struct Scan<'t> {
    text: &'t str,
    at: usize,
}

/// Returns true if an ASCII byte is part of a word.
const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// For each byte whether it is an ASCII letter, digit or underscore.
const IS_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte as usize] = is_word(byte);
        byte += 1;
    }
    table
};

impl<'t> Scan<'t> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    /// The character at a position that is known to be a boundary, with its part and its length.
    fn character(&self, at: usize) -> Option<(Part, usize)> {
        let character = self.text.get(at..)?.chars().next()?;
        Some((part_of(character), character.len_utf8()))
    }

    /// Moves to the next character of a word.
    fn skip_to_word(&mut self) -> Option<usize> {
        loop {
            let byte = self.byte(self.at)?;
            if byte.is_ascii() {
                if IS_WORD[usize::from(byte)] {
                    return Some(self.at);
                }
                self.at += 1;
            } else {
                let (part, length) = self.character(self.at)?;
                if matches!(part, Part::Letter | Part::Unspaced) {
                    return Some(self.at);
                }
                self.at += length;
            }
        }
    }

    /// Moves beyond the word that begins here, and returns its end. A run of a script without spaces
    /// is emitted by pairs instead.
    fn word(&mut self, emit: &mut impl FnMut(&'t str)) -> Option<usize> {
        let start = self.at;
        loop {
            let rest = &self.text.as_bytes()[self.at..];
            let Some(length) = rest.iter().position(|byte| !IS_WORD[usize::from(*byte)]) else {
                self.at = self.text.len();
                return Some(self.at);
            };
            self.at += length;
            if rest[length].is_ascii() {
                return Some(self.at);
            }
            match self.character(self.at) {
                Some((Part::Letter, length)) => self.at += length,
                Some((Part::Unspaced, _)) if self.at == start => {
                    self.pairs(emit);
                    return None;
                }
                _ => return Some(self.at),
            }
        }
    }

    /// Emits the run of a script without spaces that begins here.
    fn pairs(&mut self, emit: &mut impl FnMut(&'t str)) {
        let (start, mut previous) = (self.at, None);
        let mut count = 0_usize;
        while let Some((Part::Unspaced, length)) = self.character(self.at) {
            if let Some(previous) = previous.replace(self.at) {
                emit(&self.text[previous..self.at + length]);
            }
            self.at += length;
            count += 1;
        }
        if count == 1 {
            emit(&self.text[start..self.at]);
        }
    }

    /// Returns true if the word that ends here and the next one belong together.
    fn joins_next(&self, end: usize) -> bool {
        let (Some(joiner), Some(next)) = (self.byte(end), self.byte(end + 1)) else { return false };
        let is_digit = |at| self.byte(at).is_some_and(|byte: u8| byte.is_ascii_digit());
        match joiner {
            b'-' | b'.' | b'/' | b'\\' | b':' | b'@' => {
                IS_WORD[usize::from(next)]
                    || matches!(self.character(end + 1), Some((Part::Letter, _)))
            }
            b',' => is_digit(end - 1) && is_digit(end + 1),
            _ => false,
        }
    }

    /// Moves beyond `'s`, `'t`, `'re` and the like.
    fn skip_contraction(&mut self) {
        if self.byte(self.at).is_none_or(|byte| byte.is_ascii() && byte != b'\'') {
            return;
        }
        let apostrophe = match self.byte(self.at) {
            Some(b'\'') => 1,
            Some(byte) if !byte.is_ascii() => match self.character(self.at) {
                Some((Part::Apostrophe, length)) => length,
                _ => return,
            },
            _ => return,
        };
        let start = self.at + apostrophe;
        let letters = self.text.as_bytes()[start..].iter().take(3);
        let length = letters.take_while(|byte| byte.is_ascii_alphabetic()).count();
        if (1..=2).contains(&length) && !self.byte(start + length).is_some_and(is_word) {
            self.at = start + length;
        }
    }
}

/// The beginning of a word that is too long to be one.
fn cut(word: &str) -> &str {
    if word.len() <= LONGEST { word } else { beginning(word, LONGEST) }
}

/// As many characters as fit into so many bytes.
pub(super) fn beginning(text: &str, most_bytes: usize) -> &str {
    let mut end = most_bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        let mut words = Vec::new();
        for_each_word(text, |word| words.push(word));
        words
    }

    #[test]
    fn words_are_runs_of_letters_digits_and_underscores() {
        assert_eq!(words("Why did the deploy fail?"), ["Why", "did", "the", "deploy", "fail"]);
        assert_eq!(words("  getUserName(snake_case) x86"), ["getUserName", "snake_case", "x86"]);
        assert_eq!(words(""), [""; 0]);
        assert_eq!(words(" \n—…!"), [""; 0]);
    }

    #[test]
    fn compounds_follow_their_words() {
        assert_eq!(words("in src/lib.rs."), ["in", "src", "lib", "rs", "src/lib.rs"]);
        assert_eq!(words("on 2024-05-15,"), ["on", "2024", "05", "15", "2024-05-15"]);
        assert_eq!(words("1,200 or 1, 200"), ["1", "200", "1,200", "or", "1", "200"]);
        assert_eq!(words("a,b"), ["a", "b"]);
        assert_eq!(words("std::fmt"), ["std", "fmt"]);
        assert_eq!(words("naïve-bö"), ["naïve", "bö", "naïve-bö"]);
    }

    #[test]
    fn what_follows_an_apostrophe_is_dropped_if_it_is_short() {
        assert_eq!(words("Ann's dog doesn't"), ["Ann", "dog", "doesn"]);
        assert_eq!(words("we’ll they’ve"), ["we", "they"]);
        assert_eq!(words("l'homme 'quoted'"), ["l", "homme", "quoted"]);
        assert_eq!(words("'s"), ["s"]);
    }

    #[test]
    fn scripts_without_spaces_come_in_pairs() {
        assert_eq!(words("部署失败"), ["部署", "署失", "失败"]);
        assert_eq!(words("买 iPhone手机"), ["买", "iPhone", "手机"]);
        assert_eq!(words("東京、大阪"), ["東京", "大阪"]);
        assert_eq!(words("ไทย"), ["ไท", "ทย"]);
    }

    #[test]
    fn accents_and_other_alphabets_make_words() {
        assert_eq!(words("Señor, привет; हिन्दी"), ["Señor", "привет", "हिन्दी"]);
        assert_eq!(words("e\u{301}te\u{301}"), ["e\u{301}te\u{301}"]);
    }

    #[test]
    fn any_text_is_cut_into_pieces_of_itself() {
        let pieces = [
            "a",
            "Z",
            "_",
            "7",
            "-",
            ".",
            "/",
            ":",
            "@",
            ",",
            "'",
            "’",
            " ",
            "\n",
            "\0",
            "é",
            "ß",
            "漢",
            "か",
            "ไ",
            "က",
            "\u{301}",
            "\u{200D}",
            "🙂",
            "한",
            "Ω",
            "\u{10FFFF}",
            "٣",
        ];
        let mut random = crate::testing::Random(17);
        for _ in 0..20_000 {
            let text: String =
                (0..random.below(12)).map(|_| pieces[random.below(pieces.len())]).collect();
            for word in words(&text) {
                assert!(!word.is_empty() && text.contains(word), "{text:?}");
            }
            let terms = crate::Analysis::default().terms(&text);
            assert!(terms.iter().all(|term| !term.is_empty()), "{text:?}");
        }
    }

    #[test]
    fn a_blob_counts_by_its_beginning() {
        let blob = "é".repeat(1000);
        assert_eq!(words(&blob), ["é".repeat(64)]);
        assert_eq!(words(&format!("{}é", "x".repeat(127))), ["x".repeat(127)]);
    }
}
