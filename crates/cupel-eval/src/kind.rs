//! Kinds of data files.

use std::path::Path;

use serde_json::Value;

use crate::error::DataError;
use crate::lines::JsonLines;

/// Kind of a data file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DataKind {
    /// Pools of candidates with queries, for a [`DataSet`](crate::DataSet).
    Pools,
    /// Runs of agents, for [`AgentRuns`](crate::AgentRuns).
    AgentRuns,
}

impl DataKind {
    /// Kind by the first line of a file: a run has `messages` or `steps`, everything else is
    /// taken for a pool, whose reader says what is wrong with it.
    ///
    /// # Errors
    ///
    /// If the first line cannot be read or is not JSON.
    pub fn of_file(path: impl AsRef<Path>) -> Result<Self, DataError> {
        Self::of_lines(JsonLines::open(path.as_ref())?)
    }

    /// As [`of_file`](Self::of_file), of what was read before; errors call it by the name.
    ///
    /// # Errors
    ///
    /// As [`of_file`](Self::of_file).
    pub fn of_bytes(name: &str, bytes: &[u8]) -> Result<Self, DataError> {
        Self::of_lines(JsonLines::new(name, bytes)?)
    }

    fn of_lines(mut lines: JsonLines<'_>) -> Result<Self, DataError> {
        let first = lines.next().transpose()?;
        let has = |name: &str| first.as_ref().is_some_and(|line: &Value| line.get(name).is_some());
        let is_run = !has("pool") && (has("messages") || has("steps"));
        Ok(if is_run { Self::AgentRuns } else { Self::Pools })
    }
}
