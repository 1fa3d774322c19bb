//! Answers of an implementation.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::number;

/// The result of a task.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// Of scoring.
    Scoring(ScoringAnswer),
    /// Of slicing.
    Slicing(SlicingAnswer),
    /// Of placing.
    Placing(PlacingAnswer),
    /// Of a run.
    Pipeline(PipelineAnswer),
    /// Of a smaller budget.
    Marginal(MarginalAnswer),
    /// Of the search for a budget.
    MinBudget(MinBudgetAnswer),
    /// Of a comparison of policies.
    Sensitivity(SensitivityAnswer),
}

/// Scores of all items.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ScoringAnswer {
    /// One per item.
    #[serde(with = "number::list")]
    pub scores: Vec<f64>,
}

/// Items that a slicer kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SlicingAnswer {
    /// Positions of the kept items.
    pub selected: Vec<usize>,
    /// Count requirements that were not met.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortfalls: Option<Vec<Shortfall>>,
    /// Positions of items that a count cap dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap_excluded: Option<Vec<usize>>,
}

/// The final order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PlacingAnswer {
    /// Positions of all items.
    pub order: Vec<usize>,
}

/// The output of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PipelineAnswer {
    /// Positions of the selected items, in placed order.
    pub output: Vec<usize>,
    /// Every decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Report>,
}

/// Items that a smaller budget drops.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MarginalAnswer {
    /// Positions, in placed order.
    pub marginal: Vec<usize>,
}

/// The budget found, if any.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MinBudgetAnswer {
    /// The budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_budget: Option<i64>,
}

/// Differences between policies on the same items.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SensitivityAnswer {
    /// The report of every variant.
    pub variants: Vec<VariantReport>,
    /// Texts that the variants disagree on.
    pub diffs: Vec<Diff>,
}

/// The report of one variant.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct VariantReport {
    /// Name of the variant.
    pub label: String,
    /// Its decisions.
    pub report: Report,
}

/// A text that the variants disagree on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diff {
    /// The text.
    pub content: String,
    /// One status per variant, in their order.
    pub statuses: Vec<Status>,
}

/// Status of a text in the window of a variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    /// It does.
    Included,
    /// It does not.
    Excluded,
}

/// Every decision of a run. An implementation leaves out what it does not report.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Selected items, in placed order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub included: Option<Vec<Decision>>,
    /// All other items, best score first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excluded: Option<Vec<Decision>>,
    /// Number of items given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_candidates: Option<usize>,
    /// Tokens of all items given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_tokens_considered: Option<i64>,
    /// Count requirements that were not met.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count_requirement_shortfalls: Option<Vec<Shortfall>>,
    /// The selection went over the target and was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overflow: Option<OverflowEvent>,
    /// Items in and out of the stages that report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stages: Option<Vec<StageCount>>,
}

impl Report {
    /// Selected items, if they are told.
    pub fn included(&self) -> &[Decision] {
        self.included.as_deref().unwrap_or_default()
    }

    /// All other items, if they are told.
    pub fn excluded(&self) -> &[Decision] {
        self.excluded.as_deref().unwrap_or_default()
    }

    /// Positions of the selected items, in placed order.
    pub fn output(&self) -> Vec<usize> {
        self.included().iter().map(|decision| decision.index).collect()
    }
}

/// Decision about one item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Position of the item.
    pub index: usize,
    /// Its score when the decision was made.
    #[serde(with = "number")]
    pub score: f64,
    /// Why.
    pub reason: Reason,
}

/// Why an item was included or excluded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    /// Name of the reason.
    pub reason: String,
    /// Its fields.
    #[serde(flatten)]
    pub fields: BTreeMap<String, Value>,
}

impl Reason {
    /// A reason without fields.
    pub fn named(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), fields: BTreeMap::new() }
    }

    /// The same reason with one more field.
    #[must_use]
    pub fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(field.to_owned(), value.into());
        self
    }
}

/// A count requirement that was not met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shortfall {
    /// The kind as its entry spells it.
    pub kind: String,
    /// Items required.
    pub required_count: usize,
    /// Items found.
    pub satisfied_count: usize,
}

/// The selection went over the target and was kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverflowEvent {
    /// Tokens above the target.
    pub tokens_over_budget: i64,
    /// Positions of all merged items.
    pub overflowing_items: Vec<usize>,
}

/// Items that entered and left a stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageCount {
    /// Name of the stage.
    pub stage: String,
    /// Items that entered it.
    pub item_count_in: usize,
    /// Items that left it.
    pub item_count_out: usize,
}

/// Why there is no result: an outcome like any other.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorAnswer {
    /// Stable name of the error.
    pub code: String,
    /// A sentence for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Values that belong to the error.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub details: BTreeMap<String, Value>,
}

impl ErrorAnswer {
    /// An error without details.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into(), details: BTreeMap::new() }
    }

    /// The same error with one more detail.
    #[must_use]
    pub fn with(mut self, detail: &str, value: impl Into<Value>) -> Self {
        self.details.insert(detail.to_owned(), value.into());
        self
    }
}
