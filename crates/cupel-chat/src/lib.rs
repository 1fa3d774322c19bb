//! Selects what goes into a chat request without breaking it: OpenAI, Anthropic, Gemini, LangChain.

mod annotations;
mod bundle;
mod candidates;
mod conversation;
mod derive;
mod detect;
mod document;
mod error;
mod format;
mod grouping;
mod json;
mod pairing;
mod pin;
mod render;
mod repair;
mod request;
mod select;
#[cfg(test)]
mod testing;
mod validate;
mod weigh;

pub use bundle::Bundle;
pub use candidates::{CandidateOptions, Candidates};
pub use error::{ChatError, SelectError};
pub use format::{Format, UnknownFormat};
pub use grouping::PinReason;
pub use pin::{ParsePinError, Pin};
pub use repair::Repair;
pub use request::Request;
pub use select::{Selected, select};
pub use validate::Violation;
