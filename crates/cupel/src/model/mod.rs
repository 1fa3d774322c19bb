//! The values that flow through the pipeline, each valid by construction and immutable.
//!
//! | type | what it is |
//! |---|---|
//! | [`ContextItem`] | one candidate: text, token count, and what is known about it |
//! | [`ContextBudget`] | how many tokens may be spent, and on what |
//! | [`ContextKind`], [`ContextSource`] | open, caseless names for what an item is and where it came from |
//! | [`Needs`] | what cannot stand without what |
//! | [`OverflowStrategy`] | what to do when the selection exceeds the target |
//! | [`Part`] | a typed stretch of an item's text: words, a tool call, a tool result |
//! | [`Rendering`] | a shorter form of an item |
//! | [`RunContext`] | what a run is told beside its items and its budget |
//! | [`ScoredItem`] | an item with its relevance |

mod budget;
mod candidate;
mod caseless;
mod item;
mod kind;
mod kind_lookup;
mod needs;
mod number_table;
mod one_line;
mod overflow;
mod part;
mod rendering;
mod run_context;
mod scored;
mod source;
mod tokens;

pub use budget::{ContextBudget, ContextBudgetBuilder};
pub use candidate::Candidate;
pub use item::{ContextItem, ContextItemBuilder};
pub use kind::{ContextKind, ParseContextKindError};
pub use needs::Needs;
pub use overflow::OverflowStrategy;
pub use part::{Part, PartKind, Speaker};
pub use rendering::Rendering;
pub use run_context::{ItemList, RunContext};
pub use scored::ScoredItem;
pub use source::ContextSource;

pub(crate) use caseless::Caseless;
pub(crate) use kind_lookup::look_up_kinds;
pub(crate) use number_table::NumberTable;
pub(crate) use one_line::{OneLine, write_letter};
pub(crate) use tokens::{TokenSum, clamp_to_i64};
