//! What quotas say of themselves.

use crate::ContextKind;

/// A slicer that limits kinds, for [`quota_utilization`](crate::quota_utilization).
pub trait QuotaPolicy {
    /// One constraint for each kind that is limited.
    fn quota_constraints(&self) -> Vec<QuotaConstraint>;
}

/// What a [`QuotaConstraint`] counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QuotaConstraintMode {
    /// Percent of the target tokens.
    Percentage,
    /// Items.
    Count,
}

/// How much of one kind a slicer requires and allows.
#[derive(Debug, Clone, PartialEq)]
pub struct QuotaConstraint {
    /// The kind.
    pub kind: ContextKind,
    /// What the two numbers count.
    pub mode: QuotaConstraintMode,
    /// At least this much.
    pub require: f64,
    /// At most this much.
    pub cap: f64,
}
