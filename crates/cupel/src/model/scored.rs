//! An item with its relevance.

use super::ContextItem;

/// A context item with the score that a scorer gave it.
///
/// Scores are conventionally within 0.0 and 1.0, but nothing enforces it.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ScoredItem {
    /// The item.
    pub item: ContextItem,
    /// Its score.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::wire::float::serialize"))]
    pub score: f64,
}
