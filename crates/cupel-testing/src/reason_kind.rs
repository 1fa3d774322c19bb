//! Reasons without their details.

use std::fmt;

use cupel::ExclusionReason;

/// An [`ExclusionReason`] without its details: which variant it is, and nothing else.
///
/// The assertions take anything that converts into it, so a whole reason will do as well; its
/// details are then not compared.
///
/// # Example
///
/// ```
/// use cupel::ExclusionReason;
/// use cupel_testing::ExclusionReasonKind;
///
/// let reason = ExclusionReason::NegativeTokens { tokens: -3 };
/// assert_eq!(ExclusionReasonKind::from(&reason), ExclusionReasonKind::NegativeTokens);
/// ```
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExclusionReasonKind {
    /// It did not fit.
    BudgetExceeded,
    /// Its score was below a threshold (reserved).
    ScoredTooLow,
    /// Another item has the same text.
    Deduplicated,
    /// Its kind had used up its share (reserved).
    QuotaCapExceeded,
    /// It made way for a kind that must have its share (reserved).
    QuotaRequireDisplaced,
    /// Its token count is negative.
    NegativeTokens,
    /// It would have fitted, had nothing been pinned.
    PinnedOverride,
    /// A filter dropped it (reserved).
    Filtered,
    /// Enough items of its kind were selected already.
    CountCapExceeded,
    /// Too few candidates of a required kind (reserved).
    CountRequireCandidatesExhausted,
    /// A reason that this version does not know, whatever its name.
    Unknown,
}

impl ExclusionReasonKind {
    /// The name of the variant.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::BudgetExceeded => "BudgetExceeded",
            Self::ScoredTooLow => "ScoredTooLow",
            Self::Deduplicated => "Deduplicated",
            Self::QuotaCapExceeded => "QuotaCapExceeded",
            Self::QuotaRequireDisplaced => "QuotaRequireDisplaced",
            Self::NegativeTokens => "NegativeTokens",
            Self::PinnedOverride => "PinnedOverride",
            Self::Filtered => "Filtered",
            Self::CountCapExceeded => "CountCapExceeded",
            Self::CountRequireCandidatesExhausted => "CountRequireCandidatesExhausted",
            Self::Unknown => "Unknown",
        }
    }
}

impl From<&ExclusionReason> for ExclusionReasonKind {
    fn from(reason: &ExclusionReason) -> Self {
        match reason {
            ExclusionReason::BudgetExceeded { .. } => Self::BudgetExceeded,
            ExclusionReason::ScoredTooLow { .. } => Self::ScoredTooLow,
            ExclusionReason::Deduplicated { .. } => Self::Deduplicated,
            ExclusionReason::QuotaCapExceeded { .. } => Self::QuotaCapExceeded,
            ExclusionReason::QuotaRequireDisplaced { .. } => Self::QuotaRequireDisplaced,
            ExclusionReason::NegativeTokens { .. } => Self::NegativeTokens,
            ExclusionReason::PinnedOverride { .. } => Self::PinnedOverride,
            ExclusionReason::Filtered { .. } => Self::Filtered,
            ExclusionReason::CountCapExceeded { .. } => Self::CountCapExceeded,
            ExclusionReason::CountRequireCandidatesExhausted { .. } => {
                Self::CountRequireCandidatesExhausted
            }
            _ => Self::Unknown,
        }
    }
}

impl From<ExclusionReason> for ExclusionReasonKind {
    fn from(reason: ExclusionReason) -> Self {
        Self::from(&reason)
    }
}

impl fmt::Display for ExclusionReasonKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_converts_into_its_namesake() {
        let kind = || "Tool".to_owned();
        let reasons = [
            ExclusionReason::BudgetExceeded { item_tokens: 1, available_tokens: 0 },
            ExclusionReason::ScoredTooLow { score: 0.1, threshold: 0.2 },
            ExclusionReason::Deduplicated { deduplicated_against: "a".into() },
            ExclusionReason::QuotaCapExceeded { kind: kind(), cap: 1, actual: 2 },
            ExclusionReason::QuotaRequireDisplaced { displaced_by_kind: kind() },
            ExclusionReason::NegativeTokens { tokens: -1 },
            ExclusionReason::PinnedOverride { displaced_by: "a".into() },
            ExclusionReason::Filtered { filter_name: "f".into() },
            ExclusionReason::CountCapExceeded { kind: kind(), cap: 1, count: 1 },
            ExclusionReason::CountRequireCandidatesExhausted { kind: kind() },
        ];
        for reason in reasons {
            let variant = ExclusionReasonKind::from(&reason);
            assert_eq!(variant.to_string(), reason.name());
            assert_eq!(ExclusionReasonKind::from(reason), variant);
        }
    }

    #[test]
    fn unknown_reasons_convert_whatever_their_name() {
        for name in ["TooRude", "BudgetExceeded"] {
            let reason = ExclusionReason::Unknown { name: name.into(), fields: vec![] };
            assert_eq!(ExclusionReasonKind::from(reason), ExclusionReasonKind::Unknown);
        }
        assert_eq!(
            ExclusionReasonKind::from(ExclusionReason::_Unknown),
            ExclusionReasonKind::Unknown,
        );
    }
}
