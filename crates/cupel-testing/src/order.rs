//! The order of scores that the library uses everywhere.

use std::cmp::Ordering;

/// The higher first; zeros of both signs are equal, and NaN comes last.
pub(crate) fn descending(a: f64, b: f64) -> Ordering {
    b.partial_cmp(&a).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn higher_comes_first_and_nan_last() {
        let mut scores = [f64::NAN, 0.5, f64::NEG_INFINITY, f64::INFINITY, -f64::NAN, 0.9];
        scores.sort_by(|a, b| descending(*a, *b));
        assert_eq!(scores[..4], [f64::INFINITY, 0.9, 0.5, f64::NEG_INFINITY]);
        assert!(scores[4..].iter().all(|score| score.is_nan()));
        assert_eq!(descending(-0.0, 0.0), Ordering::Equal);
        assert_eq!(descending(f64::NAN, -f64::NAN), Ordering::Equal);
    }
}
