//! Relevance as part of policies that are data.

mod auto;
mod build;
#[cfg(feature = "schema")]
mod catalogue;
mod detected;
mod for_query;
mod options;
mod strategies;
mod with_vectors;

pub use auto::{auto, keeping};
pub use strategies::Strategies;
