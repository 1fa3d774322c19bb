//! Content of a log's rows, whatever wrote them: one file and one row of a table a format.
//!
//! The kind is seen from each row by itself, so that a log may mix them. A reader says what proves a row to
//! be its own; a row that two readers claim is refused, and so is one that nobody claims. Of a wrapper
//! nothing is prompt but what its reader takes out of it.

mod answer;
mod atif;
mod batch;
mod chat;
mod columns;
mod conversation;
mod helicone;
mod inspect;
mod langfuse;
mod langsmith;
mod litellm;
mod mini_swe_agent;
mod mlflow;
mod oasst;
mod openhands;
mod openinference;
mod otel;
mod pair;
mod request;
mod row;
mod span;
mod swe_agent;
mod table;
mod tau;
mod time;
mod trajectory;
mod transcript;
mod usage;
mod weave;

use std::sync::Arc;

use cupel_eval::AgentRun;
use serde_json::Value;

pub use answer::{Answer, Call};
pub use columns::{Columns, InvalidColumns};
use row::Row;
pub(crate) use table::needed_columns;
pub(crate) use transcript::is_document;

/// A request that was logged, and what became of it as far as the log tells.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct LoggedRequest {
    /// The request, as its provider takes it.
    pub request: Arc<str>,
    /// Answer to the request.
    pub answer: Option<Answer>,
    /// Name of its conversation in the log.
    pub conversation: Option<String>,
    /// Number of input tokens the provider counted, cached ones among them.
    pub counted_tokens: Option<i64>,
    /// When it was sent, in microseconds since 1970.
    pub time: Option<i64>,
    /// The model, as the log tells it.
    pub model: Option<String>,
    /// The route, task or part of the program that it is of.
    pub route: Option<String>,
    /// User of the request.
    pub user: Option<String>,
}

/// Content of a row.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Entry {
    /// A request.
    Request(Box<LoggedRequest>),
    /// The run of an agent, in the format of `cupel eval`.
    Run(Box<AgentRun>),
}

impl From<LoggedRequest> for Entry {
    fn from(logged: LoggedRequest) -> Self {
        Self::Request(Box::new(logged))
    }
}

/// Problem of a row.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{rule}")]
pub struct RowError {
    /// The field, the rule that it breaks, and what to do.
    pub rule: String,
}

impl RowError {
    pub(crate) fn new(rule: impl Into<String>) -> Self {
        Self { rule: rule.into() }
    }

    fn at(path: &str, rule: impl std::fmt::Display) -> Self {
        Self::new(format!("{path}: {rule}"))
    }
}

/// Content of rows that are no broken requests: all that was asked, and what else there was.
#[derive(Debug, Default)]
pub struct RowContent {
    /// Name of the row, as in `an observation of Langfuse`; empty where it is several things.
    pub kind: &'static str,
    /// The requests, in the order of the row.
    pub entries: Vec<Result<Entry, RowError>>,
    /// Things that are no call of a model, each by what it is: other spans, other runs.
    pub skipped: Vec<String>,
}

impl RowContent {
    fn of(entry: Result<LoggedRequest, RowError>) -> Self {
        Self { entries: vec![entry.map(Entry::from)], ..Self::default() }
    }

    fn several(entries: impl IntoIterator<Item = Result<LoggedRequest, RowError>>) -> Self {
        let entries = entries.into_iter().map(|entry| entry.map(Entry::from)).collect();
        Self { entries, ..Self::default() }
    }

    fn skip(what: impl Into<String>) -> Self {
        Self { skipped: vec![what.into()], ..Self::default() }
    }

    fn join(contents: impl IntoIterator<Item = Self>) -> Self {
        let mut joined = Self::default();
        for content in contents {
            if !content.kind.is_empty() {
                joined.kind = content.kind;
            }
            joined.entries.extend(content.entries);
            joined.skipped.extend(content.skipped);
        }
        joined
    }

    /// Puts the requests of the row in the order of their times, if all tell one: servers list the newest
    /// first.
    pub(crate) fn sort_by_time(&mut self) {
        let time = |entry: &Result<Entry, RowError>| match entry {
            Ok(Entry::Request(logged)) => logged.time,
            _ => None,
        };
        if self.entries.iter().all(|entry| time(entry).is_some()) {
            self.entries.sort_by_key(time);
        }
    }
}

/// Reads a row: JSON of any of the formats that are known.
///
/// # Errors
///
/// If it is not JSON, of no known format, or of two.
pub fn read_row(text: &str, columns: &Columns) -> Result<RowContent, RowError> {
    read(text, None, columns)
}

