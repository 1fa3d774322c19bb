//! Reads a TOML table field by field and remembers what nobody asked for.

use std::cell::RefCell;
use std::rc::Rc;

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Utc};
use toml::value::Datetime;
use toml::{Table, Value};

use super::VectorError;

/// Fields of a file beyond the format, and rules of this suite that it does not keep.
#[derive(Debug, Clone, Default)]
pub(super) struct Notes(Rc<RefCell<NoteLists>>);

#[derive(Debug, Default)]
pub(super) struct NoteLists {
    pub(super) unknown_fields: Vec<String>,
    pub(super) broken_rules: Vec<String>,
}

impl Notes {
    pub(super) fn broken_rule(&self, text: impl Into<String>) {
        self.0.borrow_mut().broken_rules.push(text.into());
    }

    fn unknown_field(&self, path: String) {
        self.0.borrow_mut().unknown_fields.push(path);
    }

    pub(super) fn take(&self) -> NoteLists {
        self.0.take()
    }
}

/// The fields of one table that have not been read yet.
#[derive(Debug)]
pub(super) struct Fields {
    path: String,
    table: Table,
    pub(super) notes: Notes,
}

type Result<T> = std::result::Result<T, VectorError>;

impl Fields {
    pub(super) fn root(table: Table) -> Self {
        Self { path: String::new(), table, notes: Notes::default() }
    }

    /// The fields of a table that was found under `name`.
    pub(super) fn child(&self, name: &str, table: Table) -> Self {
        Self { path: self.path_of(name), table, notes: self.notes.clone() }
    }

    /// Full name of a field.
    pub(super) fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// Everything that is left over is unknown.
    pub(super) fn finish(self) {
        for name in self.table.keys() {
            self.notes.unknown_field(self.path_of(name));
        }
    }

    pub(super) fn error(&self, name: &str, text: impl std::fmt::Display) -> VectorError {
        VectorError::new(format!("`{}` {text}", self.path_of(name)))
    }

    pub(super) fn missing(&self, name: &str) -> VectorError {
        self.error(name, "is missing")
    }

    /// The value of a field, under any of its spellings; the first is the one messages use.
    pub(super) fn take(&mut self, spellings: &[&str]) -> Result<Option<Value>> {
        let mut found = None;
        for spelling in spellings {
            for key in [(*spelling).to_owned(), camel_case(spelling)] {
                if let Some(value) = self.table.remove(&key) {
                    if found.is_some() {
                        return Err(self.error(&key, "is given twice, under two spellings"));
                    }
                    found = Some(value);
                }
            }
        }
        Ok(found)
    }

    pub(super) fn text(&mut self, spellings: &[&str]) -> Result<Option<String>> {
        match self.take(spellings)? {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong_type(spellings[0], "a string", &other)),
        }
    }

    pub(super) fn integer(&mut self, name: &str) -> Result<Option<i64>> {
        match self.take(&[name])? {
            None => Ok(None),
            Some(Value::Integer(value)) => Ok(Some(value)),
            Some(other) => Err(self.wrong_type(name, "an integer", &other)),
        }
    }

    pub(super) fn count(&mut self, name: &str) -> Result<Option<usize>> {
        let Some(value) = self.integer(name)? else { return Ok(None) };
        usize::try_from(value).map(Some).map_err(|_| self.error(name, "must not be negative"))
    }

    pub(super) fn float(&mut self, spellings: &[&str]) -> Result<Option<f64>> {
        match self.take(spellings)? {
            None => Ok(None),
            Some(Value::Float(value)) => Ok(Some(value)),
            Some(Value::Integer(value)) => Ok(Some(value as f64)),
            Some(other) => Err(self.wrong_type(spellings[0], "a number", &other)),
        }
    }

    pub(super) fn flag(&mut self, name: &str) -> Result<Option<bool>> {
        match self.take(&[name])? {
            None => Ok(None),
            Some(Value::Boolean(value)) => Ok(Some(value)),
            Some(other) => Err(self.wrong_type(name, "true or false", &other)),
        }
    }

    pub(super) fn time(&mut self, name: &str) -> Result<Option<DateTime<Utc>>> {
        let parsed = match self.take(&[name])? {
            None => return Ok(None),
            Some(Value::Datetime(value)) => to_utc(&value),
            Some(Value::String(text)) => text.parse().ok(),
            Some(other) => return Err(self.wrong_type(name, "a datetime", &other)),
        };
        parsed.map(Some).ok_or_else(|| self.error(name, "is not a date with a time"))
    }

    pub(super) fn table(&mut self, spellings: &[&str]) -> Result<Option<Fields>> {
        match self.take(spellings)? {
            None => Ok(None),
            Some(Value::Table(table)) => Ok(Some(self.child(spellings[0], table))),
            Some(other) => Err(self.wrong_type(spellings[0], "a table", &other)),
        }
    }

    pub(super) fn tables(&mut self, spellings: &[&str]) -> Result<Option<Vec<Fields>>> {
        let name = spellings[0];
        let Some(values) = self.array(spellings)? else { return Ok(None) };
        let tables = values.into_iter().enumerate().map(|(position, value)| match value {
            Value::Table(table) => Ok(self.child(&format!("{name}[{position}]"), table)),
            other => Err(self.wrong_type(name, "an array of tables", &other)),
        });
        tables.collect::<Result<_>>().map(Some)
    }

    pub(super) fn texts(&mut self, name: &str) -> Result<Option<Vec<String>>> {
        let Some(values) = self.array(&[name])? else { return Ok(None) };
        let texts = values.into_iter().map(|value| match value {
            Value::String(text) => Ok(text),
            other => Err(self.wrong_type(name, "an array of strings", &other)),
        });
        texts.collect::<Result<_>>().map(Some)
    }

    pub(super) fn positions(&mut self, name: &str) -> Result<Option<Vec<usize>>> {
        let Some(values) = self.array(&[name])? else { return Ok(None) };
        let positions = values.into_iter().map(|value| {
            let position = value.as_integer().and_then(|number| usize::try_from(number).ok());
            position.ok_or_else(|| self.wrong_type(name, "an array of positions", &value))
        });
        positions.collect::<Result<_>>().map(Some)
    }

    fn array(&mut self, spellings: &[&str]) -> Result<Option<Vec<Value>>> {
        match self.take(spellings)? {
            None => Ok(None),
            Some(Value::Array(values)) => Ok(Some(values)),
            Some(other) => Err(self.wrong_type(spellings[0], "an array", &other)),
        }
    }

    /// All fields that are left, as they are.
    pub(super) fn rest(&mut self) -> Table {
        std::mem::take(&mut self.table)
    }

    pub(super) fn wrong_type(&self, name: &str, wanted: &str, found: &Value) -> VectorError {
        self.error(name, format_args!("must be {wanted}, not {} `{found}`", found.type_str()))
    }
}

fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let mut camel = words.next().unwrap_or_default().to_owned();
    for word in words {
        let (first, rest) = word.split_at(word.len().min(1));
        camel.push_str(&first.to_ascii_uppercase());
        camel.push_str(rest);
    }
    camel
}

/// The instant, where one without an offset is UTC.
fn to_utc(value: &Datetime) -> Option<DateTime<Utc>> {
    let (date, time) = (value.date?, value.time?);
    let date = NaiveDate::from_ymd_opt(date.year.into(), date.month.into(), date.day.into())?;
    let time = NaiveTime::from_hms_nano_opt(
        time.hour.into(),
        time.minute.into(),
        time.second.unwrap_or(0).into(),
        time.nanosecond.unwrap_or(0),
    )?;
    let offset_minutes = match value.offset {
        Some(toml::value::Offset::Custom { minutes }) => i64::from(minutes),
        Some(toml::value::Offset::Z) | None => 0,
    };
    let local = NaiveDateTime::new(date, time);
    Some(local.checked_sub_signed(TimeDelta::minutes(offset_minutes))?.and_utc())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str) -> Fields {
        Fields::root(text.parse().unwrap())
    }

    #[test]
    fn both_spellings_are_read_but_not_at_once() {
        assert_eq!(fields("maxTokens = 1").integer("max_tokens").unwrap(), Some(1));
        assert!(fields("maxTokens = 1\nmax_tokens = 1").integer("max_tokens").is_err());
    }

    #[test]
    fn leftovers_are_unknown_fields() {
        let mut root = fields("[a]\nb = 1\nc = 2");
        let notes = root.notes.clone();
        let mut a = root.table(&["a"]).unwrap().unwrap();
        a.integer("b").unwrap();
        a.finish();
        root.finish();
        assert_eq!(notes.take().unknown_fields, ["a.c"]);
    }

    #[test]
    fn times_need_neither_seconds_nor_an_offset() {
        let mut short =
            fields("a = 2024-06-01T00:00Z\nb = 2024-06-01T00:00\nc = 2024-06-01T02:00+02:00");
        let midnight = "2024-06-01T00:00:00Z".parse().ok();
        assert_eq!(short.time("a").unwrap(), midnight);
        assert_eq!(short.time("b").unwrap(), midnight);
        assert_eq!(short.time("c").unwrap(), midnight);
    }

    #[test]
    fn messages_name_the_whole_path() {
        let mut root = fields("[[items]]\ntokens = \"7\"");
        let mut items = root.tables(&["items"]).unwrap().unwrap();
        let error = items[0].integer("tokens").unwrap_err();
        assert_eq!(error.to_string(), "`items[0].tokens` must be an integer, not string `\"7\"`");
    }
}
