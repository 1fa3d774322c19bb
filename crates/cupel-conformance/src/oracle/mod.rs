//! The specification's pseudocode, literally.
//!
//! Everything here prefers clarity to speed: rankings are quadratic, the knapsack fills its whole
//! table, simulations run the whole pipeline again for every probe. Nothing is validated; a caller
//! hands in configurations that a real implementation would have accepted.
//!
//! An item is its index in the caller's list, from the first stage to the last.
//!
//! ```
//! use cupel_conformance::oracle::{Budget, Item, Placer, Policy, Scorer, Slicer, run};
//!
//! let items = [
//!     Item { priority: Some(1), ..Item::new("minor", 60) },
//!     Item { priority: Some(2), ..Item::new("major", 60) },
//! ];
//! let policy = Policy::new(Scorer::Priority, Slicer::Greedy, Placer::Chronological);
//! let selected = run(&items, &Budget::of(100), &policy).unwrap();
//! assert_eq!(selected.output, [1]);
//! ```

pub mod error;
pub mod model;
pub mod order;
pub mod pipeline;
pub mod placer;
pub mod report;
pub mod scorer;
pub mod simulation;
pub mod slicer;

pub use error::Error;
pub use model::{
    Budget, CountEntry, Curve, Item, Limits, Overflow, Placer, Policy, QuotaEntry, Scarcity,
    Scored, Scorer, Slicer, TagMatching, default_kind_weights,
};
pub use pipeline::run;
pub use report::{
    Excluded, Exclusion, Included, Inclusion, OverflowEvent, Report, Run, Shortfall, Stage,
    StageCount,
};
pub use simulation::{
    DiffEntry, Sensitivity, find_min_budget_for, get_marginal_items, policy_sensitivity,
};

#[cfg(test)]
mod tests;
