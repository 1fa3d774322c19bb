//! Which fields of a log that nobody knows are what.

use std::str::FromStr;

use serde_json::Value;

use super::answer::Answer;
use super::chat::{self, Asked};
use super::row::{Row, first, number, unwrapped};
use super::span::{self, Span};
use super::{LoggedRequest, RowContent, RowError, otel, time, usage};

/// Which fields of a row are the request, its response, its conversation and so on, where a log is of no
/// known format.
///
/// A field is a name, a path with dots through objects, lists and texts of JSON, or the name of an attribute
/// of an OpenTelemetry span.
///
/// ```
/// use cupel_replay::Columns;
///
/// let columns: Columns = "request=body.payload,response=answer,conversation=thread".parse()?;
/// assert!("reqest=body".parse::<Columns>().is_err());
/// # Ok::<(), cupel_replay::InvalidColumns>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Columns {
    /// By the order of [`NAMES`].
    fields: [Option<String>; NAMES.len()],
}

/// Columns that were named wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidColumns(String);

const NAMES: [&str; 9] =
    ["request", "response", "conversation", "model", "time", "user", "route", "tokens", "tools"];

impl FromStr for Columns {
    type Err = InvalidColumns;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut columns = Self::default();
        for part in text.split(',') {
            let Some((name, field)) = part.split_once('=').filter(|(_, field)| !field.is_empty())
            else {
                return Err(InvalidColumns(format!(
                    "`{part}`: write NAME=FIELD, with a NAME of {}",
                    NAMES.join(", ")
                )));
            };
            let name = name.trim();
            let Some(at) = NAMES.iter().position(|known| *known == name) else {
                return Err(InvalidColumns(format!("`{name}` is none of {}", NAMES.join(", "))));
            };
            if columns.fields[at].replace(field.trim().to_owned()).is_some() {
                return Err(InvalidColumns(format!("`{name}` is named twice")));
            }
        }
        if columns.fields[0].is_none() {
            return Err(InvalidColumns(
                "request=FIELD is missing: which field is the request?".to_owned(),
            ));
        }
        Ok(columns)
    }
}

impl std::fmt::Display for Columns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let named = NAMES.iter().zip(&self.fields);
        let named = named.filter_map(|(name, field)| Some(format!("{name}={}", field.as_ref()?)));
        f.write_str(&named.collect::<Vec<_>>().join(","))
    }
}

impl Columns {
    /// The fields that are named.
    pub fn fields(&self) -> Vec<&str> {
        self.fields.iter().flatten().map(String::as_str).collect()
    }

    /// Returns true if a column of a table is needed; `None` if no columns are named.
    pub fn needs(&self, column: &str) -> Option<bool> {
        self.fields[0].as_ref()?;
        let begins = |path: &String| {
            path == column || path.strip_prefix(column).is_some_and(|rest| rest.starts_with('.'))
        };
        let is_attributes = span::ATTRIBUTES.contains(&column);
        Some(is_attributes || self.fields.iter().flatten().any(begins))
    }

    /// The time of a row by the column that is named for it.
    pub(super) fn time(&self, row: &Row<'_>) -> Option<i64> {
        let path = self.fields[4].as_ref()?;
        row.whole().ok().and_then(|row| time::micros(&find(row, path)?))
    }

    /// The requests of a row by the columns; `None` if none are named.
    pub(super) fn read(&self, row: &Row<'_>) -> Result<Option<RowContent>, RowError> {
        let Some(path) = &self.fields[0] else { return Ok(None) };
        if row.has_any(&["resourceSpans", "resource_spans"]) {
            let spans = otel::spans(row.whole()?)?;
            let read = |span: &&Value| match self.of(span, path) {
                Ok(logged) => RowContent::of(Ok(logged)),
                Err(_) => RowContent::skip(format!("spans without {path}")),
            };
            return Ok(Some(RowContent::join(spans.iter().map(read))));
        }
        self.of(row.whole()?, path).map(|logged| Some(RowContent::of(Ok(logged))))
    }

    fn of(&self, row: &Value, path: &str) -> Result<LoggedRequest, RowError> {
        let Some(input) = find(row, path).filter(|value| !value.is_null()) else {
            let names = row.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
            let names: Vec<&str> = names.take(8).collect();
            let rule = format!(
                "there is no such field, there are {}; correct --columns",
                names.join(", ")
            );
            return Err(RowError::at(path, rule));
        };
        let found = |name: &str| {
            let at = NAMES.iter().position(|known| *known == name)?;
            find(row, self.fields[at].as_ref()?).filter(|value| !value.is_null())
        };
        let text = |name: &str| {
            found(name).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        };
        let (model, tools, answer) = (text("model"), found("tools"), found("response"));
        let asked = Asked {
            input: Some(&input),
            tools: tools.as_ref(),
            model: model.as_deref(),
            system: None,
        };
        let counted = found("tokens")
            .and_then(|tokens| number(&tokens))
            .or_else(|| usage::input_tokens(first(answer.as_ref()?, &["usage", "usageMetadata"])?));
        Ok(LoggedRequest {
            request: chat::request(path, &asked)?,
            answer: answer.as_ref().and_then(Answer::of),
            conversation: text("conversation"),
            counted_tokens: counted,
            time: found("time").and_then(|time| time::micros(&time)),
            route: text("route"),
            user: text("user"),
            model,
        })
    }
}

/// A field by its name, by a path with dots, or an attribute by its name.
fn find(row: &Value, path: &str) -> Option<Value> {
    if let Some(value) = row.get(path) {
        return Some(unwrapped(value).into_owned());
    }
    let walked = path.split('.').try_fold(row.clone(), |value, name| {
        let value = unwrapped(&value);
        match name.parse::<usize>() {
            Ok(number) if value.is_array() => value.get(number).cloned(),
            _ => value.get(name).cloned(),
        }
    });
    let walked = walked.map(|value| unwrapped(&value).into_owned());
    walked.or_else(|| Span::of(row).value(path.strip_prefix("attributes.").unwrap_or(path)))
}
