//! When two scores are equal.

/// Returns true if two scores differ by less than `epsilon`, or are both NaN, or the same infinity.
pub(super) fn scores_match(actual: f64, expected: f64, epsilon: f64) -> bool {
    (actual - expected).abs() < epsilon
        || actual == expected
        || (actual.is_nan() && expected.is_nan())
}
