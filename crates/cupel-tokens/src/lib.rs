//! Counts tokens: exact OpenAI encodings, Hugging Face tokenizers, calibrated estimates.
//!
//! A [`TokenCounter`] says how many tokens a text is. A [`Model`] knows its own counter, its context
//! window, and the [`Overheads`] that its provider adds for messages, tools and images.
//!
//! ```
//! use cupel_tokens::{Model, TokenCounter};
//!
//! let model = Model::find("gpt-4o-2024-08-06")?;
//! let counter = model.counter();
//! let overheads = model.overheads();
//!
//! let text = counter.count("Why did the deploy fail?");
//! let tokens = overheads.per_message + text + overheads.reply_priming;
//! assert_eq!(tokens, 13);
//! assert!(tokens <= model.context_window - model.max_output);
//! # Ok::<(), cupel_tokens::UnknownModel>(())
//! ```
//!
//! | counter | for | exact |
//! |---|---|---|
//! | [`OpenAiCounter`] | OpenAI's models; the vocabulary is built in | yes |
#![cfg_attr(
    feature = "huggingface",
    doc = "| [`HuggingFaceCounter`] | open weights, by their `tokenizer.json` (feature `huggingface`) | yes |"
)]
#![cfg_attr(
    not(feature = "huggingface"),
    doc = "| `HuggingFaceCounter` | open weights, by their `tokenizer.json` (feature `huggingface`) | yes |"
)]
//! | [`EstimateCounter`] | models whose tokenizer is not public | no, and says so |
//! | [`SuppliedCounter`] | counts that you have, or a tokenizer of your own | as you say |
//!
//! # Guarantees
//!
//! - **Same text, same count**, on any number of threads. Long inputs use all cores:
//!   [`TokenCounter::count_all`].
//! - **Never panics, wraps or loops** on any text. Empty text is no tokens; sums stop at the largest
//!   number.
//! - **Starts at once**: vocabularies are tables in the program, read as they are.
//! - **An estimate says how far off it may be**: [`TokenCounter::bounded`].
//! - **No network, no files** but the `tokenizer.json` that you name.
//!
//! # Features
//!
//! - `vocabularies` (default): OpenAI's vocabularies in the program. Without it they are handed in with
//!   [`supply_vocabulary`], and counts before that are estimates.
//! - `compact`: makes a third of their tables at the first count.
//! - `huggingface`: reads a `tokenizer.json`. No C code, nothing is downloaded.

mod attachment;
mod count;
mod counter;
mod encoding;
mod estimate;
#[cfg(feature = "huggingface")]
mod huggingface;
mod image;
mod model;
mod models;
mod name;
mod openai;
mod overhead;
mod parallel;
mod prices;
mod supplied;
mod tool;

pub use attachment::{Attachment, AttachmentRule};
pub use count::Count;
pub use counter::TokenCounter;
pub use cupel_names::nearest_name;
pub use encoding::{Encoding, UnknownEncoding};
pub use estimate::{EstimateCounter, TokenizerFamily};
#[cfg(feature = "huggingface")]
pub use huggingface::{HuggingFaceCounter, TokenizerFileError};
pub use image::{Detail, Image, ImageRule};
pub use model::{Model, Provider, UnknownModel};
pub use openai::{OpenAiCounter, OtherVocabulary, is_vocabulary_missed, supply_vocabulary};
pub use overhead::Overheads;
pub use prices::Prices;
pub use supplied::SuppliedCounter;
pub use tool::ToolRule;

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
