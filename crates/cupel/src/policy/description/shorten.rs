//! Choice of texts that may be shortened, as data.

use serde::Serialize;

use crate::wire::{Problem, Read, Value};

/// What may go into the window shorter than it is, for whoever makes shorter forms before a run: the
/// library itself takes items with the [renderings](crate::Rendering) that they have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ShortenDescription {
    /// Nothing.
    Off,
    /// Results of tools that are JSON.
    Json,
    /// All results of tools.
    All,
}

impl Read for ShortenDescription {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        let name = String::read(value)?;
        match name.to_ascii_lowercase().as_str() {
            "off" => Ok(Self::Off),
            "json" => Ok(Self::Json),
            "all" => Ok(Self::All),
            _ => Err(Problem::new(format!("must be one of off, json, all, got \"{name}\""))),
        }
    }
}
