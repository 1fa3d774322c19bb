//! Plain data: items, budgets, and descriptions of every strategy.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};

/// One candidate. Its identity is its index in the caller's list.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// The text.
    pub content: String,
    /// Token count as the caller states it; negative counts are excluded by the first stage.
    pub tokens: i64,
    /// Kind, compared without regard to ASCII case.
    pub kind: String,
    /// Origin.
    pub source: String,
    /// Importance; higher is more important.
    pub priority: Option<i64>,
    /// Tags.
    pub tags: Vec<String>,
    /// Metadata.
    pub metadata: BTreeMap<String, String>,
    /// When the item was made.
    pub timestamp: Option<DateTime<Utc>>,
    /// The caller's own relevance estimate.
    pub future_relevance_hint: Option<f64>,
    /// Whether the item is always in the output.
    pub pinned: bool,
    /// Token count before some earlier shortening; nothing reads it.
    pub original_tokens: Option<i64>,
}

impl Item {
    /// An item with the default kind and source, and nothing optional.
    pub fn new(content: impl Into<String>, tokens: i64) -> Self {
        Self {
            content: content.into(),
            tokens,
            kind: "Message".to_owned(),
            source: "Chat".to_owned(),
            priority: None,
            tags: Vec::new(),
            metadata: BTreeMap::new(),
            timestamp: None,
            future_relevance_hint: None,
            pinned: false,
            original_tokens: None,
        }
    }
}

/// The caller's budget.
#[derive(Debug, Clone, PartialEq)]
pub struct Budget {
    /// Hard ceiling.
    pub max_tokens: i64,
    /// What the selection aims at.
    pub target_tokens: i64,
    /// Tokens kept for the model's answer.
    pub output_reserve: i64,
    /// Tokens set aside per kind.
    pub reserved_slots: BTreeMap<String, i64>,
    /// Percentage taken off the effective budget.
    pub estimation_safety_margin_percent: f64,
}

impl Budget {
    /// A budget whose maximum and target are `tokens`, with nothing reserved.
    pub fn of(tokens: i64) -> Self {
        Self {
            max_tokens: tokens,
            target_tokens: tokens,
            output_reserve: 0,
            reserved_slots: BTreeMap::new(),
            estimation_safety_margin_percent: 0.0,
        }
    }
}

/// The part of a budget that a slicer sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Hard ceiling.
    pub max_tokens: i64,
    /// What the slicer fills.
    pub target_tokens: i64,
}

/// An item, by index, and its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// Index in the caller's list.
    pub index: usize,
    /// Its score.
    pub score: f64,
}

/// How a tag scorer compares tags with its weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TagMatching {
    /// Byte for byte.
    Exact,
    /// Without regard to ASCII case.
    AsciiCaseless,
}

/// How a score falls with age.
#[derive(Debug, Clone, PartialEq)]
pub enum Curve {
    /// Halves after every half-life.
    Exponential {
        /// The half-life.
        half_life: TimeDelta,
    },
    /// The score of the first window that is longer than the age, else of the last one.
    Step {
        /// Upper age and score of each window, youngest first.
        windows: Vec<(TimeDelta, f64)>,
    },
    /// One below the age limit, zero from there on.
    Window {
        /// The age limit.
        max_age: TimeDelta,
    },
}

/// Every scorer.
#[derive(Debug, Clone, PartialEq)]
pub enum Scorer {
    /// Rank by timestamp.
    Recency,
    /// Rank by priority.
    Priority,
    /// A weight per kind.
    Kind {
        /// Kinds and their weights.
        weights: Vec<(String, f64)>,
    },
    /// Weights of matching tags over the sum of all weights.
    Tag {
        /// Tags and their weights; sums run in the order of the keys.
        weights: BTreeMap<String, f64>,
        /// How tags are compared.
        matching: TagMatching,
    },
    /// Proportion of peers that share a tag.
    Frequency,
    /// The caller's hint, clamped.
    Reflexive,
    /// Weighted average.
    Composite {
        /// Children and their raw weights.
        children: Vec<(Scorer, f64)>,
    },
    /// Min-max normalization.
    Scaled {
        /// The scorer that is normalized.
        inner: Box<Scorer>,
    },
    /// The trust value in the metadata.
    MetadataTrust {
        /// Score where no usable value exists.
        default_score: f64,
    },
    /// A boost for one value of one metadata key.
    MetadataKey {
        /// The key.
        key: String,
        /// The value that is boosted.
        value: String,
        /// The boost.
        boost: f64,
    },
    /// Falls with age.
    Decay {
        /// The time that ages are measured against.
        now: DateTime<Utc>,
        /// The curve.
        curve: Curve,
        /// Score of items without a timestamp.
        null_timestamp_score: f64,
    },
    /// Not in the specification: stands for a user's own scorer that returns the hint untouched, NaN
    /// and infinities included, and 0.0 where there is none.
    RawHint,
}

