//! Decision of a stage about an item.

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

/// An item as it goes in, and as which of its renderings.
pub(super) struct Rendered {
    pub(super) item: ContextItem,
    pub(super) rendering: Option<usize>,
}

pub(super) type Inclusion = Fate<Rendered, InclusionReason>;
/// As it was given.
pub(super) type Exclusion<'a> = Fate<&'a ContextItem, ExclusionReason>;

impl From<&Inclusion> for IncludedItem {
    fn from(fate: &Inclusion) -> Self {
        let Rendered { item, rendering } = &fate.item;
        let included = Self::new(item.clone(), fate.score, fate.reason);
        included.at(fate.position as usize).rendered(*rendering)
    }
}

impl From<&Exclusion<'_>> for ExcludedItem {
    fn from(fate: &Exclusion<'_>) -> Self {
        Self::new(fate.item.clone(), fate.score, fate.reason.clone()).at(fate.position as usize)
    }
}
