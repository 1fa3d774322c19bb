//! Results as JSON.

use serde::Serialize;

use crate::error::Failure;

/// A value as indented JSON that ends its line.
pub(crate) fn pretty(value: &impl Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(value);
    let mut text = text.map_err(|error| Failure::cannot(format!("cannot write JSON: {error}")))?;
    text.push('\n');
    Ok(text)
}

/// A value as JSON on one line.
pub(crate) fn line(value: &impl Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string(value);
    let mut text = text.map_err(|error| Failure::cannot(format!("cannot write JSON: {error}")))?;
    text.push('\n');
    Ok(text)
}
