//! Strategies as requests describe them. An option that the vector leaves out is absent.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::number;

/// A scorer and its options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Scorer {
    /// Rank by timestamp.
    Recency,
    /// Rank by priority.
    Priority,
    /// A weight per kind.
    Kind {
        /// The weights; the specification's own if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        weights: Option<Vec<KindWeight>>,
    },
    /// Weights of matching tags over the sum of all weights.
    Tag {
        /// The weights.
        tag_weights: Vec<TagWeight>,
        /// Comparison of tags; exact if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tag_comparison: Option<TagComparison>,
    },
    /// Proportion of peers that share a tag.
    Frequency,
    /// The caller's hint.
    Reflexive,
    /// Weighted average.
    Composite {
        /// The children.
        scorers: Vec<WeightedScorer>,
    },
    /// Min-max normalization.
    Scaled {
        /// The scorer that is normalized.
        inner: Box<Scorer>,
    },
    /// The trust value in the metadata.
    MetadataTrust {
        /// Score where no usable value exists.
        #[serde(with = "number")]
        default_score: f64,
    },
    /// A boost for one value of one metadata key.
    MetadataKey {
        /// The key.
        key: String,
        /// The value that is boosted.
        value: String,
        /// The boost.
        #[serde(with = "number")]
        boost: f64,
    },
    /// Falls with age.
    Decay {
        /// The present moment.
        reference_time: DateTime<Utc>,
        /// Shape of the decay.
        curve: Curve,
        /// Score of items without a timestamp; 0.5 if absent.
        #[serde(default, with = "number::optional", skip_serializing_if = "Option::is_none")]
        null_timestamp_score: Option<f64>,
    },
    /// Not in the specification: stands for a scorer of the user's own that returns the hint as it
    /// is, NaN and infinities included, and 0.0 where there is none.
    RawHint,
}

/// Weight of a kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KindWeight {
    /// The kind.
    pub kind: String,
    /// Its weight.
    #[serde(with = "number")]
    pub weight: f64,
}

/// Weight of a tag.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TagWeight {
    /// The tag.
    pub tag: String,
    /// Its weight.
    #[serde(with = "number")]
    pub weight: f64,
}

/// Comparison of tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TagComparison {
    /// Byte for byte.
    Exact,
    /// Without regard to ASCII case.
    AsciiCaseless,
}

/// A child of a composite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WeightedScorer {
    /// Its relative weight.
    #[serde(with = "number")]
    pub weight: f64,
    /// The scorer.
    pub scorer: Scorer,
}

/// Decay of a score with age. Durations are in seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Curve {
    /// Halves after every half-life.
    Exponential {
        /// The half-life.
        #[serde(with = "number")]
        half_life_secs: f64,
    },
    /// One below the age limit, zero from there on.
    Window {
        /// The age limit.
        #[serde(with = "number")]
        max_age_secs: f64,
    },
    /// The score of the first window that is longer than the age.
    Step {
        /// The windows, youngest first.
        windows: Vec<StepWindow>,
    },
}

/// A window of a step curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepWindow {
    /// Upper age.
    #[serde(with = "number")]
    pub max_age_secs: f64,
    /// Score below it.
    #[serde(with = "number")]
    pub score: f64,
}

/// A slicer and its options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Slicer {
    /// By score per token.
    Greedy,
    /// Dynamic programming over buckets of tokens.
    Knapsack {
        /// Tokens per bucket; 100 if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bucket_size: Option<i64>,
    },
    /// A share of the budget per kind.
    Quota {
        /// The shares.
        quotas: Vec<Quota>,
        /// Selects within each kind.
        inner: Box<Slicer>,
    },
    /// A number of items per kind.
    CountQuota {
        /// The numbers.
        entries: Vec<CountEntry>,
        /// Behaviour for an unmet requirement; it degrades if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scarcity_behavior: Option<ScarcityBehavior>,
        /// Selects among the items that were not committed.
        inner: Box<Slicer>,
    },
    /// A number of items per kind, and a knapsack over the rest.
    CountConstrainedKnapsack {
        /// The numbers.
        entries: Vec<CountEntry>,
        /// Behaviour for an unmet requirement; it degrades if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scarcity_behavior: Option<ScarcityBehavior>,
        /// Tokens per bucket; 100 if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bucket_size: Option<i64>,
    },
}

/// Share of the budget that a kind gets, in percent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quota {
    /// The kind.
    pub kind: String,
    /// The least.
    #[serde(with = "number")]
    pub require: f64,
    /// The most.
    #[serde(with = "number")]
    pub cap: f64,
}

/// Number of items that a kind gets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountEntry {
    /// The kind.
    pub kind: String,
    /// The least.
    pub require_count: usize,
    /// The most.
    pub cap_count: usize,
}

/// Behaviour when a kind has fewer candidates than required.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScarcityBehavior {
    /// Take what exists and report the shortfall.
    Degrade,
    /// Fail.
    Throw,
}

/// A placer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Placer {
    /// Oldest first.
    #[serde(rename = "chronological")]
    Chronological,
    /// Best at both ends.
    #[serde(rename = "u-shaped", alias = "u_shaped")]
    UShaped,
}

/// Behaviour when the merged items exceed the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OverflowStrategy {
    /// Fail.
    Throw,
    /// Drop what does not fit.
    Truncate,
    /// Keep everything and report.
    Proceed,
}

/// One configuration of the pipeline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// The scorer.
    pub scorer: Scorer,
    /// The slicer.
    pub slicer: Slicer,
    /// The placer.
    pub placer: Placer,
    /// True if items with equal text are reduced to the best one; they are if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deduplication: Option<bool>,
    /// Behaviour when the merged items exceed the target; an error if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overflow_strategy: Option<OverflowStrategy>,
}

impl Policy {
    /// A policy of which nothing but its strategies is said.
    pub fn new(scorer: Scorer, slicer: Slicer, placer: Placer) -> Self {
        Self { scorer, slicer, placer, deduplication: None, overflow_strategy: None }
    }
}
