//! Slicers as data.

mod options;

use serde::Serialize;

use super::custom::CustomStrategy;
use super::defaults;
use super::environment::Environment;
use super::table::{self, strategies};
use crate::wire::{Problem, Read, Value};
use crate::{
    CountConstrainedKnapsackSlice, CountQuotaEntry, CountQuotaSlice, GreedySlice, QuotaEntry,
    QuotaSlice, ShorteningSlice, Slicer,
};

pub use options::{BucketSize, CountEntryDescription, Scarcity};

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
    /// [`KnapsackSlice`](crate::KnapsackSlice).
    Knapsack {
        /// Tokens to a bucket, or `"finest"`; 100 by default.
        #[cfg_attr(feature = "schema", schemars(default = "super::defaults::bucket_size"))]
        bucket_size: BucketSize,
    },
    /// [`ShorteningSlice`].
    Shortening,
    /// [`QuotaSlice`].
    Quota {
        /// Shares by kind.
        #[cfg_attr(feature = "schema", schemars(with = "Vec<super::schema::Quota>"))]
        quotas: Vec<QuotaEntry>,
        /// Who chooses within each kind; greedy by default.
        #[cfg_attr(feature = "schema", schemars(default = "super::defaults::inner_slicer"))]
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
        #[cfg_attr(feature = "schema", schemars(default = "super::defaults::inner_slicer"))]
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
        #[cfg_attr(feature = "schema", schemars(default = "super::defaults::bucket_size"))]
        bucket_size: BucketSize,
    },
    /// A slicer that a [`StrategyProvider`](super::StrategyProvider) knows.
    #[serde(untagged)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Custom(CustomStrategy),
}

strategies! {
    SlicerDescription, else Custom;
    Greedy = "greedy": |_| Ok(Self::Greedy),
    Knapsack = "knapsack": |fields| {
        Ok(Self::Knapsack { bucket_size: fields.or_else("bucket_size", defaults::bucket_size)? })
    },
    Shortening = "shortening": |_| Ok(Self::Shortening),
    Quota = "quota": |fields| Ok(Self::Quota {
        quotas: fields.required("quotas")?,
        inner: fields.or_else("inner", defaults::inner_slicer)?,
    }),
    CountQuota = "count-quota": |fields| Ok(Self::CountQuota {
        entries: fields.required("entries")?,
        scarcity: fields.or_default("scarcity")?,
        inner: fields.or_else("inner", defaults::inner_slicer)?,
    }),
    CountConstrainedKnapsack = "count-constrained-knapsack": |fields| {
        Ok(Self::CountConstrainedKnapsack {
            entries: fields.required("entries")?,
            scarcity: fields.or_default("scarcity")?,
            bucket_size: fields.or_else("bucket_size", defaults::bucket_size)?,
        })
    },
}

impl Read for SlicerDescription {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        let (name, mut fields) = table::name_and_options(value)?;
        let slicer = match table::find(Self::TABLE, &name) {
            Some(strategy) => (strategy.read)(&mut fields)?,
            None => CustomStrategy::read(&name, &mut fields).into(),
        };
        fields.deny_rest()?;
        Ok(slicer)
    }
}

impl SlicerDescription {
    /// The slicer itself, and the path to what is wrong with it otherwise.
    pub(super) fn build(&self, environment: Environment<'_>) -> Result<Box<dyn Slicer>, Problem> {
        let build_inner =
            |inner: &Self| inner.build(environment).map_err(|problem| problem.in_field("inner"));
        Ok(match self {
            Self::Greedy => Box::new(GreedySlice),
            Self::Shortening => Box::new(ShorteningSlice),
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
