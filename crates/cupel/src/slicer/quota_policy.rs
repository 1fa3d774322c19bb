//! Description of quotas.

use crate::ContextKind;

/// A slicer that limits kinds, for [`quota_utilization`](crate::quota_utilization).
pub trait QuotaPolicy {
    /// One constraint for each kind that is limited.
    fn quota_constraints(&self) -> Vec<QuotaConstraint>;
}

/// Unit of a [`QuotaConstraint`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QuotaConstraintMode {
    /// Percent of the target tokens.
    Percentage,
    /// Items.
    Count,
}

/// Share or number of one kind that a slicer requires and allows.
#[derive(Debug, Clone, PartialEq)]
pub struct QuotaConstraint {
    /// The kind.
    pub kind: ContextKind,
    /// Unit of the two numbers.
    pub mode: QuotaConstraintMode,
    /// At least this much.
    pub require: f64,
    /// At most this much.
    pub cap: f64,
}
