//! Slicers as data.

use serde::{Serialize, Serializer};

use super::custom::{CustomStrategy, Environment};
use super::read;
use crate::wire::{Fields, Problem, Read, Value};
use crate::{
    ContextKind, CountConstrainedKnapsackSlice, CountQuotaEntry, CountQuotaSlice, GreedySlice,
    KnapsackSlice, QuotaEntry, QuotaSlice, ScarcityBehavior, Slicer,
};

/// A slicer as data: its `type` in kebab case, and its options. One without options may be given
/// by its name alone.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(transform = super::schema::slicer_names)
)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SlicerDescription {
    /// [`GreedySlice`].
    Greedy,
    /// [`KnapsackSlice`].
    Knapsack {
        /// Tokens to a bucket, or `"finest"`; 100 by default.
        #[cfg_attr(feature = "schema", schemars(default = "super::schema::default_bucket"))]
        bucket_size: BucketSize,
    },
    /// [`QuotaSlice`].
    Quota {
        /// Shares by kind.
        #[cfg_attr(feature = "schema", schemars(with = "Vec<super::schema::Quota>"))]
        quotas: Vec<QuotaEntry>,
        /// Who chooses within each kind; greedy by default.
        #[cfg_attr(feature = "schema", schemars(default = "super::schema::default_inner"))]
        inner: Box<SlicerDescription>,
    },
    /// [`CountQuotaSlice`].
    CountQuota {
        /// Counts by kind.
        entries: Vec<CountEntryDescription>,
        /// What happens when candidates are too few.
        #[cfg_attr(feature = "schema", schemars(default))]
        scarcity: Scarcity,
        /// Who chooses the rest; greedy by default.
        #[cfg_attr(feature = "schema", schemars(default = "super::schema::default_inner"))]
        inner: Box<SlicerDescription>,
    },
    /// [`CountConstrainedKnapsackSlice`].
    CountConstrainedKnapsack {
        /// Counts by kind.
        entries: Vec<CountEntryDescription>,
        /// What happens when candidates are too few.
        #[cfg_attr(feature = "schema", schemars(default))]
        scarcity: Scarcity,
        /// Tokens to a bucket, or `"finest"`; 100 by default.
        #[cfg_attr(feature = "schema", schemars(default = "super::schema::default_bucket"))]
        bucket_size: BucketSize,
    },
    /// A slicer that a [`StrategyProvider`](super::StrategyProvider) knows.
    #[serde(untagged)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Custom(CustomStrategy),
}

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

impl SlicerDescription {
    /// The name of the slicer.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Greedy => "greedy",
            Self::Knapsack { .. } => "knapsack",
            Self::Quota { .. } => "quota",
            Self::CountQuota { .. } => "count-quota",
            Self::CountConstrainedKnapsack { .. } => "count-constrained-knapsack",
            Self::Custom(custom) => custom.name(),
        }
    }

    /// The slicer itself, and the path to what is wrong with it otherwise.
    pub(super) fn build(&self, environment: Environment<'_>) -> Result<Box<dyn Slicer>, Problem> {
        let build_inner =
            |inner: &Self| inner.build(environment).map_err(|problem| problem.in_field("inner"));
        Ok(match self {
            Self::Greedy => Box::new(GreedySlice),
            Self::Knapsack { bucket_size } => Box::new(bucket_size.build()?),
            Self::Quota { quotas, inner } => {
                Box::new(QuotaSlice::new(quotas.clone(), build_inner(inner)?)?)
            }
            Self::CountQuota { entries, scarcity, inner } => {
                let (entries, inner) = (count_entries(entries)?, build_inner(inner)?);
                Box::new(CountQuotaSlice::new(entries, inner, (*scarcity).into())?)
            }
            Self::CountConstrainedKnapsack { entries, scarcity, bucket_size } => {
                let (entries, knapsack) = (count_entries(entries)?, bucket_size.build()?);
                Box::new(CountConstrainedKnapsackSlice::new(entries, knapsack, (*scarcity).into())?)
            }
            Self::Custom(custom) => environment.slicer(custom)?,
        })
    }
}

fn count_entries(entries: &[CountEntryDescription]) -> Result<Vec<CountQuotaEntry>, Problem> {
    let entries = entries.iter().enumerate().map(|(index, entry)| {
        CountQuotaEntry::new(entry.kind.clone(), entry.require_count, entry.cap_count)
            .map_err(|error| Problem::from(error).in_list(index).in_field("entries"))
    });
    entries.collect()
}

impl BucketSize {
    fn build(self) -> Result<KnapsackSlice, Problem> {
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

pub(super) const SLICERS: [&str; 5] =
    ["greedy", "knapsack", "quota", "count-quota", "count-constrained-knapsack"];

impl Read for SlicerDescription {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        let (name, mut fields) = read::strategy(value)?;
        let inner = |fields: &mut Fields<'_>| {
            fields.optional("inner").map(|inner| inner.unwrap_or_else(|| Box::new(Self::Greedy)))
        };
        let slicer = match name.as_str() {
            "greedy" => Self::Greedy,
            "knapsack" => Self::Knapsack { bucket_size: fields.or_default("bucket_size")? },
            "quota" => {
                Self::Quota { quotas: fields.required("quotas")?, inner: inner(&mut fields)? }
            }
            "count-quota" => Self::CountQuota {
                entries: fields.required("entries")?,
                scarcity: fields.or_default("scarcity")?,
                inner: inner(&mut fields)?,
            },
            "count-constrained-knapsack" => Self::CountConstrainedKnapsack {
                entries: fields.required("entries")?,
                scarcity: fields.or_default("scarcity")?,
                bucket_size: fields.or_default("bucket_size")?,
            },
            _ => Self::Custom(CustomStrategy::read(&name, &mut fields)),
        };
        fields.deny_rest()?;
        Ok(slicer)
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
