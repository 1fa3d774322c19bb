//! Results as JSON.

use serde::Serialize;

use crate::error::Failure;

/// A value as indented JSON that ends its line.
pub(crate) fn pretty(value: &impl Serialize) -> Result<String, Failure> {
    ended(serde_json::to_string_pretty(value))
}

/// A value as JSON on one line.
pub(crate) fn line(value: &impl Serialize) -> Result<String, Failure> {
    ended(serde_json::to_string(value))
}

/// The text with a line break, and without anything that would act on a terminal.
fn ended(text: serde_json::Result<String>) -> Result<String, Failure> {
    let text = text.map_err(|error| Failure::cannot(format!("cannot write JSON: {error}")))?;
    Ok(cupel_names::readable_json(&text).into_owned() + "\n")
}
