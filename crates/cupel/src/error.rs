//! The one error type of the library.

use thiserror::Error;

use crate::model::OneLine;

/// Everything that can go wrong when a value is constructed or a pipeline runs.
///
/// Texts name the field, the value that was given and the rule that it breaks.
/// [`code`](CupelError::code) is the stable name to match on across languages.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, CupelError};
///
/// let error = ContextItemBuilder::new("", 3).build().unwrap_err();
/// assert_eq!(error, CupelError::EmptyContent);
/// assert_eq!(error.code(), "empty_content");
/// ```
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CupelError {
    /// An item was built with an empty text.
    #[error("content must be non-empty")]
    EmptyContent,

    /// A kind was empty or only white space.
    #[error("kind must not be empty or blank")]
    EmptyKind,

    /// A source was empty or only white space.
    #[error("source must not be empty or blank")]
    EmptySource,

    /// A budget breaks one of its rules, or a simulation was given an impossible argument.
    #[error("{}", OneLine(.0))]
    InvalidBudget(String),

    /// The pinned items alone do not fit into the window.
    #[error(
        "pinned items require {pinned_tokens} tokens, but only {available} are available \
         (max tokens less output reserve); pin fewer items or raise the budget"
    )]
    PinnedExceedsBudget {
        /// Tokens of all pinned items.
        pinned_tokens: i64,
        /// Tokens that the budget leaves for them.
        available: i64,
    },

    /// The selection exceeds the target and the strategy is [`Throw`](crate::OverflowStrategy::Throw).
    #[error(
        "selected items require {merged_tokens} tokens, exceeding the target of {target_tokens}; \
         raise the target or choose the overflow strategy Truncate or Proceed"
    )]
    Overflow {
        /// Tokens of pinned and sliced items together.
        merged_tokens: i64,
        /// The budget's target.
        target_tokens: i64,
    },

    /// A pipeline or policy is incomplete or contradicts itself.
    #[error("{}", OneLine(.0))]
    PipelineConfig(String),

    /// A scorer was given an invalid option.
    #[error("{}", OneLine(.0))]
    ScorerConfig(String),

    /// A slicer was given an invalid option, or broke its contract.
    #[error("{}", OneLine(.0))]
    SlicerConfig(String),

    /// A scorer contains itself. Scorers own their children, so this cannot be
    /// built and is never returned; the variant stays for programs that match on it.
    #[error("a scorer appears in its own dependency graph")]
    CycleDetected,

    /// A knapsack table would exceed 50,000,000 cells.
    #[error(
        "knapsack table of {candidates} candidates × {capacity} buckets needs {cells} cells, \
         more than the 50000000 allowed; use a larger bucket size, a smaller target or fewer \
         candidates"
    )]
    TableTooLarge {
        /// Items that compete for the budget.
        candidates: usize,
        /// Budget in buckets.
        capacity: usize,
        /// Product of the two.
        cells: u64,
    },
}

impl CupelError {
    /// A stable, language-neutral name of the variant.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::EmptyContent => "empty_content",
            Self::EmptyKind => "empty_kind",
            Self::EmptySource => "empty_source",
            Self::InvalidBudget(_) => "invalid_budget",
            Self::PinnedExceedsBudget { .. } => "pinned_exceeds_budget",
            Self::Overflow { .. } => "overflow",
            Self::PipelineConfig(_) => "pipeline_config",
            Self::ScorerConfig(_) => "scorer_config",
            Self::SlicerConfig(_) => "slicer_config",
            Self::CycleDetected => "cycle_detected",
            Self::TableTooLarge { .. } => "table_too_large",
        }
    }
}
