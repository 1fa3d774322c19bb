//! A vocabulary: tables that the build made, read as they are.

use super::layout::{
    BYTES, LEAF, NO_PAIR, NO_TOKEN, PAIR_LEFT, PAIR_RIGHT, ROOT, STEP_BYTE, STEP_NODE, STEP_TAKEN,
    TOKEN_PREFIX, bit, slot,
};

/// The tables; [`layout`](super::layout) says what is in them.
#[derive(Debug)]
pub(super) struct Vocabulary {
    pub(super) steps: &'static [u8],
    pub(super) tokens: &'static [u8],
    pub(super) parts: &'static [u8],
    pub(super) pairs: &'static [u8],
    pub(super) filter: &'static [u8],
}

impl Vocabulary {
    /// The longest token that `text` begins with.
    #[inline]
    pub(super) fn longest(&self, text: &[u8]) -> Option<u32> {
        let (mut node, mut longest) = (ROOT, None);
        for &byte in text {
            let step = u64_at(self.steps, (node ^ u32::from(byte)) as usize);
            let is_by_byte = (step ^ STEP_TAKEN) >> STEP_BYTE & 0x1ff == u64::from(byte);
            if !is_by_byte {
                break;
            }
            if step as u32 != NO_TOKEN {
                longest = Some(step as u32);
            }
            node = (step >> STEP_NODE) as u32;
            if node == LEAF {
                break;
            }
        }
        longest
    }

    /// The longest other token that this one begins with.
    pub(super) fn prefix(&self, token: u32) -> Option<u32> {
        let prefix = u32_at(self.tokens, token as usize) >> TOKEN_PREFIX;
        (prefix != token).then_some(prefix)
    }

    /// Number of bytes a token has.
    #[inline]
    pub(super) fn length(&self, token: u32) -> usize {
        (u32_at(self.tokens, token as usize) & ((1 << TOKEN_PREFIX) - 1)) as usize
    }

    /// Returns true if two tokens that stand side by side are left as they are.
    ///
    /// Merges happen in the order of the tokens that they make, and from left to right where these
    /// are equal. So the merges that made both are undone, the last first; the two stay apart if
    /// at no time what touched in between would have merged before what did.
    pub(super) fn stay_apart(&self, mut left: u32, mut right: u32) -> bool {
        let mut undone = u32::MAX;
        loop {
            if self.merged(left, right).is_some_and(|token| token < undone) {
                return false;
            }
            if left.max(right) < BYTES {
                return true;
            }
            if left > right {
                undone = left;
                left = self.parts(left) as u32;
            } else {
                undone = right + 1;
                right = (self.parts(right) >> 32) as u32;
            }
        }
    }

    /// The two parts of a token from [`BYTES`] on: left in the upper half, right in the lower.
    fn parts(&self, token: u32) -> u64 {
        u64_at(self.parts, (token - BYTES) as usize)
    }

    /// The token that two make.
    fn merged(&self, left: u32, right: u32) -> Option<u32> {
        let (pairs, filter) = (self.pairs, self.filter);
        let bit = bit(left, right, filter.len() * 8);
        if filter[bit / 8] >> (bit % 8) & 1 == 0 {
            return None;
        }
        let slots = pairs.len() / 8;
        let sought = u64::from(left) << PAIR_LEFT | u64::from(right) << PAIR_RIGHT;
        let mut at = slot(left, right, slots);
        loop {
            let pair = u64_at(pairs, at);
            if pair >> PAIR_RIGHT << PAIR_RIGHT == sought {
                return Some((pair ^ sought) as u32);
            }
            if pair == NO_PAIR {
                return None;
            }
            at = if at + 1 == slots { 0 } else { at + 1 };
        }
    }
}

#[inline]
fn u64_at(table: &[u8], index: usize) -> u64 {
    let number = table[index * 8..index * 8 + 8].try_into();
    u64::from_le_bytes(number.unwrap_or_default())
}

#[inline]
fn u32_at(table: &[u8], index: usize) -> u32 {
    let number = table[index * 4..index * 4 + 4].try_into();
    u32::from_le_bytes(number.unwrap_or_default())
}
