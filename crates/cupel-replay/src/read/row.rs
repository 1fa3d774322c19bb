//! A row of a log: its fields, read no further than somebody asks.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::RowError;

/// The fields of a row by name.
pub(super) type Fields<'t> = BTreeMap<Cow<'t, str>, &'t RawValue>;

/// A row that is an object.
pub(super) struct Row<'t> {
    pub(super) text: &'t str,
    pub(super) fields: Fields<'t>,
    whole: OnceCell<Value>,
}

impl<'t> Row<'t> {
    pub(super) fn parse(text: &'t str) -> Result<Self, serde_json::Error> {
        Ok(Self { text, fields: serde_json::from_str(text)?, whole: OnceCell::new() })
    }

    /// Returns true if a field is there and is not null.
    pub(super) fn has(&self, name: &str) -> bool {
        self.raw(name).is_some_and(|raw| raw != "null")
    }

    pub(super) fn has_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.has(name))
    }

    /// A field as it is written.
    pub(super) fn raw(&self, name: &str) -> Option<&'t str> {
        self.fields.get(name).map(|raw| raw.get())
    }

    pub(super) fn is_list(&self, name: &str) -> bool {
        self.begins(name, '[')
    }

    pub(super) fn is_object(&self, name: &str) -> bool {
        self.begins(name, '{')
    }

    fn begins(&self, name: &str, letter: char) -> bool {
        // A table may have lists and objects as texts.
        let Some(raw) = self.raw(name) else { return false };
        let inner = raw.strip_prefix('"').map_or(raw, str::trim_start);
        inner.starts_with(letter)
    }

    /// A field that is a text.
    pub(super) fn text_of(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.raw(name)?).ok()
    }

    /// The first of these fields that is a text and not empty.
    pub(super) fn first_text(&self, names: &[&str]) -> Option<String> {
        names.iter().filter_map(|name| self.text_of(name)).find(|text| !text.is_empty())
    }

    /// A field, taken out of a text if it is written as one.
    pub(super) fn value(&self, name: &str) -> Value {
        let value = self.raw(name).and_then(|raw| serde_json::from_str(raw).ok());
        unwrapped(&value.unwrap_or_default()).into_owned()
    }

    /// All of the row.
    pub(super) fn whole(&self) -> Result<&Value, RowError> {
        if let Some(whole) = self.whole.get() {
            return Ok(whole);
        }
        let whole =
            serde_json::from_str(self.text).map_err(|error| super::not_json(self.text, &error))?;
        Ok(self.whole.get_or_init(|| whole))
    }

    /// The names of the first fields, for people.
    pub(super) fn names(&self) -> String {
        self.fields.keys().map(AsRef::as_ref).take(8).collect::<Vec<&str>>().join(", ")
    }
}

/// A value that may be written as JSON in a text, as columns of texts have it. Some exports write a text
/// of a text.
pub(super) fn unwrapped(value: &Value) -> Cow<'_, Value> {
    match value {
        Value::String(text) if text.trim_start().starts_with(['{', '[', '"']) => {
            match serde_json::from_str(text) {
                Ok(Value::String(inner)) if !inner.trim_start().starts_with(['{', '[']) => {
                    Cow::Borrowed(value)
                }
                Ok(inner) => Cow::Owned(unwrapped(&inner).into_owned()),
                Err(_) => Cow::Borrowed(value),
            }
        }
        _ => Cow::Borrowed(value),
    }
}

/// The first of these fields that is there and not null.
pub(super) fn first<'v>(value: &'v Value, names: &[&str]) -> Option<&'v Value> {
    names.iter().map(|name| &value[*name]).find(|value| !value.is_null())
}

/// The first of these fields that is a text and not empty.
pub(super) fn first_text(value: &Value, names: &[&str]) -> Option<String> {
    let texts = names.iter().filter_map(|name| value[*name].as_str());
    texts.map(str::to_owned).find(|text| !text.is_empty())
}

/// A number, which tables may have as a text.
pub(super) fn number(value: &Value) -> Option<i64> {
    value
        .as_i64()
        .or_else(|| value.as_f64().map(|number| number as i64))
        .or_else(|| value.as_str()?.parse().ok())
}
