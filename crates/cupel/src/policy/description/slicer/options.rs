//! Options of slicers, as data.

use serde::{Serialize, Serializer};

use crate::wire::{Fields, Problem, Read, Value};
use crate::{ContextKind, KnapsackSlice, ScarcityBehavior};

/// The bucket size of a knapsack as data: a number of tokens, or `"finest"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BucketSize {
    /// So many tokens.
    Tokens(i64),
    /// The smallest size that the limit on the table allows.
    Finest,
}

impl Default for BucketSize {
    fn default() -> Self {
        Self::Tokens(KnapsackSlice::DEFAULT_BUCKET_SIZE)
    }
}

/// How many items of one kind, as data.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CountEntryDescription {
    /// The kind.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub kind: ContextKind,
    /// At least so many; 0 by default.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub require_count: usize,
    /// At most so many.
    pub cap_count: usize,
}

/// A [`ScarcityBehavior`] as data: `"degrade"` or `"throw"`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Scarcity {
    /// [`ScarcityBehavior::Degrade`].
    #[default]
    Degrade,
    /// [`ScarcityBehavior::Throw`].
    Throw,
}

impl BucketSize {
    pub(super) fn build(self) -> Result<KnapsackSlice, Problem> {
        Ok(match self {
            Self::Tokens(size) => KnapsackSlice::new(size)?,
            Self::Finest => KnapsackSlice::with_finest_bucket_size(),
        })
    }
}

impl From<Scarcity> for ScarcityBehavior {
    fn from(scarcity: Scarcity) -> Self {
        match scarcity {
            Scarcity::Degrade => Self::Degrade,
            Scarcity::Throw => Self::Throw,
        }
    }
}

impl Serialize for BucketSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Tokens(size) => serializer.serialize_i64(*size),
            Self::Finest => serializer.serialize_str("finest"),
        }
    }
}

impl Read for BucketSize {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        match value {
            Value::Integer(size) => Ok(Self::Tokens(size)),
            Value::Text(text) if text == "finest" => Ok(Self::Finest),
            other => Err(Problem::new(format!(
                "must be a whole number of tokens or \"finest\", got {other}"
            ))),
        }
    }
}

impl Read for Scarcity {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        let name = String::read(value)?;
        match name.to_ascii_lowercase().as_str() {
            "degrade" => Ok(Self::Degrade),
            "throw" => Ok(Self::Throw),
            _ => Err(Problem::new(format!("must be one of degrade, throw, got \"{name}\""))),
        }
    }
}

impl Read for CountEntryDescription {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        let mut fields = Fields::of(value)?;
        let entry = Self {
            kind: fields.required("kind")?,
            require_count: fields.or_default("require_count")?,
            cap_count: fields.required("cap_count")?,
        };
        fields.deny_rest()?;
        Ok(entry)
    }
}
