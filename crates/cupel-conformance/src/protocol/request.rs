//! Questions to an implementation.

use serde::{Deserialize, Serialize};

use super::number;
use super::{Budget, Item, Placer, Policy, Scorer, Slicer};

/// One line of input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Repeated by the answer.
    pub id: u64,
    /// The question.
    #[serde(flatten)]
    pub task: Task,
}

/// Question, by stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "snake_case")]
pub enum Task {
    /// Score all items together.
    Scoring(ScoringTask),
    /// Choose among scored items.
    Slicing(SlicingTask),
    /// Order scored items.
    Placing(PlacingTask),
    /// Run all stages.
    Pipeline(PipelineTask),
    /// Asks for the items that a smaller budget drops.
    GetMarginalItems(MarginalTask),
    /// Which budget would include an item?
    FindMinBudgetFor(MinBudgetTask),
    /// Asks for the items that several policies disagree on.
    PolicySensitivity(SensitivityTask),
}

impl Task {
    /// The candidates.
    pub fn items(&self) -> &[Item] {
        match self {
            Self::Scoring(task) => &task.items,
            Self::Slicing(task) => &task.items,
            Self::Placing(task) => &task.items,
            Self::Pipeline(task) => &task.items,
            Self::GetMarginalItems(task) => &task.items,
            Self::FindMinBudgetFor(task) => &task.items,
            Self::PolicySensitivity(task) => &task.items,
        }
    }
}

/// Score all items together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScoringTask {
    /// The scorer.
    pub scorer: Scorer,
    /// The items.
    pub items: Vec<Item>,
}

/// Choose among scored items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlicingTask {
    /// The slicer.
    pub slicer: Slicer,
    /// The items.
    pub items: Vec<Item>,
    /// A score per item.
    #[serde(with = "number::list")]
    pub scores: Vec<f64>,
    /// The effective budget.
    pub budget: Budget,
}

/// Order scored items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlacingTask {
    /// The placer.
    pub placer: Placer,
    /// The items.
    pub items: Vec<Item>,
    /// A score per item.
    #[serde(with = "number::list")]
    pub scores: Vec<f64>,
}

/// Run all stages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PipelineTask {
    /// The policy.
    pub policy: Policy,
    /// The items.
    pub items: Vec<Item>,
    /// The budget.
    pub budget: Budget,
    /// True if the report will be looked at.
    #[serde(default)]
    pub report: bool,
}

/// Asks for the items that a smaller budget drops.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MarginalTask {
    /// The policy.
    pub policy: Policy,
    /// The items.
    pub items: Vec<Item>,
    /// The larger budget.
    pub budget: Budget,
    /// By how much the other one is smaller.
    pub slack_tokens: i64,
}

/// Which budget would include an item?
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MinBudgetTask {
    /// The policy.
    pub policy: Policy,
    /// The items.
    pub items: Vec<Item>,
    /// A budget that does not influence the answer.
    pub budget: Budget,
    /// Position of the item that is looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<usize>,
    /// An item that is not among the items, instead of `target`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign_target: Option<Box<Item>>,
    /// The largest budget tried.
    pub search_ceiling: i64,
}

/// Asks for the items that several policies disagree on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SensitivityTask {
    /// The items.
    pub items: Vec<Item>,
    /// The budget.
    pub budget: Budget,
    /// The policies.
    pub variants: Vec<Variant>,
}

/// A policy with a name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// The name.
    pub label: String,
    /// The policy.
    pub policy: Policy,
}