/// The same of a text that whoever asks shares: a row that is a request is not copied.
pub(crate) fn read_shared_row(text: &Arc<str>, columns: &Columns) -> Result<RowContent, RowError> {
    read(text, Some(text), columns)
}

fn read(text: &str, shared: Option<&Arc<str>>, columns: &Columns) -> Result<RowContent, RowError> {
    let text = text.trim();
    let as_shared = || match shared.filter(|shared| shared.len() == text.len()) {
        Some(shared) => shared.clone(),
        None => text.into(),
    };
    if let Some(content) = transcript::document(text) {
        return content;
    }
    if let Some(list) = text.strip_prefix('[') {
        // A bare list of messages is a request.
        return match list.trim_start().chars().next() {
            Some('{') | None => Ok(RowContent {
                kind: request::KIND,
                ..RowContent::of(request::list(text, as_shared))
            }),
            Some(']') => Err(RowError::new("is an empty list; a request has messages")),
            Some(_) => Err(RowError::at("[0]", "must be a message, which is an object")),
        };
    }
    let row = Row::parse(text).map_err(|error| not_json(text, &error))?;
    if let Some(mapped) = columns.read(&row)? {
        return Ok(RowContent { kind: "a row by --columns", ..mapped });
    }
    if row.fields.is_empty() {
        return Err(RowError::new("is empty; a row is a request, or has one in a field"));
    }
    if let Some(reader) = table::reader_of(&row)? {
        return Ok(RowContent { kind: reader.called, ..(reader.read)(&row)? });
    }
    if let Some(rows) = table::list_of(&row) {
        let rows = serde_json::from_str::<Vec<&serde_json::value::RawValue>>(rows);
        let rows = rows.map_err(|error| not_json(text, &error))?;
        let read = |row: &&serde_json::value::RawValue| {
            read_row(row.get(), columns).unwrap_or_else(|error| RowContent::of(Err(error)))
        };
        return Ok(RowContent::join(rows.iter().map(read)));
    }
    if request::is_raw(&row) {
        let logged = request::raw(as_shared(), &row);
        return Ok(RowContent { kind: request::KIND, ..RowContent::of(Ok(logged)) });
    }
    Err(RowError::new(format!(
        "is of no known format, it has the fields {}; say what they are with --columns \
         request=FIELD,response=FIELD",
        row.names()
    )))
}

fn not_json(text: &str, error: &serde_json::Error) -> RowError {
    if error.is_data() {
        let value = serde_json::from_str(text).unwrap_or_default();
        return RowError::new(format!(
            "must be an object or a list of messages, got {}",
            kind(&value)
        ));
    }
    let place = format!(" at line {} column {}", error.line(), error.column());
    let cause = error.to_string().replace(&place, "").to_lowercase();
    let begins: String = text.chars().take(24).collect();
    RowError::new(format!(
        "is not JSON from character {} on: {cause}; each row must be one complete JSON object, this \
         one begins with `{}`",
        error.column(),
        begins.replace(char::is_control, " ")
    ))
}

/// Type of a value, for people.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Where rows of all formats tell when they were made.
const TIMES: [&str; 12] = [
    "startTime",
    "start_time",
    "startTimeUnixNano",
    "started_at",
    "timestamp",
    "Timestamp",
    "request_created_at",
    "created_at",
    "time",
    "start_time_unix_nano",
    "request_time",
    "timestamp_ms",
];

/// When a row was made, in microseconds since 1970, as far as that is told without reading all of it.
pub(crate) fn row_time(text: &str, columns: &Columns) -> Option<i64> {
    let row = Row::parse(text).ok()?;
    if let Some(time) = columns.time(&row) {
        return Some(time);
    }
    let of = |row: &Row<'_>| TIMES.iter().find_map(|name| time::micros(&row.value(name)));
    if let Some(time) = of(&row) {
        return Some(time);
    }
    if let Some(info) = row.raw("info") {
        return of(&Row::parse(info).ok()?);
    }
    // A page of a server's answer is as old as what it begins with.
    if let Some(list) = table::list_of(&row) {
        let rows: Vec<&serde_json::value::RawValue> = serde_json::from_str(list).ok()?;
        return of(&Row::parse(rows.first()?.get()).ok()?);
    }
    // A document of OTLP tells it in its spans.
    let (_, rest) = row.raw("resourceSpans")?.split_once("\"startTimeUnixNano\"")?;
    let digits: String =
        rest.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    time::micros(&Value::String(digits))
}
