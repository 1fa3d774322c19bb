//! Finds what a question needs among the candidates for a context window, without a model.

mod excerpt;
mod grouping;
mod highlights;
mod identity;
mod index;
mod overlap;
mod parameter;
mod policy;
mod query;
pub mod scorer;
pub mod slicer;
pub mod supersede;
#[cfg(test)]
mod testing;
mod text;

pub use grouping::Grouping;
pub use highlights::Highlights;
pub use index::{Field, Index};
pub use policy::{Strategies, auto};
pub use query::Query;
pub use scorer::*;
pub use slicer::{BestFirstSlice, MmrSlice, Similarity};
pub use text::{Analysis, Language, UnknownLanguage};
