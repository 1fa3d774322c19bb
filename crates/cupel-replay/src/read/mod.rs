//! What a row of a log holds, whatever wrote it: one file a format.
//!
//! The kind is seen from each row by itself, so that a log may mix them. Fields that mean nothing to
//! us are passed over.

mod answer;
mod columns;
mod conversation;
mod langfuse;
mod langsmith;
mod otel;
mod request;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use cupel_eval::AgentRun;
use serde_json::Value;
use serde_json::value::RawValue;

pub use answer::{Answer, Call};
pub use columns::{Columns, InvalidColumns};

/// A request that was logged, and what became of it as far as the log tells.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LoggedRequest {
    /// The request, as its provider takes it.
    pub request: Arc<str>,
    /// What came back.
    pub answer: Option<Answer>,
    /// What the log calls the conversation that it is of.
    pub conversation: Option<String>,
    /// How many tokens the provider counted in the request.
    pub counted_tokens: Option<i64>,
    /// The model, where it is known and the form of the request has no place for it.
    pub model: Option<&'static str>,
}

/// What a row holds.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Entry {
    /// A request.
    Request(LoggedRequest),
    /// The run of an agent, in the format of `cupel eval`.
    Run(Box<AgentRun>),
}

/// What is wrong with a row.
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

/// What rows hold that are no broken requests: all that was asked, and how much else there was.
#[derive(Debug, Default)]
pub struct RowContent {
    /// The requests, in the order of the row.
    pub entries: Vec<Result<Entry, RowError>>,
    /// Things that are no call of a model: other spans, other runs.
    pub others: usize,
}

impl RowContent {
    fn of(entry: Result<Entry, RowError>) -> Self {
        Self { entries: vec![entry], others: 0 }
    }

    fn other() -> Self {
        Self { entries: Vec::new(), others: 1 }
    }

    fn join(contents: impl IntoIterator<Item = Self>) -> Self {
        let mut joined = Self::default();
        for content in contents {
            joined.entries.extend(content.entries);
            joined.others += content.others;
        }
        joined
    }
}

/// The fields of a row, not read any further than needed.
pub(crate) type Fields<'t> = BTreeMap<Cow<'t, str>, &'t RawValue>;

/// Reads a row: JSON of any of the formats that are known.
///
/// # Errors
///
/// If it is not JSON, or of no known format.
pub fn read_row(text: &str, columns: &Columns) -> Result<RowContent, RowError> {
    read(text, None, columns)
}

/// The same of a text that whoever asks shares: a row that is a request is not copied.
pub(crate) fn read_shared_row(text: &Arc<str>, columns: &Columns) -> Result<RowContent, RowError> {
    read(text, Some(text), columns)
}

fn read(text: &str, shared: Option<&Arc<str>>, columns: &Columns) -> Result<RowContent, RowError> {
    let text = text.trim();
    let request = || match shared.filter(|shared| shared.len() == text.len()) {
        Some(shared) => shared.clone(),
        None => text.into(),
    };
    if let Some(list) = text.strip_prefix('[') {
        // A bare list of messages is a request.
        return match list.trim_start().chars().next() {
            Some('{') | None => Ok(RowContent::of(Ok(request::raw(request(), None)))),
            Some(']') => Err(RowError::new("is an empty list; a request has messages")),
            Some(_) => Err(RowError::at("[0]", "must be a message, which is an object")),
        };
    }
    let fields: Fields<'_> = serde_json::from_str(text).map_err(|error| not_json(text, &error))?;
    if let Some(mapped) = columns.read(&fields)? {
        return Ok(RowContent::of(Ok(Entry::Request(mapped))));
    }
    let has = |name: &str| fields.contains_key(name);
    if has("run") && has("messages") && has("steps") {
        let run = AgentRun::parse("run", 1, text);
        let run = run.map_err(|error| RowError::new(after_place(&error.to_string())));
        return Ok(RowContent::of(run.map(|run| Entry::Run(Box::new(run)))));
    }
    if has("resourceSpans") || has("resource_spans") {
        return otel::document(&parsed(text)?);
    }
    if otel::is_span(&fields) {
        return Ok(otel::row(&parsed(text)?));
    }
    if has("run_type") && has("inputs") {
        return Ok(langsmith::row(&parsed(text)?));
    }
    if let Some(list) =
        ["data", "observations", "runs"].iter().find_map(|name| list_in(&fields, name))
    {
        let rows = serde_json::from_str::<Vec<&RawValue>>(list);
        let rows = rows.map_err(|error| not_json(list, &error))?;
        let read = |row: &&RawValue| {
            read_row(row.get(), columns).unwrap_or_else(|e| RowContent::of(Err(e)))
        };
        return Ok(RowContent::join(rows.iter().map(read)));
    }
    if has("conversation") {
        return conversation::row(&parsed(text)?);
    }
    if langfuse::is_observation(&fields) {
        return Ok(langfuse::row(&parsed(text)?));
    }
    if has("request") {
        return Ok(RowContent::of(request::pair(&fields)));
    }
    if ["messages", "contents", "input", "items"].iter().any(|name| has(name)) {
        return Ok(RowContent::of(Ok(request::raw(request(), Some(&fields)))));
    }
    let known: Vec<&str> = fields.keys().map(AsRef::as_ref).take(8).collect();
    if known.is_empty() {
        return Err(RowError::new("is empty; a row is a request, or has one in a field"));
    }
    Err(RowError::new(format!(
        "is of no known format, it has the fields {}; say what they are with --columns \
         request=FIELD,response=FIELD",
        known.join(", ")
    )))
}

/// A field that holds a list of rows.
fn list_in<'t>(fields: &Fields<'t>, name: &str) -> Option<&'t str> {
    let is_request =
        ["messages", "contents", "input", "request"].iter().any(|own| fields.contains_key(*own));
    let list = fields.get(name)?.get();
    (!is_request && list.starts_with("[{")).then_some(list)
}

fn parsed(text: &str) -> Result<Value, RowError> {
    serde_json::from_str(text).map_err(|error| not_json(text, &error))
}

fn not_json(text: &str, error: &serde_json::Error) -> RowError {
    if error.is_data() {
        let value = serde_json::from_str(text).unwrap_or_default();
        let kind = request::kind(&value);
        return RowError::new(format!("must be an object or a list of messages, got {kind}"));
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

/// An error without the place that it begins with.
fn after_place(text: &str) -> String {
    let rest = text.strip_prefix("run:1").unwrap_or(text);
    rest.trim_start_matches(|letter: char| letter == ':' || letter.is_ascii_digit())
        .trim()
        .to_owned()
}

/// A value that may be written as JSON in a text, as columns of texts have it.
fn unwrapped(value: &Value) -> Cow<'_, Value> {
    match value {
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
            serde_json::from_str(text).map_or(Cow::Borrowed(value), Cow::Owned)
        }
        _ => Cow::Borrowed(value),
    }
}

/// The first of these fields that is there and not null.
fn first<'v>(value: &'v Value, names: &[&str]) -> Option<&'v Value> {
    names.iter().map(|name| &value[*name]).find(|value| !value.is_null())
}

/// The first of these fields that is a text.
fn first_text(value: &Value, names: &[&str]) -> Option<String> {
    let texts = names.iter().filter_map(|name| value[*name].as_str());
    texts.map(str::to_owned).find(|text| !text.is_empty())
}
