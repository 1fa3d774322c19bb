//! A span of OpenTelemetry, however it is written: OTLP JSON, what consoles print, or a row of a table.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::row::{Row, first, first_text, unwrapped};
use super::time;

/// Where spans have their attributes.
pub(super) const ATTRIBUTES: [&str; 4] =
    ["attributes", "span_attributes", "SpanAttributes", "Attributes"];
/// Fields of rows of spans.
const SPAN_IDS: [&str; 7] =
    ["spanId", "span_id", "SpanId", "trace_state", "context", "context.span_id", "parent_span_id"];

/// The columns of tables of spans.
pub(super) const COLUMNS: &[&str] = &[
    "attributes",
    "span_attributes",
    "SpanAttributes",
    "Attributes",
    "spanId",
    "span_id",
    "SpanId",
    "name",
    "start_time",
    "startTimeUnixNano",
    "Timestamp",
    "timestamp",
    "events",
    "context",
    "context.span_id",
    "context.trace_id",
    "parent_id",
    "parent_span_id",
];

/// Returns true if a row has an attribute whose name begins so.
pub(super) fn has_attribute(row: &Row<'_>, beginnings: &[&str]) -> bool {
    let is_it = |name: &str| {
        let name = name.strip_prefix("attributes.").unwrap_or(name);
        beginnings.iter().any(|beginning| name.starts_with(beginning))
    };
    row.fields.keys().any(|name| is_it(name))
        || ATTRIBUTES.iter().filter_map(|name| row.raw(name)).any(|raw| {
            beginnings.iter().any(|beginning| {
                let word = beginning.trim_end_matches('.');
                raw.contains(&format!("\"{word}")) || raw.contains(&format!("\\\"{word}"))
            })
        })
}

/// Returns true if a row is a span, of whatever it may be.
pub(super) fn is_span(row: &Row<'_>) -> bool {
    row.has_any(&ATTRIBUTES) && row.has_any(&SPAN_IDS)
}

/// A span, with its attributes by name.
#[derive(Debug, Default)]
pub(super) struct Span {
    pub(super) attributes: Map<String, Value>,
    /// Its events: the name, and what it says.
    pub(super) events: Vec<(String, Map<String, Value>)>,
    pub(super) time: Option<i64>,
    pub(super) name: Option<String>,
}

impl Span {
    pub(super) fn of(span: &Value) -> Self {
        let times = [
            "startTimeUnixNano",
            "start_time_unix_nano",
            "start_time",
            "startTime",
            "StartTime",
            "Timestamp",
            "timestamp",
        ];
        let events = unwrapped(&span["events"]);
        let event = |event: &Value| {
            (
                first_text(event, &["name", "Name", "eventName"]).unwrap_or_default(),
                attributes(event),
            )
        };
        Self {
            attributes: attributes(span),
            events: events
                .as_array()
                .map(|events| events.iter().map(event).collect())
                .unwrap_or_default(),
            time: first(span, &times).and_then(time::micros),
            name: first_text(span, &["name", "span_name", "SpanName"]),
        }
    }

    pub(super) fn text(&self, names: &[&str]) -> Option<String> {
        let texts = names.iter().filter_map(|name| self.attributes.get(*name)?.as_str());
        texts.map(str::to_owned).find(|text| !text.is_empty())
    }

    /// An attribute, or what attributes with numbers in their names are together.
    pub(super) fn value(&self, name: &str) -> Option<Value> {
        value(&self.attributes, name)
    }
}

