//! Items that are in or out.

use super::{ExclusionReason, InclusionReason};
use crate::ContextItem;

/// An item that is in the window.
#[non_exhaustive]
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct IncludedItem {
    /// The item.
    pub item: ContextItem,
    /// Its score; 1.0 if it is pinned.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::wire::float::serialize"))]
    pub score: f64,
    /// Why it is in.
    pub reason: InclusionReason,
    /// Where it stands in the list of candidates. Known of every run; `None` where it was read
    /// from elsewhere or made by hand. No part of the wire form, nor of equality.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub position: Option<usize>,
    /// Which of the candidate's [renderings](ContextItem::renderings) the item is; `None` if it is
    /// whole. As little part of the wire form and of equality as the position.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub rendering: Option<usize>,
}

/// An item that was left out.
#[non_exhaustive]
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ExcludedItem {
    /// The item.
    pub item: ContextItem,
    /// Its score; 0.0 if it was left out before scoring.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::wire::float::serialize"))]
    pub score: f64,
    /// Why it is out.
    pub reason: ExclusionReason,
    /// Where it stands in the list of candidates. Known of every run; `None` where it was read
    /// from elsewhere or made by hand. No part of the wire form, nor of equality.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub position: Option<usize>,
}

macro_rules! fates {
    ($($name:ident of $reason:ident $(, $more:ident)?;)*) => {$(
        impl $name {
            /// Such an item, of no known position.
            #[must_use]
            pub fn new(item: ContextItem, score: f64, reason: $reason) -> Self {
                Self { item, score, reason, position: None $(, $more: None)? }
            }

            /// The same at a position of the list of candidates.
            #[must_use]
            pub fn at(self, position: usize) -> Self {
                Self { position: Some(position), ..self }
            }
        }

        /// Positions do not count: a report that was written and read again is the same report.
        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                let Self { item, score, reason, position: _ $(, $more: _)? } = self;
                (item, score, reason) == (&other.item, &other.score, &other.reason)
            }
        }
    )*};
}

fates! {
    IncludedItem of InclusionReason, rendering;
    ExcludedItem of ExclusionReason;
}

impl IncludedItem {
    /// The same as one of the candidate's renderings.
    #[must_use]
    pub fn rendered(self, rendering: Option<usize>) -> Self {
        Self { rendering, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ContextItemBuilder;

    #[test]
    fn positions_are_no_part_of_equality_and_all_else_is() {
        let item = |text| ContextItemBuilder::new(text, 1).build().unwrap();
        let a = item("a");
        let included =
            |item: &ContextItem, score, reason| IncludedItem::new(item.clone(), score, reason);
        let scored = included(&a, 0.5, InclusionReason::Scored);
        assert_eq!(scored.clone().at(3), scored.clone().at(4));
        assert_ne!(scored, included(&item("b"), 0.5, InclusionReason::Scored));
        assert_ne!(scored, included(&a, 0.6, InclusionReason::Scored));
        assert_ne!(scored, included(&a, 0.5, InclusionReason::Pinned));
    }
}
