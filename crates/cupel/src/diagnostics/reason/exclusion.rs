//! Why an item is out.

use std::fmt;

use super::table::reasons;
use crate::diagnostics::{Excerpt, FieldValue};
use crate::model::OneLine;
#[cfg(feature = "serde")]
use crate::wire::WriteEntry as _;

// All that is known of a reason is said here; see `table.rs` for what is made of it.
reasons! {
    /// It did not fit.
    BudgetExceeded {
        /// Its tokens.
        item_tokens: i64,
        /// Tokens that were left for it: at Slice, the effective target less all that was sliced; at
        /// Place, the target less what was kept so far. Negative where a count quota overspent.
        available_tokens: i64,
    } => (": {item_tokens} tokens requested, {available_tokens} available"),

    /// Its score was below a threshold (reserved).
    ScoredTooLow {
        /// Its score.
        score: f64,
        /// The threshold.
        threshold: f64,
    } => (": score {score} is below {threshold}"),

    /// Another item has the same text.
    Deduplicated {
        /// The text of the item that was kept.
        deduplicated_against: String,
    } => (": same text as `{}`", Excerpt(deduplicated_against)),

    /// Its kind had used up its share (reserved).
    QuotaCapExceeded {
        /// The kind.
        kind: String,
        /// Items that were allowed.
        cap: i64,
        /// Items that there were.
        actual: i64,
    } => (": {} has {actual}, at most {cap} allowed", OneLine(kind)),

    /// It made way for a kind that must have its share (reserved).
    QuotaRequireDisplaced {
        /// That kind.
        displaced_by_kind: String,
    } => (": {}", OneLine(displaced_by_kind)),

    /// Its token count is negative.
    NegativeTokens {
        /// The count.
        tokens: i64,
    } => (": {tokens} tokens"),

    /// Pins alone keep it out. At Slice: it is larger than the effective target, but not than that
    /// would be with nothing pinned; what other items crowded out is
    /// [`BudgetExceeded`](Self::BudgetExceeded). At Place: it would have fitted into what was left,
    /// but for the pinned tokens.
    PinnedOverride {
        /// The text of the largest pinned item.
        displaced_by: String,
    } => (": displaced by pinned `{}`", Excerpt(displaced_by)),

    /// A filter dropped it (reserved).
    Filtered {
        /// The filter.
        filter_name: String,
    } => (": {}", OneLine(filter_name)),

    /// Enough items of its kind were selected already.
    CountCapExceeded {
        /// The kind, as the item spells it.
        kind: String,
        /// Number that is allowed.
        cap: usize,
        /// Number that was selected by then.
        count: usize,
    } => (": {count} of kind {} selected, at most {cap} allowed", OneLine(kind)),

    /// Too few candidates of a required kind (reserved).
    CountRequireCandidatesExhausted {
        /// The kind.
        kind: String,
    } => (": {}", OneLine(kind)),
}

impl ExclusionReason {
    /// The name of the variant; for an unknown reason, the name that it came with.
    pub fn name(&self) -> &str {
        match self {
            Self::Unknown { name, .. } => name,
            known => known.kind().name(),
        }
    }
}

impl fmt::Display for ExclusionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        OneLine(self.name()).fmt(f)?;
        self.details(f)
    }
}

impl fmt::Display for ExclusionReasonKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl From<&ExclusionReason> for ExclusionReasonKind {
    fn from(reason: &ExclusionReason) -> Self {
        reason.kind()
    }
}

impl From<ExclusionReason> for ExclusionReasonKind {
    fn from(reason: ExclusionReason) -> Self {
        reason.kind()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_says_in_words_what_it_carries() {
        let reason = ExclusionReason::BudgetExceeded { item_tokens: 2048, available_tokens: 512 };
        assert_eq!(reason.to_string(), "BudgetExceeded: 2048 tokens requested, 512 available");
        let reason = ExclusionReason::Deduplicated { deduplicated_against: "é".repeat(50) };
        let text = format!("Deduplicated: same text as `{}…`", "é".repeat(40));
        assert_eq!(reason.to_string(), text);
        let reason = ExclusionReason::Unknown { name: "TooRude".into(), fields: vec![] };
        assert_eq!(reason.to_string(), "TooRude");
    }

    #[test]
    fn unknown_reasons_are_of_one_kind_whatever_their_name() {
        for name in ["TooRude", "BudgetExceeded"] {
            let reason = ExclusionReason::Unknown { name: name.into(), fields: vec![] };
            assert_eq!((reason.name(), reason.kind()), (name, ExclusionReasonKind::Unknown));
        }
        assert_eq!(ExclusionReasonKind::from(ExclusionReason::_Unknown).name(), "Unknown");
    }
}
