//! The formats of logs, a row each.

use super::row::Row;
use super::{RowContent, RowError};
use super::{
    atif, batch, conversation, helicone, inspect, langfuse, langsmith, litellm, mini_swe_agent,
    mlflow, oasst, openhands, openinference, otel, pair, swe_agent, tau, weave,
};

/// A format of logs.
pub(crate) struct Reader {
    /// Name of a row for people.
    pub(crate) called: &'static str,
    /// Returns true if a row is one of these for sure: by the fields that it has, and those that it must not have.
    pub(super) proves: fn(&Row<'_>) -> bool,
    /// Reads such a row.
    pub(super) read: fn(&Row<'_>) -> Result<RowContent, RowError>,
    /// The columns that it needs of a table.
    pub(crate) columns: &'static [&'static str],
}

/// All formats. Their order is of no matter: a row that two of them claim is refused.
const READERS: [&Reader; 21] = [
    &pair::RUN,
    &otel::DOCUMENT,
    &otel::EVENTS,
    &otel::SPAN,
    &openinference::SPAN,
    &langfuse::OBSERVATION,
    &langsmith::RUN,
    &mlflow::TRACE,
    &litellm::CALL,
    &helicone::REQUEST,
    &weave::CALL,
    &openhands::HISTORY,
    &swe_agent::TRAJECTORY,
    &mini_swe_agent::TRAJECTORY,
    &tau::RUN,
    &inspect::LOG,
    &atif::TRAJECTORY,
    &batch::LINE,
    &conversation::TURNS,
    &oasst::TREE,
    &pair::PAIR,
];

/// The columns that any format needs.
pub(crate) fn needed_columns() -> impl Iterator<Item = &'static str> {
    READERS.iter().flat_map(|reader| reader.columns.iter().copied())
}

/// The one format that a row is proven to be of.
pub(super) fn reader_of(row: &Row<'_>) -> Result<Option<&'static Reader>, RowError> {
    let mut proven = READERS.iter().filter(|reader| (reader.proves)(row));
    let Some(first) = proven.next() else { return Ok(None) };
    match proven.next() {
        None => Ok(Some(first)),
        Some(second) => Err(RowError::new(format!(
            "could be {} and {}, it has the fields {}; say what they are with --columns \
             request=FIELD,response=FIELD",
            first.called,
            second.called,
            row.names()
        ))),
    }
}

/// The fields in which answers of servers and exports of interfaces hold rows.
const LISTS: [&str; 8] =
    ["data", "observations", "runs", "traces", "rows", "results", "requests", "calls"];

/// The rows that an answer of a server holds.
pub(super) fn list_of<'t>(row: &Row<'t>) -> Option<&'t str> {
    let is_request = row.has_any(&["messages", "contents", "input", "request"]);
    LISTS.iter().filter(|_| !is_request).find_map(|name| {
        let list = row.raw(name)?;
        let inner = list.strip_prefix('[')?.trim_start();
        inner.starts_with(['{', ']']).then_some(list)
    })
}
