//! Tables of pairs, made of the parts of tokens: by the build, or at the first count.

use super::layout::{BYTES, NO_PAIR, PAIR_LEFT, PAIR_RIGHT, bit, slot};

/// The tokens by their parts. Two slots a token, so that few are tried for a pair that is none.
pub(crate) fn table(parts: &[(u32, u32)]) -> Vec<u64> {
    let mut slots = vec![NO_PAIR; parts.len() * 2];
    for (token, &(left, right)) in (BYTES..).zip(parts) {
        let mut at = slot(left, right, slots.len());
        while slots[at] != NO_PAIR {
            at = (at + 1) % slots.len();
        }
        slots[at] =
            u64::from(left) << PAIR_LEFT | u64::from(right) << PAIR_RIGHT | u64::from(token);
    }
    slots
}

/// Eight bits a token, so that one in eight pairs that are none is looked up in vain.
pub(crate) fn filter(parts: &[(u32, u32)]) -> Vec<u8> {
    let mut filter = vec![0u8; parts.len()];
    let bits = filter.len() * 8;
    for &(left, right) in parts {
        let bit = bit(left, right, bits);
        filter[bit / 8] |= 1 << (bit % 8);
    }
    filter
}
