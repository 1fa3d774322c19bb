//! The one order of scores: descending, then by position.
//!
//! Sort, deduplication, densities, placement and the list of exclusions all use it. −0.0 equals
//! 0.0, infinities are ordered as IEEE 754 says, and NaN comes last.

mod sort;

use std::cmp::Ordering;

use chrono::{DateTime, Utc};

use crate::model::clamp_to_i64;

pub(crate) use sort::positions_by_key;

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

/// Compares two scores as every stage does: the higher comes first, zeros of both signs are equal,
/// and NaN comes last.
///
/// ```
/// let mut scores = [0.2, f64::NAN, 0.9];
/// scores.sort_by(|a, b| cupel::compare_scores(*a, *b));
/// assert_eq!(scores[..2], [0.9, 0.2]);
/// ```
#[must_use]
pub fn compare_scores(a: f64, b: f64) -> Ordering {
    descending_key(a).cmp(&descending_key(b))
}

/// Maps an integer to one without sign, in the same order.
pub(crate) fn signed_lead(value: i64) -> u64 {
    value as u64 ^ 1 << 63
}

/// Nanoseconds, in the order of the instants. Two instants share a number only within a leap
/// second, or if both are centuries away, beyond 64 bits of nanoseconds.
pub(crate) fn instant_lead(instant: DateTime<Utc>) -> u64 {
    // Within a leap second the fraction goes on beyond a second.
    let fraction = i128::from(instant.timestamp_subsec_nanos().min(999_999_999));
    signed_lead(clamp_to_i64(i128::from(instant.timestamp()) * 1_000_000_000 + fraction))
}

/// Positions of the given scores, highest first; among equals the earlier first.
pub(crate) fn positions_descending(scores: impl IntoIterator<Item = f64>) -> Vec<u32> {
    let keys: Vec<u64> = scores.into_iter().map(descending_key).collect();
    positions_by_key(&keys, |key| *key)
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
    fn the_lead_of_an_instant_never_contradicts_its_order() {
        let instant = |second, nanosecond| DateTime::from_timestamp(second, nanosecond).unwrap();
        // The last second before 2017 was a leap second.
        let leap = 1_483_228_799;
        let ascending = [
            DateTime::<Utc>::MIN_UTC,
            instant(i64::MIN / 1_000_000_000 - 2, 0),
            instant(i64::MIN / 1_000_000_000 - 1, 999_999_999),
            instant(i64::MIN / 1_000_000_000, 0),
            instant(-1, 999_999_999),
            instant(0, 0),
            instant(0, 1),
            instant(leap, 999_999_999),
            instant(leap, 1_000_000_000),
            instant(leap, 1_999_999_999),
            instant(leap + 1, 0),
            instant(i64::MAX / 1_000_000_000, 999_999_999),
            instant(i64::MAX / 1_000_000_000 + 1, 0),
            DateTime::<Utc>::MAX_UTC,
        ];
        assert!(ascending.is_sorted_by(|a, b| a < b));
        assert!(ascending.is_sorted_by_key(|instant| instant_lead(*instant)));
        assert_ne!(instant_lead(ascending[5]), instant_lead(ascending[6]));
    }

    #[test]
    fn zeros_of_both_signs_are_equal_and_position_decides() {
        assert_eq!(positions_descending([-0.0, 0.0, -0.0]), [0, 1, 2]);
        assert_eq!(compare_scores(-0.0, 0.0), Ordering::Equal);
    }
}
