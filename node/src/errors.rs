//! Errors, as JSON that the JavaScript layer makes its own error of.

use cupel_engine::EngineError;
use napi::{Error, Status};
use serde_json::Value;

/// An error of the engine: all that it says.
pub(crate) fn of_engine(error: &EngineError) -> Error {
    let mut details = serde_json::to_value(error).unwrap_or_default();
    details["message"] = Value::from(error.to_string());
    Error::new(Status::GenericFailure, details.to_string())
}

/// An answer that cannot be written.
pub(crate) fn unwritten(error: &serde_json::Error) -> Error {
    Error::new(Status::GenericFailure, error.to_string())
}
