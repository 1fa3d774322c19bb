//! Relevance as part of policies that are data.

mod auto;
mod build;
#[cfg(feature = "schema")]
mod catalogue;
mod detected;
mod options;
mod per_language;
mod strategies;
mod with_vectors;

pub use auto::{auto, keeping};
pub use strategies::Strategies;
