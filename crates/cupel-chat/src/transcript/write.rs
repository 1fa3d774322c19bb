//! JSON that is put together from parts of a transcript, which stay as they are written.

use crate::json::{Json, Object};

/// A text as JSON.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// An object of fields whose values are JSON already.
pub(super) fn object(fields: &[(&str, String)]) -> String {
    let fields: Vec<String> =
        fields.iter().map(|(name, value)| format!("{}:{value}", quoted(name))).collect();
    format!("{{{}}}", fields.join(","))
}

/// A list of values that are JSON already.
pub(super) fn list(values: &[String]) -> String {
    format!("[{}]", values.join(","))
}

/// An object as it is written, without some of its fields and without those that are null.
pub(super) fn without(object: &Object<'_>, names: &[&str]) -> String {
    let is_kept = |(name, value): &(&str, Json<'_>)| !names.contains(name) && !value.is_null();
    let kept = object.fields().filter(is_kept);
    let fields: Vec<String> =
        kept.map(|(name, value)| format!("{}:{}", quoted(name), value.raw())).collect();
    format!("{{{}}}", fields.join(","))
}

/// An object as it is written, with another value of one field.
pub(super) fn with(object: &Object<'_>, name: &str, value: &str) -> String {
    let rest = without(object, &[name]);
    let rest = rest.strip_suffix('}').unwrap_or(&rest);
    let comma = if rest.len() > 1 { "," } else { "" };
    format!("{rest}{comma}{}:{value}}}", quoted(name))
}

/// A block that is a text.
pub(super) fn text_block(text: &str) -> String {
    object(&[("type", quoted("text")), ("text", quoted(text))])
}

/// A request with the messages one on each line, so that people can read it.
pub(super) fn request(fields: &[(&str, String)], name: &str, messages: &[String]) -> String {
    let field = |(name, value): &(&str, String)| format!("{}: {value}", quoted(name));
    let mut parts: Vec<String> = fields.iter().map(field).collect();
    parts.push(format!("{}: [\n  {}\n ]", quoted(name), messages.join(",\n  ")));
    format!("{{{}}}\n", parts.join(",\n "))
}

/// The beginning of a text, on one line.
pub(super) fn beginning(text: &str) -> String {
    const LONGEST: usize = 60;
    let words: Vec<&str> = text.split_whitespace().take(LONGEST).collect();
    let line = words.join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
