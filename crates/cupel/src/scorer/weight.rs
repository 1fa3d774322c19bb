//! The rules that all weights share.

use std::fmt::Display;

use crate::CupelError;

/// Refuses a weight that is negative or not finite.
pub(super) fn require_non_negative(field: impl Display, weight: f64) -> Result<(), CupelError> {
    if weight.is_finite() && weight >= 0.0 {
        return Ok(());
    }
    refuse(format!("{field}: must be finite and not negative, got {weight}"))
}

/// Refuses a weight that is zero, negative or not finite.
pub(super) fn require_positive(field: impl Display, weight: f64) -> Result<(), CupelError> {
    if weight.is_finite() && weight > 0.0 {
        return Ok(());
    }
    let rule = if weight.is_finite() { "positive" } else { "finite" };
    refuse(format!("{field}: must be {rule}, got {weight}"))
}

/// Refuses a score that is not within 0.0 and 1.0.
pub(super) fn require_unit(field: impl Display, score: f64) -> Result<(), CupelError> {
    if (0.0..=1.0).contains(&score) {
        return Ok(());
    }
    refuse(format!("{field}: must be within 0 and 1, got {score}"))
}

/// Refuses a total that overflowed.
pub(super) fn require_finite_total(total: f64) -> Result<(), CupelError> {
    if total.is_finite() {
        return Ok(());
    }
    refuse("weights: their sum must be finite; use smaller weights".into())
}

fn refuse(text: String) -> Result<(), CupelError> {
    Err(CupelError::ScorerConfig(text))
}
