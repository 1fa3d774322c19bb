//! Ways with tool definitions, as data.

use serde::Serialize;

use crate::wire::{Problem, Read, Value};

/// Ways with the definitions of tools in a request that does not fit, for whoever makes candidates of
/// requests: the library itself knows of no tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ToolsDescription {
    /// They go out as they are.
    Keep,
    /// They say less to their reader.
    Shorten,
    /// Besides, those that nothing asks for may be left out.
    Choose,
}

impl Read for ToolsDescription {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        let name = String::read(value)?;
        match name.to_ascii_lowercase().as_str() {
            "keep" => Ok(Self::Keep),
            "shorten" => Ok(Self::Shorten),
            "choose" => Ok(Self::Choose),
            _ => Err(Problem::new(format!("must be one of keep, shorten, choose, got \"{name}\""))),
        }
    }
}
