#![doc = include_str!("../README.md")]

mod aggregate;
mod builders;
mod chain;
mod error;
mod exclusion;
mod inclusion;
mod list;
mod ordering;
mod snapshot;

pub use cupel::ExclusionReasonKind;

pub use builders::{ItemBuilder, ReportBuilder, budget, item, report};
pub use chain::{
    OnFailure, Panic, Return, SelectionReportAssertionChain, SelectionReportAssertions,
};
pub use error::SelectionReportAssertionError;
pub use snapshot::{ReportSnapshot, snapshot};
