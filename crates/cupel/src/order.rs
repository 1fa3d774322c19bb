//! The one order of scores: descending, then by position.
//!
//! Sort, deduplication, densities, placement and the list of exclusions all use it. −0.0 equals
//! 0.0, infinities are ordered as IEEE 754 says, and NaN comes last.

use std::cmp::Ordering;

/// Maps a score to an integer that sorts ascending where scores sort descending.
pub(crate) fn descending_key(score: f64) -> u64 {
    const SIGN: u64 = 1 << 63;
    if score.is_nan() {
        return u64::MAX;
    }
    // Adding zero turns −0.0 into 0.0 and changes nothing else.
    let bits = (score + 0.0).to_bits();
    let ascending = if bits & SIGN == 0 { bits | SIGN } else { !bits };
    !ascending
}

/// Compares two scores so that the higher comes first.
pub(crate) fn descending(a: f64, b: f64) -> Ordering {
    descending_key(a).cmp(&descending_key(b))
}

/// Positions of the given scores, highest first; among equals the earlier first.
pub(crate) fn positions_descending(scores: impl IntoIterator<Item = f64>) -> Vec<u32> {
    let keys = scores.into_iter().map(descending_key);
    positions_by_key(keys)
}

/// Positions of the given keys, smallest first; among equals the earlier first.
pub(crate) fn positions_by_key<K: Ord>(keys: impl IntoIterator<Item = K>) -> Vec<u32> {
    // The position makes every key distinct, so an unstable sort gives the stable order.
    let mut keyed: Vec<(K, u32)> = keys.into_iter().zip(0..).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, position)| position).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn higher_scores_come_first_infinities_included() {
        let scores = [0.5, f64::NEG_INFINITY, 2.0, f64::INFINITY, -1.0, f64::MIN_POSITIVE];
        assert_eq!(positions_descending(scores), [3, 2, 0, 5, 4, 1]);
    }

    #[test]
    fn nan_comes_last_whatever_its_sign() {
        let scores = [f64::NAN, f64::NEG_INFINITY, -f64::NAN, 0.0];
        assert_eq!(positions_descending(scores), [3, 1, 0, 2]);
    }

    #[test]
    fn zeros_of_both_signs_are_equal_and_position_decides() {
        assert_eq!(positions_descending([-0.0, 0.0, -0.0]), [0, 1, 2]);
        assert_eq!(descending(-0.0, 0.0), Ordering::Equal);
    }
}
