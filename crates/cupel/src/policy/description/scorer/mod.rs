//! Scorers as data.

mod build;
mod table;

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::{CurveDescription, CustomStrategy};

pub use build::WeightedScorers;
pub(super) use build::{build_all, combine};

/// A scorer with its weight among others.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(transform = super::schema::scorer_names)
)]
#[serde(deny_unknown_fields)]
pub struct WeightedScorer {
    /// How much it counts, relative to the others; 1 by default.
    #[cfg_attr(feature = "schema", schemars(default = "super::defaults::weight"))]
    pub weight: f64,
    /// The scorer.
    #[serde(flatten)]
    pub scorer: ScorerDescription,
}

impl WeightedScorer {
    /// A scorer with a weight.
    #[must_use]
    pub fn new(scorer: ScorerDescription, weight: f64) -> Self {
        Self { weight, scorer }
    }
}

/// A scorer as data: its `type` in kebab case, and its options.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(transform = super::schema::scorer_names)
)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ScorerDescription {
    /// [`RecencyScorer`](crate::RecencyScorer).
    Recency,
    /// [`PriorityScorer`](crate::PriorityScorer).
    Priority,
    /// [`KindScorer`](crate::KindScorer).
    Kind {
        /// Weights by kind; the default weights if absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        weights: Option<BTreeMap<String, f64>>,
    },
    /// [`TagScorer`](crate::TagScorer).
    Tag {
        /// Weights by tag.
        weights: BTreeMap<String, f64>,
        /// Whether ASCII case is ignored.
        #[cfg_attr(feature = "schema", schemars(default))]
        caseless: bool,
    },
    /// [`FrequencyScorer`](crate::FrequencyScorer).
    Frequency,
    /// [`ReflexiveScorer`](crate::ReflexiveScorer).
    Reflexive,
    /// [`CompositeScorer`](crate::CompositeScorer).
    Composite {
        /// What is averaged.
        #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
        scorers: Vec<WeightedScorer>,
    },
    /// [`ScaledScorer`](crate::ScaledScorer).
    Scaled {
        /// What is stretched.
        scorer: Box<ScorerDescription>,
    },
    /// [`MetadataTrustScorer`](crate::MetadataTrustScorer).
    MetadataTrust {
        /// For items without a usable trust; 0.5 by default.
        #[cfg_attr(feature = "schema", schemars(default = "super::defaults::neutral_score"))]
        default_score: f64,
    },
    /// [`MetadataKeyScorer`](crate::MetadataKeyScorer).
    MetadataKey {
        /// The metadata key.
        key: String,
        /// The value that is boosted.
        value: String,
        /// What a match scores.
        boost: f64,
    },
    /// [`DecayScorer`](crate::DecayScorer).
    Decay {
        /// How the score falls with age.
        curve: CurveDescription,
        /// For items without a timestamp; 0.5 by default.
        #[cfg_attr(feature = "schema", schemars(default = "super::defaults::neutral_score"))]
        null_timestamp_score: f64,
        /// What counts as now; the clock's time if absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(with = "Option<super::schema::Instant>"))]
        reference_time: Option<DateTime<Utc>>,
    },
    /// A scorer that a [`StrategyProvider`](super::StrategyProvider) knows.
    #[serde(untagged)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Custom(CustomStrategy),
}
