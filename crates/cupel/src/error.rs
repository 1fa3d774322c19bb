//! The one error type of the library.

use thiserror::Error;

use crate::model::OneLine;

/// Everything that can go wrong when a value is constructed or a pipeline runs.
///
/// Texts name the field, the value that was given and the rule that it breaks.
/// [`code`](CupelError::code) is the stable name to match on across languages:
///
/// | code | of |
/// |---|---|
/// | `empty_content`, `empty_kind`, `empty_source` | an item, a kind, a source |
/// | `invalid_rendering` | a shorter form of an item |
/// | `invalid_budget` | a budget |
/// | `pipeline_config`, `scorer_config`, `slicer_config`, `cycle_detected` | strategies |
/// | `pinned_exceeds_budget`, `overflow`, `table_too_large` | a run |
/// | `invalid_value` | a [`Problem`](crate::Problem), at its path |
/// | `malformed_input` | input that its format refuses (feature `serde`) |
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

    /// A shorter form of an item breaks one of its rules.
    #[error("rendering: {}", OneLine(.0))]
    Rendering(String),

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
            Self::Rendering(_) => "invalid_rendering",
            Self::PipelineConfig(_) => "pipeline_config",
            Self::ScorerConfig(_) => "scorer_config",
            Self::SlicerConfig(_) => "slicer_config",
            Self::CycleDetected => "cycle_detected",
            Self::TableTooLarge { .. } => "table_too_large",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The variant that comes after this one, so that whoever adds one is told to add it here.
    fn next(error: &CupelError) -> Option<CupelError> {
        Some(match error {
            CupelError::EmptyContent => CupelError::EmptyKind,
            CupelError::EmptyKind => CupelError::EmptySource,
            CupelError::EmptySource => CupelError::Rendering(String::new()),
            CupelError::Rendering(_) => CupelError::InvalidBudget(String::new()),
            CupelError::InvalidBudget(_) => {
                CupelError::PinnedExceedsBudget { pinned_tokens: 1, available: 0 }
            }
            CupelError::PinnedExceedsBudget { .. } => {
                CupelError::Overflow { merged_tokens: 1, target_tokens: 0 }
            }
            CupelError::Overflow { .. } => CupelError::PipelineConfig(String::new()),
            CupelError::PipelineConfig(_) => CupelError::ScorerConfig(String::new()),
            CupelError::ScorerConfig(_) => CupelError::SlicerConfig(String::new()),
            CupelError::SlicerConfig(_) => CupelError::CycleDetected,
            CupelError::CycleDetected => {
                CupelError::TableTooLarge { candidates: 1, capacity: 1, cells: 1 }
            }
            CupelError::TableTooLarge { .. } => return None,
        })
    }

    #[test]
    fn codes_are_stable() {
        let all = std::iter::successors(Some(CupelError::EmptyContent), next);
        let codes: Vec<&str> = all.map(|error| error.code()).collect();
        let expected = [
            "empty_content",
            "empty_kind",
            "empty_source",
            "invalid_rendering",
            "invalid_budget",
            "pinned_exceeds_budget",
            "overflow",
            "pipeline_config",
            "scorer_config",
            "slicer_config",
            "cycle_detected",
            "table_too_large",
        ];
        assert_eq!(codes, expected);
    }
}
