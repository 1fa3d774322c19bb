//! From text to terms: what two texts must share to be about the same thing.
//!
//! Words are cut out of the text ([`words`]), identifiers are split, stop words dropped and the rest
//! stemmed ([`Analysis`]). All of it happens once for each distinct word ([`lexicon`]), because most
//! words of a text were seen before. Which language it is can be found out first ([`detect`]), of the
//! same words ([`reader`]).

mod analysis;
mod choice;
mod detect;
mod identifier;
mod ids;
mod language;
pub(crate) mod lexicon;
mod reader;
mod script;
mod stemmer;
mod table;
mod vocabulary;
mod words;

pub use analysis::Analysis;
pub use choice::LanguageChoice;
pub(crate) use detect::Count;
pub(crate) use ids::{Ids, each_once_from};
pub use language::{Language, UnknownLanguage};
pub(crate) use reader::{Reader, SharedReader, Words};
pub(crate) use script::{is_han, is_kana};
pub(crate) use table::Table;
pub(crate) use vocabulary::{Addressing, Cues, Vocabulary, has};
use words::beginning;
pub(crate) use words::for_each_word;
