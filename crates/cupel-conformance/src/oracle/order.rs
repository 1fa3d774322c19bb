//! The one comparator of scores and densities.

use std::cmp::Ordering;

/// Orders by value descending: NaN comes after every number, and both zeros are equal.
///
/// `Equal` leaves the decision to the index; a stable sort does the same.
pub fn descending(a: f64, b: f64) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) if a > b => Ordering::Less,
        (false, false) if a < b => Ordering::Greater,
        _ => Ordering::Equal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_is_last_and_zeros_are_equal() {
        assert_eq!(descending(f64::NAN, f64::NEG_INFINITY), Ordering::Greater);
        assert_eq!(descending(f64::NEG_INFINITY, f64::NAN), Ordering::Less);
        assert_eq!(descending(f64::NAN, -f64::NAN), Ordering::Equal);
        assert_eq!(descending(-0.0, 0.0), Ordering::Equal);
        assert_eq!(descending(f64::INFINITY, f64::MAX), Ordering::Less);
    }
}
