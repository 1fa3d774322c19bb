//! What a stage decided about an item.

use crate::ContextItem;
use crate::diagnostics::{ExcludedItem, ExclusionReason, IncludedItem, InclusionReason};

/// An item that is in or out, and why.
pub(super) struct Fate<I, R> {
    /// Where the item stands in the caller's list.
    pub(super) position: u32,
    pub(super) item: I,
    pub(super) score: f64,
    pub(super) reason: R,
}

/// As it goes in.
pub(super) type Inclusion = Fate<ContextItem, InclusionReason>;
/// As it was given.
pub(super) type Exclusion<'a> = Fate<&'a ContextItem, ExclusionReason>;

impl From<&Inclusion> for IncludedItem {
    fn from(fate: &Inclusion) -> Self {
        Self::new(fate.item.clone(), fate.score, fate.reason).at(fate.position as usize)
    }
}

impl From<&Exclusion<'_>> for ExcludedItem {
    fn from(fate: &Exclusion<'_>) -> Self {
        Self::new(fate.item.clone(), fate.score, fate.reason.clone()).at(fate.position as usize)
    }
}
