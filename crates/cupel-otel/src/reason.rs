//! The part of a reason that a span may show: its name, never its values.

use std::borrow::Cow;

use cupel::{CupelError, ExclusionReason};

/// The name of a reason, as it stands on an exclusion event.
///
/// A reason that this version does not know is `"Unknown"`, whatever name it came with: that name
/// is somebody else's text.
///
/// # Example
///
/// ```
/// use cupel::ExclusionReason;
/// use cupel_otel::exclusion_reason_name;
///
/// let reason = ExclusionReason::Deduplicated { deduplicated_against: "a secret".into() };
/// assert_eq!(exclusion_reason_name(&reason), "Deduplicated");
/// ```
#[must_use]
pub fn exclusion_reason_name(reason: &ExclusionReason) -> &'static str {
    reason.kind().name()
}

/// Description of the error of a failed run. Texts made of numbers are kept; all others may quote
/// an item or come from a user's own strategy, and only their code is told.
pub(crate) fn error_description(error: &CupelError) -> Cow<'static, str> {
    match error {
        CupelError::PinnedExceedsBudget { .. }
        | CupelError::Overflow { .. }
        | CupelError::TableTooLarge { .. } => format!("{}: {error}", error.code()).into(),
        other => other.code().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_reason_loses_its_own_name() {
        let reason = ExclusionReason::Unknown { name: "secret".into(), fields: Vec::new() };
        assert_eq!(exclusion_reason_name(&reason), "Unknown");
    }

    #[test]
    fn errors_made_of_numbers_keep_their_text() {
        let error = CupelError::Overflow { merged_tokens: 30, target_tokens: 20 };
        assert_eq!(error_description(&error), format!("overflow: {error}"));
        let error = CupelError::PinnedExceedsBudget { pinned_tokens: 30, available: 20 };
        assert_eq!(error_description(&error), format!("pinned_exceeds_budget: {error}"));
        let error = CupelError::TableTooLarge { candidates: 1, capacity: 2, cells: 3 };
        assert_eq!(error_description(&error), format!("table_too_large: {error}"));
    }

    #[test]
    fn errors_with_a_text_of_their_own_are_told_by_code() {
        let errors = [
            CupelError::InvalidBudget("secret".into()),
            CupelError::PipelineConfig("secret".into()),
            CupelError::ScorerConfig("secret".into()),
            CupelError::SlicerConfig("secret".into()),
        ];
        for error in errors {
            assert_eq!(error_description(&error), error.code());
        }
    }
}
