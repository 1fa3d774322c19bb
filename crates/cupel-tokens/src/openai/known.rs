//! Cache of short pieces: nearly all of a text are words that were seen before.

use std::cell::Cell;
use std::ops::Range;
use std::thread::LocalKey;

use crate::Encoding;

/// Longer pieces are too rare to be worth it.
const LONGEST: usize = 15;

/// The slots are two to this power.
const SLOT_BITS: u32 = 11;

/// Cache of results for short pieces. Each has one slot that it may be in, and the next one that has the
/// same takes its place; so there is never more than this, and what a text gets does not depend on
/// those before it.
#[derive(Debug)]
pub(crate) struct Known<T> {
    slots: Vec<Slot<T>>,
}

#[derive(Debug, Clone, Copy)]
struct Slot<T> {
    piece: u128,
    made: Option<T>,
}

/// Where each thread keeps what it knows.
pub(crate) type Kept<T> = LocalKey<Cell<Known<T>>>;

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self { slots: Vec::new() }
    }
}

impl<T: Copy> Known<T> {
    /// Hands over what the thread knows, to be handed back.
    pub(crate) fn lent(kept: &'static Kept<T>) -> Self {
        let mut known = kept.try_with(Cell::take).unwrap_or_default();
        known.slots.resize(1 << SLOT_BITS, Slot { piece: 0, made: None });
        known
    }

    /// Hands it back. A thread that is at its end keeps nothing.
    pub(crate) fn hand_back(self, kept: &'static Kept<T>) {
        let _ = kept.try_with(|kept| kept.set(self));
    }

    /// Cached result of a piece, or the result of `make`, which is then cached.
    #[inline]
    pub(crate) fn get_or_make(
        &mut self,
        text: &[u8],
        piece: Range<usize>,
        encoding: Encoding,
        make: impl FnOnce() -> T,
    ) -> T {
        let Some(piece) = packed(text, piece, encoding) else { return make() };
        let slot = &mut self.slots[slot_of(piece)];
        match slot.made {
            Some(made) if slot.piece == piece => made,
            _ => {
                let made = make();
                *slot = Slot { piece, made: Some(made) };
                made
            }
        }
    }
}

/// A short piece as a number: its bytes, then their count and the encoding.
#[inline]
fn packed(text: &[u8], piece: Range<usize>, encoding: Encoding) -> Option<u128> {
    let length = piece.len();
    if length > LONGEST {
        return None;
    }
    let bytes = match text[piece.start..].first_chunk() {
        Some(bytes) => u128::from_le_bytes(*bytes) & ((1 << (8 * length)) - 1),
        None => text[piece].iter().rev().fold(0, |bytes, byte| bytes << 8 | u128::from(*byte)),
    };
    Some(bytes | ((encoding as u128) << 4 | length as u128) << (8 * LONGEST))
}

/// Where a piece may be.
#[inline]
fn slot_of(piece: u128) -> usize {
    let folded = piece as u64 ^ (piece >> 64) as u64;
    (folded.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - SLOT_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OpenAiCounter, TokenCounter};

    #[test]
    fn a_piece_is_the_same_wherever_it_stands_and_another_is_not() {
        let text = "word wordy word\0 word".as_bytes();
        let key = |piece| packed(text, piece, Encoding::O200kBase);
        assert_eq!(
            key(0..4),
            key(17..21),
            "with as many bytes after it as are read at once or without"
        );
        assert_ne!(key(0..4), key(5..10));
        assert_ne!(key(11..15), key(11..16), "a zero at the end counts");
        assert_ne!(key(0..4), packed(text, 0..4, Encoding::Cl100kBase));
        assert_eq!(key(0..16), None);
    }

    #[test]
    fn what_a_text_counts_does_not_depend_on_those_before() {
        let counter = OpenAiCounter::new(Encoding::O200kBase);
        let letter = |digit: u8| char::from(digit - b'0' + b'k');
        let word = |at: u32| at.to_string().bytes().map(letter).collect();
        // So many that most slots are taken more than once.
        let words: Vec<String> = (0..10_000).map(word).collect();
        let first: Vec<i64> = words.iter().map(|word| counter.count(word)).collect();
        let again: Vec<i64> = words.iter().rev().map(|word| counter.count(word)).collect();
        assert!(again.iter().rev().eq(&first));
        let afresh =
            |word: &String| std::thread::scope(|scope| scope.spawn(|| counter.count(word)).join());
        for at in (0..words.len()).step_by(500) {
            assert_eq!(afresh(&words[at]).unwrap(), first[at], "{}", words[at]);
        }
    }
}
