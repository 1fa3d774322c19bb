//! Finds what a question needs among the candidates for a context window, without a model.
//!
//! Everything here is a [`Scorer`](cupel::Scorer) or a [`Slicer`](cupel::Slicer) of the library, and
//! goes with any other. [`auto`] is a whole policy made of them.
//!
//! ```
//! use cupel::{ContextBudget, ContextItemBuilder, Pipeline, SystemTimeProvider};
//! use cupel_relevance::{Strategies, auto};
//!
//! let items = [
//!     ContextItemBuilder::new("Ann: Which key does the deploy use?", 9).build()?,
//!     ContextItemBuilder::new("Bob: The one from March.", 7).build()?,
//!     ContextItemBuilder::new("Ann: Soup for lunch?", 6).build()?,
//! ];
//! let strategies = Strategies::new("What is the key of the deploy?");
//! let pipeline = Pipeline::from(auto().build_with(&strategies, SystemTimeProvider)?);
//! let window = pipeline.run(&items, &ContextBudget::builder(16).build()?)?;
//! assert_eq!(window[1].content(), "Bob: The one from March.");
//! # Ok::<(), cupel::CupelError>(())
//! ```
//!
//! # Where to go from here
//!
//! - [`Query`] is what is asked, [`Index`] the words of the items, kept between queries, and
//!   [`Analysis`] how words become terms, in one of 23 [languages](Language) or in none.
//! - [`Language::detect`] finds out which, [`Strategies::language_of`] says which was taken.
//! - [`VectorFile`] and [`ItemVectors`] bring the vectors that you may have.
//! - [`scorer`] and [`slicer`] compare the strategies in a table each.
//! - [`need`] says what an agent will need next, by the values that were mentioned.
//! - [`keep`] says what nobody would drop of a conversation: rules, corrections, the reply, the task.
//! - [`supersede`] finds what a newer item makes superfluous, before the pipeline runs.
//! - [`Strategies`] brings all of them to policies that are data; [`auto`] is one.
//! - [`Highlights`] says in short which words and neighbours earned an item its place.
//!
//! # Guarantees
//!
//! - **Nothing is downloaded, no model is run.** Vectors are welcome, if you bring them.
//! - **Deterministic.** Same items, same query, same bits, on any number of threads, whatever an
//!   index was used for before.
//! - **Never panics** on any input. `unsafe` is forbidden.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `like-words` | words that mean nearly the same count too in `auto`, by a table of word vectors (3.7 MB) |
//! | `word-vectors` | the same by a table that is handed in while the program runs: `cupel_words::supply_english` |
//! | `schema` | the options of all strategies in the JSON Schema of a policy description |

mod grouping;
mod highlights;
mod identity;
mod index;
pub mod keep;
pub mod need;
mod overlap;
mod parameter;
mod parts;
mod policy;
mod query;
pub mod scorer;
pub mod slicer;
pub mod supersede;
#[cfg(test)]
mod testing;
mod text;
mod vector_file;

pub use grouping::Grouping;
pub use highlights::Highlights;
pub use index::{Field, Index};
pub use keep::{Ear, KeepParameters, Talk};
pub use policy::{Strategies, auto, keeping};
pub use query::Query;
#[cfg(feature = "word-vectors")]
pub use scorer::LikeTextScorer;
pub use scorer::{
    AddressedScorer, Bm25Parameters, Bm25Scorer, ClassNormScorer, Condition, ConstantScorer,
    DateScorer, EchoScorer, GroupLiftScorer, ItemVectors, Kernel, LengthNormScorer,
    LiveValuesScorer, MaxNormScorer, NeighbourParameters, NeighbourScorer, NeighbourShare,
    ProductScorer, SpeakerScorer, StretchScorer, SumScorer, TermContribution, VectorScorer,
    WhenScorer, WidenedScorer,
};
pub use slicer::{BestFirstSlice, CoverageParameters, CoverageSlice, KeepSlice, Question};
pub use text::{Analysis, Language, LanguageChoice, UnknownLanguage};
pub use vector_file::{VectorFile, VectorFileError};

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
