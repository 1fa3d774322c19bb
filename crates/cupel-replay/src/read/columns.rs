//! Which fields of a log that nobody knows are what.

use std::str::FromStr;

use serde_json::Value;

use super::answer::Answer;
use super::{Fields, LoggedRequest, RowError, request, unwrapped};

/// Which fields of a row are the request, its response, its conversation and its model, where a log is
/// of no known format.
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
    request: Option<String>,
    response: Option<String>,
    conversation: Option<String>,
    model: Option<String>,
}

/// Columns that were named wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidColumns(String);

const NAMES: &str = "request, response, conversation, model";

impl FromStr for Columns {
    type Err = InvalidColumns;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut columns = Self::default();
        for part in text.split(',') {
            let Some((name, field)) = part.split_once('=').filter(|(_, field)| !field.is_empty())
            else {
                return Err(InvalidColumns(format!(
                    "`{part}`: write NAME=FIELD, with a NAME of {NAMES}"
                )));
            };
            let place = match name.trim() {
                "request" => &mut columns.request,
                "response" => &mut columns.response,
                "conversation" => &mut columns.conversation,
                "model" => &mut columns.model,
                other => return Err(InvalidColumns(format!("`{other}` is none of {NAMES}"))),
            };
            if place.replace(field.trim().to_owned()).is_some() {
                return Err(InvalidColumns(format!("`{}` is named twice", name.trim())));
            }
        }
        if columns.request.is_none() {
            return Err(InvalidColumns(
                "request=FIELD is missing: which field is the request?".to_owned(),
            ));
        }
        Ok(columns)
    }
}

impl std::fmt::Display for Columns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let all = [
            ("request", &self.request),
            ("response", &self.response),
            ("conversation", &self.conversation),
            ("model", &self.model),
        ];
        let named =
            all.into_iter().filter_map(|(name, field)| Some(format!("{name}={}", field.as_ref()?)));
        f.write_str(&named.collect::<Vec<_>>().join(","))
    }
}

impl Columns {
    /// The names of the fields at the top of a row that are needed; `None` if none are named.
    pub fn fields(&self) -> Option<Vec<&str>> {
        self.request.as_ref()?;
        let all = [&self.request, &self.response, &self.conversation, &self.model];
        Some(all.into_iter().flatten().map(|path| path.split('.').next().unwrap_or(path)).collect())
    }

    /// The request of a row by the columns; `None` if none are named.
    pub(super) fn read(&self, fields: &Fields<'_>) -> Result<Option<LoggedRequest>, RowError> {
        let Some(path) = &self.request else { return Ok(None) };
        let Some(input) = find(fields, path).filter(|value| !value.is_null()) else {
            let names: Vec<&str> = fields.keys().map(AsRef::as_ref).take(8).collect();
            let rule = format!(
                "there is no such field, there are {}; correct --columns",
                names.join(", ")
            );
            return Err(RowError::at(path, rule));
        };
        let found = |path: &Option<String>| path.as_ref().and_then(|path| find(fields, path));
        let text =
            |path: &Option<String>| found(path).and_then(|value| value.as_str().map(str::to_owned));
        let answer = found(&self.response);
        let model = text(&self.model);
        let input = unwrapped(&input);
        Ok(Some(LoggedRequest {
            request: request::assembled(&input, model.as_deref(), None)
                .map_err(|error| RowError::new(error.rule.replacen("input", path, 1)))?,
            model: request::model_beside(&input, model.as_deref()),
            answer: answer.as_ref().and_then(|answer| Answer::of(&unwrapped(answer))),
            conversation: text(&self.conversation),
            counted_tokens: answer.as_ref().and_then(|answer| request::counted(&unwrapped(answer))),
        }))
    }
}

/// A field by its name, or by a path with dots.
fn find(fields: &Fields<'_>, path: &str) -> Option<Value> {
    if let Some(raw) = fields.get(path) {
        return serde_json::from_str(raw.get()).ok();
    }
    let (first, rest) = path.split_once('.')?;
    let value: Value = serde_json::from_str(fields.get(first)?.get()).ok()?;
    rest.split('.').try_fold(value, |value, name| unwrapped(&value).get(name).cloned())
}
