//! The specification's pseudocode, literally, on the types of the [protocol](crate::protocol).
//!
//! Everything here prefers clarity to speed: rankings are quadratic, the knapsack fills its whole
//! table, simulations run the whole pipeline again for every probe. Nothing is validated; a caller
//! hands in configurations that a real implementation would have accepted. What a run decided is
//! answered as an implementation answers: a report, or an error with its code.
//!
//! An item is its index in the caller's list, from the first stage to the last.
//!
//! ```
//! use cupel_conformance::oracle;
//! use cupel_conformance::protocol::{Budget, Item, Placer, Policy, Scorer, Slicer};
//!
//! let items = [
//!     Item { priority: Some(1), ..Item::new("minor", 60) },
//!     Item { priority: Some(2), ..Item::new("major", 60) },
//! ];
//! let policy = Policy::new(Scorer::Priority, Slicer::Greedy, Placer::Chronological);
//! let report = oracle::run(&items, &Budget::of(100), &policy).unwrap();
//! assert_eq!(report.output(), [1]);
//! ```

pub mod model;
pub mod order;
pub mod pipeline;
pub mod placer;
pub mod scorer;
pub mod simulation;
pub mod slicer;

pub use model::{Limits, Scored};
pub use pipeline::run;
pub use simulation::{find_min_budget_for, get_marginal_items, policy_sensitivity};

#[cfg(test)]
mod tests;
