//! Relevance as part of policies that are data.

mod auto;
#[cfg(feature = "schema")]
mod catalogue;
mod strategies;

pub use auto::auto;
pub use strategies::Strategies;