/// The weights that a kind scorer has when none are given.
pub fn default_kind_weights() -> Vec<(String, f64)> {
    [
        ("SystemPrompt", 1.0),
        ("Memory", 0.8),
        ("ToolOutput", 0.6),
        ("Document", 0.4),
        ("Message", 0.2),
    ]
    .map(|(kind, weight)| (kind.to_owned(), weight))
    .to_vec()
}

/// Share of the budget that a kind gets.
#[derive(Debug, Clone, PartialEq)]
pub struct QuotaEntry {
    /// The kind.
    pub kind: String,
    /// Percentage that is set aside.
    pub require: f64,
    /// Percentage that is the most it gets.
    pub cap: f64,
}

/// Number of items that a kind gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountEntry {
    /// The kind.
    pub kind: String,
    /// Items that are committed first.
    pub require_count: usize,
    /// Items that are the most it gets.
    pub cap_count: usize,
}

/// What happens when a kind has fewer candidates than required.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scarcity {
    /// Take what exists and report the shortfall.
    Degrade,
    /// Fail.
    Throw,
}

/// Every slicer.
#[derive(Debug, Clone, PartialEq)]
pub enum Slicer {
    /// By score per token.
    Greedy,
    /// Dynamic programming over buckets of tokens.
    Knapsack {
        /// Tokens per bucket.
        bucket_size: i64,
    },
    /// A share of the budget per kind.
    Quota {
        /// The shares.
        entries: Vec<QuotaEntry>,
        /// Selects within each kind.
        inner: Box<Slicer>,
    },
    /// A number of items per kind.
    CountQuota {
        /// The numbers.
        entries: Vec<CountEntry>,
        /// Selects among the items that were not committed.
        inner: Box<Slicer>,
        /// What happens to an unmet requirement.
        scarcity: Scarcity,
    },
    /// A number of items per kind, and a knapsack over the rest.
    CountConstrainedKnapsack {
        /// The numbers.
        entries: Vec<CountEntry>,
        /// Tokens per bucket of the knapsack.
        bucket_size: i64,
        /// What happens to an unmet requirement.
        scarcity: Scarcity,
    },
}

/// Every placer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placer {
    /// Oldest first.
    Chronological,
    /// Best at both ends.
    UShaped,
}

/// What happens when the merged items exceed the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// Fail.
    Throw,
    /// Drop what does not fit.
    Truncate,
    /// Keep everything and report.
    Proceed,
}

/// One configuration of the pipeline.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// The scorer.
    pub scorer: Scorer,
    /// The slicer.
    pub slicer: Slicer,
    /// The placer.
    pub placer: Placer,
    /// Whether items with equal text are reduced to the best one.
    pub deduplication: bool,
    /// What happens when the merged items exceed the target.
    pub overflow: Overflow,
}

impl Policy {
    /// A policy with the defaults: deduplication on, overflow is an error.
    pub fn new(scorer: Scorer, slicer: Slicer, placer: Placer) -> Self {
        Self { scorer, slicer, placer, deduplication: true, overflow: Overflow::Throw }
    }
}

/// Whether two kinds are the same kind.
pub fn same_kind(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b)
}

/// Sum of token counts, wide enough never to overflow.
pub fn sum_tokens(tokens: impl IntoIterator<Item = i64>) -> i128 {
    tokens.into_iter().map(i128::from).sum()
}

/// The nearest 64-bit token count.
pub fn clamp_tokens(tokens: i128) -> i64 {
    tokens.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}
