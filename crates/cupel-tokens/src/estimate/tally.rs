//! Tokens of a text by kind.

use std::cell::Cell;

use super::group::Group;
use super::words::{Sign, Words};
use crate::openai::Known;
use crate::{Encoding, OpenAiCounter};

/// The tokens of a text by what they are.
pub(super) struct Tally {
    /// By group: of pieces that are one token, and of those that are several.
    pub(super) counts: [[usize; 2]; Group::COUNT],
    /// Evidence for the language of the words among them.
    pub(super) words: Words,
    /// One bit for each group that there is.
    seen: u64,
}

/// A piece, as far as it matters here.
#[derive(Clone, Copy)]
struct Piece {
    tokens: usize,
    group: Group,
    sign: Option<Sign>,
    /// Number of digits, if it is a number.
    digits: u32,
}

thread_local! {
    static PIECES: Cell<Known<Piece>> = Cell::default();
}

impl Tally {
    /// The tokens of a text with this encoding.
    #[inline]
    pub(super) fn of(encoding: Encoding, text: &str) -> Self {
        let (counts, words) = ([[0; 2]; Group::COUNT], Words::default());
        let mut tally = Self { counts, words, seen: 0 };
        let counter = OpenAiCounter::new(encoding);
        counter.for_each_piece(text, &PIECES, Piece::of, |piece| tally.add(piece));
        tally
    }

    /// The groups that there are, in their order.
    pub(super) fn groups(&self) -> impl Iterator<Item = usize> {
        let mut left = self.seen;
        std::iter::from_fn(move || {
            let group = left.trailing_zeros() as usize;
            left &= left.checked_sub(1)?;
            Some(group)
        })
    }

    fn add(&mut self, piece: Piece) {
        self.count(piece.group, usize::from(piece.tokens > 1), piece.tokens);
        self.words.see(piece.sign);
        if piece.digits > 0 {
            self.count(Group::Digit, 0, piece.digits as usize);
        }
    }

    fn count(&mut self, group: Group, kind: usize, tokens: usize) {
        self.counts[group as usize][kind] += tokens;
        self.seen |= 1 << group as usize;
    }
}

impl Piece {
    fn of(piece: &str, tokens: usize) -> Self {
        let group = Group::of(piece);
        let digits = if group == Group::Number { piece.chars().count() } else { 0 };
        let digits = u32::try_from(digits).unwrap_or(u32::MAX);
        Self { tokens, group, sign: Sign::of(group, piece), digits }
    }
}