/// An attribute, taken out of its text; or a list, of attributes with numbers in their names, as in
/// `llm.input_messages.0.message.role`.
pub(super) fn value(attributes: &Map<String, Value>, name: &str) -> Option<Value> {
    if let Some(value) = attributes.get(name) {
        return Some(unwrapped(value).into_owned());
    }
    let prefix = format!("{name}.");
    let mut items: BTreeMap<usize, Value> = BTreeMap::new();
    for (path, value) in attributes {
        let Some(rest) = path.strip_prefix(&prefix) else { continue };
        let (number, rest) = rest.split_once('.').unwrap_or((rest, ""));
        let Ok(number) = number.parse::<usize>() else { continue };
        let path: Vec<&str> = if rest.is_empty() { Vec::new() } else { rest.split('.').collect() };
        set(items.entry(number).or_insert(Value::Null), &path, value);
    }
    (!items.is_empty()).then(|| items.into_values().collect())
}

/// Puts a value where a path leads; numbers in it are places of a list.
pub(super) fn set(target: &mut Value, path: &[&str], value: &Value) {
    let Some((first, rest)) = path.split_first() else {
        *target = value.clone();
        return;
    };
    /// A list in attributes is no longer than this.
    const LONGEST: usize = 1 << 16;
    match first.parse::<usize>() {
        Ok(number) if number < LONGEST => {
            if !target.is_array() {
                *target = json!([]);
            }
            if let Value::Array(list) = target {
                if list.len() <= number {
                    list.resize(number + 1, Value::Null);
                }
                set(&mut list[number], rest, value);
            }
        }
        _ => {
            if !target.is_object() {
                *target = json!({});
            }
            set(&mut target[*first], rest, value);
        }
    }
}

/// All attributes of a span or event by name.
fn attributes(span: &Value) -> Map<String, Value> {
    let mut found = Map::new();
    for (name, value) in span.as_object().into_iter().flatten() {
        let own = name.strip_prefix("attributes.").unwrap_or(name);
        let is_attribute =
            own.len() < name.len() || own.starts_with("gen_ai.") || own.starts_with("llm.");
        if is_attribute && !value.is_null() {
            nested(own, value, &mut found);
        }
    }
    let Some(list) = first(span, &ATTRIBUTES) else { return found };
    match &*unwrapped(list) {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| nested(name, value, &mut found));
        }
        Value::Array(list) => found.extend(list.iter().filter_map(|entry| {
            let name = entry["key"].as_str().or_else(|| entry["keys"].as_str())?;
            let value = entry.get("value").or_else(|| entry.get("values"))?;
            Some((name.to_owned(), any_value(value)))
        })),
        _ => {}
    }
    found
}

/// Attributes that some tables nest by the dots of their names. Values of ours that are objects by themselves
/// are texts of JSON, so that an object is a step of a name.
fn nested(name: &str, value: &Value, found: &mut Map<String, Value>) {
    match value {
        Value::Object(inner) if name.matches('.').count() < 6 && !inner.is_empty() => {
            inner.iter().for_each(|(own, value)| nested(&format!("{name}.{own}"), value, found));
        }
        Value::Null => {}
        _ => {
            found.insert(name.to_owned(), value.clone());
        }
    }
}

/// A value of OTLP, which says its type.
pub(super) fn any_value(value: &Value) -> Value {
    let Value::Object(fields) = value else { return value.clone() };
    let typed = [
        "stringValue",
        "string_value",
        "boolValue",
        "bool_value",
        "doubleValue",
        "double_value",
        "intValue",
        "int_value",
    ];
    if let Some(plain) = typed.iter().find_map(|name| fields.get(*name)) {
        return plain.clone();
    }
    let values = |names: [&str; 2]| {
        names.iter().find_map(|name| fields.get(*name)).map(|list| &list["values"])
    };
    if let Some(list) = values(["arrayValue", "array_value"]) {
        return list.as_array().into_iter().flatten().map(any_value).collect();
    }
    if let Some(list) = values(["kvlistValue", "kvlist_value"]) {
        let entry = |entry: &Value| {
            (entry["key"].as_str().unwrap_or_default().to_owned(), any_value(&entry["value"]))
        };
        return Value::Object(list.as_array().into_iter().flatten().map(entry).collect());
    }
    if fields.is_empty() { Value::Null } else { value.clone() }
}
