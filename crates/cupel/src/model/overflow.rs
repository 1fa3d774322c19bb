//! Strategies for a selection that exceeds the target.

/// Behaviour of the Place stage when pinned and sliced items together exceed the target.
///
/// That happens when pinned items alone exceed the target, or under a slicer that guarantees
/// counts ([`CountQuotaSlice`](crate::CountQuotaSlice)) whatever they cost.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum OverflowStrategy {
    /// Fail with [`CupelError::Overflow`](crate::CupelError::Overflow): the default.
    #[default]
    Throw,
    /// Walk the items in order (pinned, then by score) and drop those that no longer fit.
    /// Pinned items are never dropped.
    Truncate,
    /// Keep everything, and report an [`OverflowEvent`](crate::OverflowEvent).
    Proceed,
}
