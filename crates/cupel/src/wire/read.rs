//! From values to types.

use std::borrow::Cow;
use std::collections::HashMap;

use chrono::{DateTime, Utc};
use cupel_names::UnknownName;

use super::{Problem, Value, float};
use crate::diagnostics::Excerpt;

/// A type that can be read from a value.
pub trait Read: Sized {
    /// Reads it, or says what is wrong and where.
    fn read(value: Value<'_>) -> Result<Self, Problem>;
}

fn expected<T>(what: &str, value: &Value<'_>) -> Result<T, Problem> {
    Err(Problem::new(format!("must be {what}, got {value}")))
}

impl Read for bool {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        match value {
            Value::Bool(value) => Ok(value),
            other => expected("true or false", &other),
        }
    }
}

impl Read for i64 {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        match value {
            Value::Integer(value) => Ok(value),
            Value::Unsigned(_) => expected("at most 9223372036854775807", &value),
            other => expected("a whole number", &other),
        }
    }
}

impl Read for usize {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        let number = match value {
            Value::Integer(number) => Self::try_from(number).ok(),
            Value::Unsigned(number) => Self::try_from(number).ok(),
            _ => None,
        };
        number.map_or_else(|| expected("a whole number that is not negative", &value), Ok)
    }
}

impl Read for f64 {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        let number = match &value {
            Value::Integer(number) => Some(*number as Self),
            Value::Unsigned(number) => Some(*number as Self),
            Value::Float(number) => Some(*number),
            Value::Text(text) => float::from_text(text),
            _ => None,
        };
        number.map_or_else(|| expected("a number", &value), Ok)
    }
}

impl Read for String {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        match value {
            Value::Text(text) => Ok(text.into_owned()),
            other => expected("a text", &other),
        }
    }
}

impl Read for DateTime<Utc> {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        let text = match &value {
            Value::Text(text) => Some(text.as_ref()),
            Value::Map(map) => toml_datetime(map),
            _ => None,
        };
        match (text.and_then(instant), text) {
            (Some(instant), _) => Ok(instant),
            (None, Some(text)) => Err(Problem::new(format!(
                "must be a date and time with offset, as 2025-01-31T12:00:00Z, got \"{}\"",
                Excerpt(text)
            ))),
            (None, None) => expected("a date and time", &value),
        }
    }
}

/// An instant by RFC 3339. Outside of the years 0 to 9999, which that knows, the year has a sign, as
/// in what is written for such an instant.
fn instant(text: &str) -> Option<DateTime<Utc>> {
    if text.starts_with(['+', '-']) {
        return text.parse().ok();
    }
    DateTime::parse_from_rfc3339(text).ok().map(|instant| instant.with_timezone(&Utc))
}

/// The TOML parser hands its own dates over as a map with one field.
fn toml_datetime<'v>(map: &'v [(Cow<'_, str>, Value<'_>)]) -> Option<&'v str> {
    match map {
        [(key, Value::Text(text))] if key == "$__toml_private_datetime" => Some(text),
        _ => None,
    }
}

impl<T: Read> Read for Vec<T> {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        let Value::List(list) = value else { return expected("a list", &value) };
        let items = list.into_iter().enumerate();
        items.map(|(index, item)| T::read(item).map_err(|p| p.in_list(index))).collect()
    }
}

impl<T: Read> Read for Box<T> {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        T::read(value).map(Self::new)
    }
}

impl<T: Read> Read for HashMap<String, T> {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        let Value::Map(map) = value else { return expected("a map", &value) };
        let entries = map.into_iter().map(|(key, value)| match T::read(value) {
            Ok(value) => Ok((key.into_owned(), value)),
            Err(problem) => Err(problem.in_field(&key)),
        });
        entries.collect()
    }
}

/// The fields of a map, taken one by one.
pub(crate) struct Fields<'de> {
    left: Vec<(Cow<'de, str>, Value<'de>)>,
    known: Vec<&'static str>,
}

impl<'de> From<Vec<(Cow<'de, str>, Value<'de>)>> for Fields<'de> {
    fn from(left: Vec<(Cow<'de, str>, Value<'de>)>) -> Self {
        Self { left, known: Vec::new() }
    }
}

