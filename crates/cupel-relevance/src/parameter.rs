//! The rules that all parameters share.

use std::fmt::Display;

use cupel::CupelError;

/// Refuses a parameter that is zero, negative or not finite.
pub(crate) fn positive(field: impl Display, value: f64) -> Result<(), CupelError> {
    require(value.is_finite() && value > 0.0, field, "positive and finite", value)
}

/// Refuses a parameter that is negative or not finite.
pub(crate) fn not_negative(field: &str, value: f64) -> Result<(), CupelError> {
    require(value.is_finite() && value >= 0.0, field, "finite and not negative", value)
}

/// Refuses a parameter that is not within 0 and 1.
pub(crate) fn unit(field: &str, value: f64) -> Result<(), CupelError> {
    require((0.0..=1.0).contains(&value), field, "within 0 and 1", value)
}

/// Refuses a parameter that is not above 0.5 and at most 1.
pub(crate) fn above_half(field: &str, value: f64) -> Result<(), CupelError> {
    require(value > 0.5 && value <= 1.0, field, "above 0.5 and at most 1", value)
}

/// Refuses a count of zero.
pub(crate) fn at_least_one(field: &str, value: usize) -> Result<(), CupelError> {
    require(value > 0, field, "at least 1", value)
}

fn require(
    is_met: bool,
    field: impl Display,
    rule: &str,
    value: impl Display,
) -> Result<(), CupelError> {
    if is_met {
        return Ok(());
    }
    Err(CupelError::ScorerConfig(format!("{field}: must be {rule}, got {value}")))
}
