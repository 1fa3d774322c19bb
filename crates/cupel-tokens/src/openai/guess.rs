//! Counts without a vocabulary: pieces by what they are made of and how long they are.

use crate::{Count, Encoding};

/// Guesses the tokens of the pieces of one text.
///
/// What a piece is on average is no whole number; what is left over goes to the next one.
#[derive(Debug, Default)]
pub(super) struct Guess {
    thousandths: u64,
}

impl Guess {
    /// The tokens of the next piece.
    pub(super) fn tokens(&mut self, piece: &str, encoding: Encoding) -> usize {
        self.thousandths += thousandths(piece, encoding);
        let tokens = self.thousandths / 1_000;
        self.thousandths %= 1_000;
        tokens as usize
    }
}

/// What a piece is on average, in thousandths of a token.
///
/// Means of source code, documentation and data, and, for what is not ASCII, of short texts in forty languages. On other files of
/// code, documentation and data the true count was at most 14 % above. Words of plain letters are taken for English: of other
/// languages, and of Base64, there may be twice as many tokens.
fn thousandths(piece: &str, encoding: Encoding) -> u64 {
    let chars = piece.chars().count() as u64;
    let beyond = |free: u64, each: u64| chars.saturating_sub(free) * each;
    if !piece.is_ascii() {
        let widest = piece.chars().max().unwrap_or_default();
        return match (encoding, widest.len_utf8()) {
            (Encoding::O200kBase, 3) if widest >= '\u{2e80}' => 1_000 + beyond(1, 750),
            (Encoding::O200kBase, 2) => 1_000 + beyond(3, 280),
            (Encoding::O200kBase, 3) => 1_000 + beyond(1, 360),
            (Encoding::O200kBase, _) => beyond(0, 1_900),
            (Encoding::Cl100kBase, 2) => 1_000 + beyond(1, 560),
            (Encoding::Cl100kBase, 3) => beyond(0, 1_250),
            (Encoding::Cl100kBase, _) => beyond(0, 2_000),
        };
    }
    let letters = piece.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
    if piece.len() > letters.len() + 1 || letters.is_empty() {
        let is_plain = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_whitespace();
        return if piece.bytes().all(is_plain) { 1_000 } else { 1_000 + beyond(3, 330) };
    }
    if letters.bytes().skip(1).all(|byte| byte.is_ascii_lowercase()) {
        1_000 + beyond(3, 50) + beyond(16, 250)
    } else {
        1_000 + beyond(2, 160)
    }
}

/// By how many percent a guess may be too low in English, code and data, and in most other languages.
const MARGIN_PERCENT: i64 = 25;

/// The same count with the bound of one that rests on a guess.
pub(crate) fn bounded(count: Count) -> Count {
    let more = (count.tokens.saturating_mul(MARGIN_PERCENT) / 100)
        .saturating_add(count.tokens.max(0).isqrt());
    Count::estimate(count.tokens, count.at_most.saturating_add(more))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OpenAiCounter, TokenCounter};

    /// The guess for a text, without the vocabulary that this program has.
    fn guessed(text: &str, encoding: Encoding) -> i64 {
        let mut guess = Guess::default();
        let pieces = super::super::pieces::Pieces::new(text, encoding);
        let tokens: usize = pieces.map(|piece| guess.tokens(&text[piece], encoding)).sum();
        i64::try_from(tokens).unwrap()
    }

    #[test]
    fn guesses_of_english_code_and_data_keep_their_bound() {
        for name in [
            "chat",
            "csv",
            "english",
            "hex",
            "html",
            "json",
            "json_pretty",
            "log",
            "markdown",
            "python",
            "rust",
            "shell",
            "sql",
        ] {
            let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
            let text = std::fs::read_to_string(folder.join(name).with_extension("txt")).unwrap();
            for encoding in Encoding::ALL {
                let exact = OpenAiCounter::new(encoding).count(&text);
                let guess = guessed(&text, encoding);
                let at_most = bounded(Count::exact(guess)).at_most;
                assert!(exact <= at_most, "{name}, {encoding}: {exact}, guessed {guess}");
                assert!(exact * 2 > guess, "{name}, {encoding}: {exact}, guessed {guess}");
            }
        }
    }

    #[test]
    fn nothing_is_no_token_and_sums_are_kept() {
        assert_eq!(guessed("", Encoding::O200kBase), 0);
        assert_eq!(guessed("a b c", Encoding::O200kBase), 3);
        assert_eq!(guessed(&" abcdefgh".repeat(100), Encoding::O200kBase), 130);
    }
}