impl<'de> Fields<'de> {
    /// No fields at all.
    pub(crate) fn none() -> Self {
        Vec::new().into()
    }

    pub(crate) fn of(value: Value<'de>) -> Result<Self, Problem> {
        match value {
            Value::Map(left) => Ok(left.into()),
            other => expected("a map", &other),
        }
    }

    /// A field that may be absent or null.
    pub(crate) fn optional<T: Read>(&mut self, name: &'static str) -> Result<Option<T>, Problem> {
        match self.take(name)? {
            None | Some(Value::Null) => Ok(None),
            Some(value) => T::read(value).map(Some).map_err(|problem| problem.in_field(name)),
        }
    }

    /// A field that must be there.
    pub(crate) fn required<T: Read>(&mut self, name: &'static str) -> Result<T, Problem> {
        self.optional(name)?.ok_or_else(|| Problem::new("is required").in_field(name))
    }

    /// A field with a default.
    pub(crate) fn or_default<T: Read + Default>(
        &mut self,
        name: &'static str,
    ) -> Result<T, Problem> {
        self.optional(name).map(Option::unwrap_or_default)
    }

    /// A field with a default of its own.
    pub(crate) fn or_else<T: Read>(
        &mut self,
        name: &'static str,
        default: fn() -> T,
    ) -> Result<T, Problem> {
        self.optional(name).map(|value| value.unwrap_or_else(default))
    }

    /// Takes a field in either spelling; twice is an error.
    fn take(&mut self, name: &'static str) -> Result<Option<Value<'de>>, Problem> {
        self.known.push(name);
        let find =
            |left: &[(Cow<'de, str>, _)]| left.iter().position(|(key, _)| is_spelling(key, name));
        let Some(at) = find(&self.left) else { return Ok(None) };
        // Order matters to nobody but `rest`, which takes what is left as it stands.
        let (_, value) = self.left.remove(at);
        if find(&self.left).is_some() {
            return Err(Problem::new("is given twice").in_field(name));
        }
        Ok(Some(value))
    }

    /// Refuses fields that nobody took.
    pub(crate) fn deny_rest(self) -> Result<(), Problem> {
        let Some((name, _)) = self.left.first() else { return Ok(()) };
        let rule = match self.known.as_slice() {
            [] => "unknown field; there are no options".to_owned(),
            known => {
                let known = known.iter().copied();
                format!("unknown field; {}", UnknownName::new("field", name, known).hint())
            }
        };
        Err(Problem::new(rule).in_field(name))
    }

    /// The fields that nobody took, in their order.
    pub(crate) fn rest(mut self) -> Vec<(Cow<'de, str>, Value<'de>)> {
        self.take_rest()
    }

    /// Takes all fields that nobody took, in their order.
    pub(crate) fn take_rest(&mut self) -> Vec<(Cow<'de, str>, Value<'de>)> {
        std::mem::take(&mut self.left)
    }
}

/// Returns true if `key` is `snake_name`, or the same in camel case.
pub(crate) fn is_spelling(key: &str, snake_name: &str) -> bool {
    if key == snake_name {
        return true;
    }
    let mut key = key.chars();
    let mut capital = false;
    for letter in snake_name.chars() {
        if letter == '_' {
            capital = true;
            continue;
        }
        let letter = if capital { letter.to_ascii_uppercase() } else { letter };
        capital = false;
        if key.next() != Some(letter) {
            return false;
        }
    }
    key.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_snake_and_in_camel_case() {
        assert!(is_spelling("max_tokens", "max_tokens"));
        assert!(is_spelling("maxTokens", "max_tokens"));
        assert!(is_spelling("futureRelevanceHint", "future_relevance_hint"));
        assert!(!is_spelling("MaxTokens", "max_tokens"));
        assert!(!is_spelling("maxtokens", "max_tokens"));
        assert!(!is_spelling("maxTokensX", "max_tokens"));
        assert!(!is_spelling("max", "max_tokens"));
    }
}
