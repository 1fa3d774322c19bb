//! Why a run or a simulation has no result.

use std::fmt;

/// Why a run or a simulation has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The pinned items do not fit into the maximum less the output reserve.
    PinnedExceedsBudget {
        /// Tokens of all pinned items.
        pinned_tokens: i64,
        /// Maximum tokens less output reserve.
        available: i64,
    },
    /// The merged items exceed the target and the strategy is to throw.
    Overflow {
        /// Tokens of all merged items.
        merged_tokens: i64,
        /// The budget's target.
        target_tokens: i64,
    },
    /// A slicer refused to go on, for example because too few candidates of a kind exist.
    Slicer(String),
    /// The knapsack's table would be too large.
    TableTooLarge {
        /// Items that take part in the knapsack.
        candidates: usize,
        /// Capacity in buckets.
        capacity: usize,
        /// Candidates times capacity.
        cells: u64,
    },
    /// A simulation does not accept the policy's slicer.
    NotMonotonic(String),
    /// A simulation or comparison was given an argument that it does not accept.
    Argument(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PinnedExceedsBudget { pinned_tokens, available } => {
                write!(f, "pinned items need {pinned_tokens} tokens, {available} are available")
            }
            Self::Overflow { merged_tokens, target_tokens } => {
                write!(
                    f,
                    "selected items need {merged_tokens} tokens, the target is {target_tokens}"
                )
            }
            Self::TableTooLarge { candidates, capacity, cells } => {
                write!(f, "{candidates} candidates times capacity {capacity} make {cells} cells")
            }
            Self::Slicer(text) | Self::NotMonotonic(text) | Self::Argument(text) => {
                f.write_str(text)
            }
        }
    }
}

impl std::error::Error for Error {}
