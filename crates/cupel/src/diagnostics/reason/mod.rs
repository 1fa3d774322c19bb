//! Why an item is in or out.

mod exclusion;
mod inclusion;
mod table;

pub use exclusion::{ExclusionReason, ExclusionReasonKind};
pub use inclusion::InclusionReason;
