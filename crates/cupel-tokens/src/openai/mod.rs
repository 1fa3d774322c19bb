//! Exact counts for OpenAI's models.

#[cfg(feature = "vocabularies")]
mod built_in;
mod classes;
mod count;
mod guess;
mod known;
mod layout;
#[cfg(any(feature = "compact", not(feature = "vocabularies")))]
mod merges;
#[cfg(any(feature = "compact", not(feature = "vocabularies")))]
mod pairs;
mod pieces;
#[cfg(any(feature = "compact", not(feature = "vocabularies")))]
mod steps;
mod supplied;
mod vocabulary;

#[cfg(feature = "vocabularies")]
use self::built_in::vocabulary_of;
pub(crate) use self::guess::bounded;
pub(crate) use self::known::{Kept, Known};
#[cfg(not(feature = "vocabularies"))]
use self::supplied::vocabulary_of;
pub use self::supplied::{OtherVocabulary, is_vocabulary_missed, supply_vocabulary};

use std::cell::Cell;

use self::count::Counter;
use self::guess::Guess;
use self::pieces::Pieces;
use crate::{Count, Encoding, TokenCounter};

/// Counts exactly as OpenAI's models do, with the vocabulary built in.
///
/// Text that looks like a special token, such as `<|endoftext|>`, counts as the ordinary text that it is
/// in a request. The vocabulary is in the program as tables that are read as they are, so that
/// nothing is worked out at the start; the counter itself is as small as an [`Encoding`].
///
/// ```
/// use cupel_tokens::{Encoding, OpenAiCounter, TokenCounter};
///
/// let counter = OpenAiCounter::new(Encoding::O200kBase);
/// assert_eq!(counter.count("Why did the deploy fail?"), 6);
/// assert_eq!(counter.count("上下文窗口"), 3);
/// assert_eq!(counter.count(""), 0);
/// ```
///
/// In a program without the feature `vocabularies` it estimates, and says so, until the vocabulary is
/// [supplied](supply_vocabulary).
///
/// # Which implementation, and why
///
/// Version 2 counted with `bpe-openai` 0.3.2, which brings its look-up tables as a file that has to be
/// taken apart when it is first needed: 56 ms for `o200k_base`, and 47 MB in the program for both.
/// Here the build makes tables of a file of 1.8 MB that holds only the order of merges, 14 MB for
/// both encodings, and the first count takes no longer than any other; with the feature `compact` they
/// are made at the first count instead of by the build. The method is the same: a text
/// is cut into pieces, each is taken apart from left to right by the longest token that may stand
/// next to the one before, and where none may, the last choice is taken back. Time grows with the
/// length of a text, whatever is in it, and nothing makes it panic.
///
/// The tests compare every count with `bpe-openai` and with `tiktoken-rs`. For speed beside the
/// former, in one process:
///
/// ```sh
/// cargo run --release -p cupel-tokens --example throughput -- README.md
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct OpenAiCounter {
    encoding: Encoding,
}

impl OpenAiCounter {
    /// A counter for `encoding`. Reads nothing yet.
    pub const fn new(encoding: Encoding) -> Self {
        Self { encoding }
    }

    /// Whether its vocabulary is not there, so that it guesses.
    pub(crate) fn guesses(self) -> bool {
        vocabulary_of(self.encoding).is_none()
    }

    /// The encoding that it counts with.
    pub const fn encoding(self) -> Encoding {
        self.encoding
    }

    /// Hands over what `make` makes of each piece that no token reaches across, and of its tokens. What
    /// it made of short ones is kept.
    pub(crate) fn for_each_piece<T: Copy>(
        self,
        text: &str,
        kept: &'static Kept<T>,
        make: impl Fn(&str, usize) -> T,
        mut each: impl FnMut(T),
    ) {
        let Some(vocabulary) = vocabulary_of(self.encoding) else {
            let mut guess = Guess::default();
            for piece in Pieces::new(text, self.encoding) {
                let piece = &text[piece];
                each(make(piece, guess.tokens(piece, self.encoding)));
            }
            return;
        };
        let mut counter = Counter::default();
        let mut known = Known::lent(kept);
        for piece in Pieces::new(text, self.encoding) {
            let make = || {
                let piece = &text[piece.clone()];
                make(piece, counter.count(vocabulary, piece.as_bytes()))
            };
            each(known.get_or_make(text.as_bytes(), piece.clone(), self.encoding, make));
        }
        known.hand_back(kept);
    }
}

impl TokenCounter for OpenAiCounter {
    /// The published name of the encoding.
    fn name(&self) -> &'static str {
        self.encoding.name()
    }

    /// Only before the vocabulary is there, in a program without the feature `vocabularies`.
    fn is_estimate(&self) -> bool {
        self.guesses()
    }

    fn bounded(&self, text: &str) -> Count {
        let tokens = self.count(text);
        if self.guesses() { bounded(Count::exact(tokens)) } else { Count::exact(tokens) }
    }

    fn count(&self, text: &str) -> i64 {
        thread_local! {
            static TOKENS: Cell<Known<usize>> = Cell::default();
        }
        let mut tokens = 0;
        self.for_each_piece(text, &TOKENS, |_, tokens| tokens, |of_piece| tokens += of_piece);
        i64::try_from(tokens).unwrap_or(i64::MAX)
    }

    /// Between a newline and what begins the next line, unless that is blank or a slash. Both
    /// encodings first split a text by a pattern from left to right; no piece of either reaches
    /// across such a place, and no piece before it looks past it.
    fn cut(&self, text: &str, from: usize) -> Option<usize> {
        let bytes = text.as_bytes();
        (from.max(1)..bytes.len()).find(|&at| {
            bytes[at - 1] == b'\n'
                && text[at..].starts_with(|next: char| next != '/' && !next.is_whitespace())
        })
    }
}
