//! Defaults: for reading, for writing a description by hand, and for the
//! schema.

use super::{BucketSize, PlacerDescription, SlicerDescription};
use crate::OverflowStrategy;

pub(super) fn weight() -> f64 {
    1.0
}

/// The score of an item about which a scorer knows nothing.
pub(super) fn neutral_score() -> f64 {
    0.5
}

pub(super) fn slicer() -> SlicerDescription {
    SlicerDescription::Greedy
}

#[expect(clippy::unnecessary_box_returns, reason = "the default of a boxed field")]
pub(super) fn inner_slicer() -> Box<SlicerDescription> {
    Box::new(slicer())
}

pub(super) fn bucket_size() -> BucketSize {
    BucketSize::default()
}

pub(super) fn placer() -> PlacerDescription {
    PlacerDescription::Chronological
}

pub(super) fn deduplication() -> bool {
    true
}

pub(super) fn overflow_strategy() -> OverflowStrategy {
    OverflowStrategy::Throw
}
