//! Why an item is in or out.

use std::fmt;

use crate::model::{OneLine, write_letter};

/// Why an item was left out.
///
/// Each variant carries what a program needs to act on it; [`Display`](fmt::Display) says it in
/// words. The four reserved variants are never produced by the built-in stages, but your own
/// slicer may use them.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq)]
pub enum ExclusionReason {
    /// It did not fit.
    BudgetExceeded {
        /// Its tokens.
        item_tokens: i64,
        /// What was left for it: at Slice, the effective target less all that was sliced; at
        /// Place, the target less what was kept so far. Negative where a count quota overspent.
        available_tokens: i64,
    },
    /// Its score was below a threshold (reserved).
    ScoredTooLow {
        /// Its score.
        score: f64,
        /// The threshold.
        threshold: f64,
    },
    /// Another item has the same text.
    Deduplicated {
        /// The text of the item that was kept.
        deduplicated_against: String,
    },
    /// Its kind had used up its share (reserved).
    QuotaCapExceeded {
        /// The kind.
        kind: String,
        /// What was allowed.
        cap: i64,
        /// What there was.
        actual: i64,
    },
    /// It made way for a kind that must have its share (reserved).
    QuotaRequireDisplaced {
        /// That kind.
        displaced_by_kind: String,
    },
    /// Its token count is negative.
    NegativeTokens {
        /// The count.
        tokens: i64,
    },
    /// Pins alone keep it out. At Slice: it is larger than the effective target, but not than that
    /// would be with nothing pinned; what other items crowded out is
    /// [`BudgetExceeded`](Self::BudgetExceeded). At Place: it would have fitted into what was left,
    /// but for the pinned tokens.
    PinnedOverride {
        /// The text of the largest pinned item.
        displaced_by: String,
    },
    /// A filter dropped it (reserved).
    Filtered {
        /// The filter.
        filter_name: String,
    },
    /// Enough items of its kind were selected already.
    CountCapExceeded {
        /// The kind, as the item spells it.
        kind: String,
        /// How many are allowed.
        cap: usize,
        /// How many were selected by then.
        count: usize,
    },
    /// Too few candidates of a required kind (reserved).
    CountRequireCandidatesExhausted {
        /// The kind.
        kind: String,
    },
    /// A reason that this version does not know, read from elsewhere and kept as it was.
    Unknown {
        /// Its name.
        name: String,
        /// Its fields, in their order.
        fields: Vec<(String, FieldValue)>,
    },
    /// Never produced; programs written for version 1 may match on it.
    #[doc(hidden)]
    _Unknown,
}

impl ExclusionReason {
    /// The name of the variant; for an unknown reason, the name that it came with.
    pub fn name(&self) -> &str {
        match self {
            Self::BudgetExceeded { .. } => "BudgetExceeded",
            Self::ScoredTooLow { .. } => "ScoredTooLow",
            Self::Deduplicated { .. } => "Deduplicated",
            Self::QuotaCapExceeded { .. } => "QuotaCapExceeded",
            Self::QuotaRequireDisplaced { .. } => "QuotaRequireDisplaced",
            Self::NegativeTokens { .. } => "NegativeTokens",
            Self::PinnedOverride { .. } => "PinnedOverride",
            Self::Filtered { .. } => "Filtered",
            Self::CountCapExceeded { .. } => "CountCapExceeded",
            Self::CountRequireCandidatesExhausted { .. } => "CountRequireCandidatesExhausted",
            Self::Unknown { name, .. } => name,
            Self::_Unknown => "Unknown",
        }
    }
}

impl fmt::Display for ExclusionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        OneLine(self.name()).fmt(f)?;
        match self {
            Self::BudgetExceeded { item_tokens, available_tokens } => {
                write!(f, ": {item_tokens} tokens requested, {available_tokens} available")
            }
            Self::ScoredTooLow { score, threshold } => {
                write!(f, ": score {score} is below {threshold}")
            }
            Self::Deduplicated { deduplicated_against } => {
                write!(f, ": same text as `{}`", Excerpt(deduplicated_against))
            }
            Self::QuotaCapExceeded { kind, cap, actual } => {
                write!(f, ": {} has {actual}, at most {cap} allowed", OneLine(kind))
            }
            Self::QuotaRequireDisplaced { displaced_by_kind: kind }
            | Self::CountRequireCandidatesExhausted { kind } => write!(f, ": {}", OneLine(kind)),
            Self::NegativeTokens { tokens } => write!(f, ": {tokens} tokens"),
            Self::PinnedOverride { displaced_by } => {
                write!(f, ": displaced by pinned `{}`", Excerpt(displaced_by))
            }
            Self::Filtered { filter_name } => write!(f, ": {}", OneLine(filter_name)),
            Self::CountCapExceeded { kind, cap, count } => {
                let kind = OneLine(kind);
                write!(f, ": {count} of kind {kind} selected, at most {cap} allowed")
            }
            Self::Unknown { .. } | Self::_Unknown => Ok(()),
        }
    }
}

/// The beginning of a text, for messages, which are one line: line breaks and the like are escaped.
pub(crate) struct Excerpt<'a>(pub(crate) &'a str);

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LIMIT: usize = 40;
        for (at, letter) in self.0.chars().enumerate() {
            match letter {
                _ if at == LIMIT => return f.write_str("…"),
                letter => write_letter(f, letter)?,
            }
        }
        Ok(())
    }
}

/// A value whose meaning only its giver knows: a field of an
/// [unknown reason](ExclusionReason::Unknown), or an option of a strategy that is not built in.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldValue {
    /// Nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A whole number beyond [`i64::MAX`].
    Unsigned(u64),
    /// A number.
    Float(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<FieldValue>),
    /// Named values, in their order.
    Map(Vec<(String, FieldValue)>),
}

impl From<bool> for FieldValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for FieldValue {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<f64> for FieldValue {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<&str> for FieldValue {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl<T: Into<Self>> From<Vec<T>> for FieldValue {
    fn from(list: Vec<T>) -> Self {
        Self::List(list.into_iter().map(Into::into).collect())
    }
}

/// Why an item was included.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InclusionReason {
    /// Its score won it a place.
    Scored,
    /// It is pinned.
    Pinned,
    /// It costs nothing.
    ZeroToken,
}

impl InclusionReason {
    /// The name of the variant.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Scored => "Scored",
            Self::Pinned => "Pinned",
            Self::ZeroToken => "ZeroToken",
        }
    }
}

impl fmt::Display for InclusionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
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
}
