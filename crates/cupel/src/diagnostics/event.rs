//! Events of a run.

use std::fmt;

use crate::{ContextBudget, ContextItem};

/// The stages that report. Sort is an inner step and does not.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PipelineStage {
    /// Splits pinned from scoreable items and drops invalid ones.
    Classify,
    /// Gives every scoreable item a score.
    Score,
    /// Drops items whose text occurs already.
    Deduplicate,
    /// Chooses what fits.
    Slice,
    /// Merges, handles overflow, and orders.
    Place,
    /// A stage that this version does not know, read from elsewhere. Its name is kept in
    /// [`TraceEvent::unknown_stage`].
    Unknown,
}

impl PipelineStage {
    /// The name of the stage.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Classify => "Classify",
            Self::Score => "Score",
            Self::Deduplicate => "Deduplicate",
            Self::Slice => "Slice",
            Self::Place => "Place",
            Self::Unknown => "Unknown",
        }
    }

    #[cfg(feature = "serde")]
    pub(crate) fn from_name(name: &str) -> Self {
        [Self::Classify, Self::Score, Self::Deduplicate, Self::Slice, Self::Place]
            .into_iter()
            .find(|stage| stage.name() == name)
            .unwrap_or(Self::Unknown)
    }
}

impl fmt::Display for PipelineStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Something that happened: a stage was completed, or the fate of an item was decided.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq)]
pub struct TraceEvent {
    /// Where it happened.
    pub stage: PipelineStage,
    /// Duration of the stage, in milliseconds; 0.0 for an item.
    pub duration_ms: f64,
    /// Number of items that left the stage; 1 for an item.
    pub item_count: usize,
    /// For an item, why it is in or out.
    pub message: Option<String>,
    /// The name of the stage, where it is [`PipelineStage::Unknown`].
    pub unknown_stage: Option<String>,
}

impl TraceEvent {
    /// The event of a completed stage.
    #[must_use]
    pub fn stage(stage: PipelineStage, duration_ms: f64, item_count: usize) -> Self {
        Self { stage, duration_ms, item_count, message: None, unknown_stage: None }
    }

    /// The event of an item whose fate was decided.
    #[must_use]
    pub fn item(stage: PipelineStage, message: String) -> Self {
        Self { stage, duration_ms: 0.0, item_count: 1, message: Some(message), unknown_stage: None }
    }
}

/// The selection exceeded the target, and the strategy was
/// [`Proceed`](crate::OverflowStrategy::Proceed).
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct OverflowEvent {
    /// By how many tokens.
    pub tokens_over_budget: i64,
    /// Everything that was selected: pinned items, then the others by score.
    pub overflowing_items: Vec<ContextItem>,
    /// The budget that was exceeded.
    pub budget: ContextBudget,
}
