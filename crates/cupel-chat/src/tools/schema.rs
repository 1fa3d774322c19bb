//! Shorter tool definitions that take exactly the calls that the whole ones take.
//!
//! Only annotations go: what a JSON Schema says to a reader and not to a validator. A property that is *named*
//! `description` or `title` is no annotation, and what `enum`, `const` and `required` list is what a call is
//! validated by. So an enum is never cut, however long it is.

use std::borrow::Cow;
use std::ops::Range;

use cupel_renderings::walk::Walk;
use serde_json::Value;

use super::edit::Edits;
use crate::json::Json;
use crate::text::range_in;

/// Steps of shortening a definition. Each takes what the one before it leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ToolStep {
    /// The description of the tool ends after its second sentence.
    Sentences,
    /// The schema has no titles, examples, comments and descriptions of single values of an enum.
    Examples,
    /// Descriptions in the schema end after their first sentence.
    Schema,
    /// The description of the tool ends after its first sentence, and the schema has no defaults.
    Defaults,
    /// The schema has no descriptions.
    Bare,
}

impl ToolStep {
    /// All steps, the mildest first.
    pub const ALL: [Self; 5] =
        [Self::Sentences, Self::Examples, Self::Schema, Self::Defaults, Self::Bare];

    /// The name of the step.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sentences => "sentences",
            Self::Examples => "examples",
            Self::Schema => "schema",
            Self::Defaults => "defaults",
            Self::Bare => "bare",
        }
    }

    /// The sentences that are left of the description of a tool.
    fn sentences(self) -> usize {
        if self < Self::Defaults { 2 } else { 1 }
    }

    fn takes(self, annotation: &str) -> Fate {
        match annotation {
            "description" if self >= Self::Bare => Fate::Goes,
            "description" if self >= Self::Schema => Fate::FirstSentence,
            "default" if self >= Self::Defaults => Fate::Goes,
            name if EXAMPLES.contains(&name) && self >= Self::Examples => Fate::Goes,
            _ => Fate::Stays,
        }
    }
}

/// Annotations beside `description` and `default`.
const EXAMPLES: [&str; 8] = [
    "title",
    "examples",
    "example",
    "$comment",
    "markdownDescription",
    "enumDescriptions",
    "markdownEnumDescriptions",
    "x-enum-descriptions",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Stays,
    FirstSentence,
    Goes,
}

/// Keywords that hold one schema, or a list of them.
const SCHEMAS: [&str; 19] = [
    "items",
    "prefixItems",
    "additionalItems",
    "additionalProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contains",
    "propertyNames",
    "contentSchema",
    "not",
    "if",
    "then",
    "else",
    "anyOf",
    "oneOf",
    "allOf",
    "any_of",
    "one_of",
    "all_of",
];

/// Keywords that hold schemas by names of the user's own.
const NAMED_SCHEMAS: [&str; 6] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];

/// Where a definition has what can be shorter.
pub(super) struct Parts<'t> {
    pub(super) description: Option<Json<'t>>,
    pub(super) schema: Option<Json<'t>>,
}

/// A definition as short as a step makes it; `None` if there is nothing to take.
pub(super) fn shortened(definition: Json<'_>, parts: &Parts<'_>, step: ToolStep) -> Option<String> {
    let mut edits = Edits::new(definition.raw());
    if let Some(description) = parts.description {
        cut_sentences(description, step.sentences(), &mut edits);
    }
    if let Some(schema) = parts.schema.filter(|schema| is_understood(*schema)) {
        cut_schema(schema.raw(), step, &mut edits);
    }
    let text = edits.apply()?;
    (text.len() < definition.raw().len()).then_some(text)
}

/// Returns true if annotations can be told from what else a schema says. One that refers to an annotation of its own,
/// or is nested deeper than anybody reads, stays as it is.
fn is_understood(schema: Json<'_>) -> bool {
    serde_json::from_str(schema.raw()).is_ok_and(|schema: Value| !refers_to_annotations(&schema))
}

fn refers_to_annotations(value: &Value) -> bool {
    let is_annotation =
        |name: &str| ["description", "default"].contains(&name) || EXAMPLES.contains(&name);
    match value {
        Value::Array(list) => list.iter().any(refers_to_annotations),
        Value::Object(fields) => fields.iter().any(|(name, value)| {
            let target = value.as_str().filter(|_| name.to_ascii_lowercase().ends_with("ref"));
            let goes_there =
                |target: &str| target.contains('%') || target.split(['/', '#']).any(is_annotation);
            target.is_some_and(goes_there) || refers_to_annotations(value)
        }),
        _ => false,
    }
}

fn cut_schema(schema: &str, step: ToolStep, edits: &mut Edits<'_>) {
    for Field { name, value, range } in fields(schema, edits.text()) {
        let json = Json::known(None, value);
        match step.takes(&name) {
            Fate::Goes => edits.delete(range),
            Fate::FirstSentence => cut_sentences(json, 1, edits),
            Fate::Stays if SCHEMAS.contains(&name.as_ref()) => {
                for schema in json.list().unwrap_or_else(|| vec![json]) {
                    cut_schema(schema.raw(), step, edits);
                }
            }
            Fate::Stays if NAMED_SCHEMAS.contains(&name.as_ref()) => {
                for Field { value, .. } in fields(value, edits.text()) {
                    cut_schema(value, step, edits);
                }
            }
            Fate::Stays => {}
        }
    }
}

struct Field<'t> {
    name: Cow<'t, str>,
    value: &'t str,
    /// From the beginning of the name to the end of the value.
    range: Range<usize>,
}

/// The fields of an object that is a part of a text; none of anything else.
fn fields<'t>(object: &'t str, text: &str) -> Vec<Field<'t>> {
    let mut fields = Vec::new();
    let Some(mut walk) = Walk::inside(object, b'{') else { return fields };
    while !walk.is_at(b'}') {
        let (Some(key), Some(value)) = (walk.value(), walk.value()) else { break };
        let (Some(from), Some(to)) = (range_in(text, key), range_in(text, value)) else { break };
        let name = Json::known(None, key).str().unwrap_or_default();
        fields.push(Field { name, value, range: from.start..to.end });
    }
    fields
}

/// Cuts a text behind so many sentences.
fn cut_sentences(text: Json<'_>, count: usize, edits: &mut Edits<'_>) {
    // A text that is no Unicode is not written again.
    let Ok(words) = serde_json::from_str::<String>(text.raw()) else { return };
    let short = first_sentences(&words, count);
    if short.len() >= words.len() {
        return;
    }
    let (Some(range), Ok(written)) =
        (range_in(edits.text(), text.raw()), serde_json::to_string(short))
    else {
        return;
    };
    edits.replace(range, written);
}

/// The first sentences of a text. One ends with a full stop, a question or an exclamation mark before white space,
/// or with an empty line; abbreviations and numbers of lists end none.
fn first_sentences(text: &str, count: usize) -> &str {
    let text = text.trim();
    let mut left = count;
    for (at, letter) in text.char_indices() {
        let end = at + letter.len_utf8();
        let rest = &text[end..];
        let is_end = match letter {
            '.' => rest.starts_with(char::is_whitespace) && !is_abbreviation(&text[..at]),
            '!' | '?' => rest.starts_with(char::is_whitespace),
            '。' | '！' | '？' => true,
            '\n' => rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n'),
            _ => false,
        };
        if is_end {
            left = left.saturating_sub(1);
            if left == 0 {
                return text[..end].trim_end();
            }
        }
    }
    text
}

/// Returns true if the full stop behind this ends no sentence.
fn is_abbreviation(before: &str) -> bool {
    const KNOWN: [&str; 10] =
        ["e.g", "i.e", "etc", "vs", "cf", "approx", "incl", "no", "fig", "ca"];
    let from = before.rfind(|letter: char| letter.is_whitespace() || "([\"'".contains(letter));
    let word =
        &before[from.map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8))..];
    let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    is_number || word.chars().count() == 1 || KNOWN.contains(&word.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_people_end_them() {
        for (text, first) in [
            ("Reads a file. Fast.", "Reads a file."),
            ("Reads files, e.g. logs. Fast.", "Reads files, e.g. logs."),
            ("Version 1.2 of it\n\nMore", "Version 1.2 of it"),
            ("1. Call it. 2. Wait.", "1. Call it."),
            ("Really? Yes", "Really?"),
            ("  no end", "no end"),
            ("読む。書く。", "読む。"),
            ("", ""),
        ] {
            assert_eq!(first_sentences(text, 1), first, "{text}");
        }
        assert_eq!(first_sentences("One is. Two is. Three is.", 2), "One is. Two is.");
    }

    #[track_caller]
    fn short(schema: &str, step: ToolStep) -> String {
        let json = Json::parse(schema).unwrap();
        let parts = Parts { description: None, schema: Some(json) };
        shortened(json, &parts, step).unwrap_or_else(|| schema.to_owned())
    }

    #[test]
    fn annotations_go_and_properties_of_their_names_stay() {
        let schema = r#"{"type":"object", "title":"T", "properties":{ "title":{"type":"string","title":"x"},
            "description":{"type":"string","description":"One. Two.","default":"d"}}, "required":["title"]}"#;
        assert_eq!(
            short(schema, ToolStep::Examples),
            r#"{"type":"object", "properties":{ "title":{"type":"string"},
            "description":{"type":"string","description":"One. Two.","default":"d"}}, "required":["title"]}"#
        );
        assert!(short(schema, ToolStep::Schema).contains(r#""description":"One.","default":"d""#));
        assert_eq!(
            short(schema, ToolStep::Bare),
            r#"{"type":"object", "properties":{ "title":{"type":"string"},
            "description":{"type":"string"}}, "required":["title"]}"#
        );
    }

    #[test]
    fn values_that_a_call_is_validated_by_stay() {
        let schema = r#"{"enum":[{"title":"a"},{"description":"b"}],"const":{"default":1},"x":{"title":"t"}}"#;
        assert_eq!(short(schema, ToolStep::Bare), schema);
    }

    #[test]
    fn schemas_within_schemas_are_found() {
        let schema = r##"{"$defs":{"title":{"title":"t","type":"string"}},"anyOf":[{"$ref":"#/$defs/x","title":"t"}],
            "items":[{"title":"a"},true],"not":{"title":"b"},"additionalProperties":{"title":"c"}}"##;
        let kept = r##"{"$defs":{"title":{"type":"string"}},"anyOf":[{"$ref":"#/$defs/x"}],
            "items":[{},true],"not":{},"additionalProperties":{}}"##;
        assert_eq!(short(schema, ToolStep::Examples), kept);
    }

    #[test]
    fn a_schema_that_refers_to_its_annotations_stays() {
        for target in ["#/default", "#/properties/a/examples/0", "#/%64efault"] {
            let schema = format!(r#"{{"default":{{}},"not":{{"$ref":"{target}"}}}}"#);
            assert_eq!(short(&schema, ToolStep::Bare), schema);
        }
        let deep = format!("{}{{\"title\":\"x\"}}{}", "{\"not\":".repeat(9_000), "}".repeat(9_000));
        assert_eq!(short(&deep, ToolStep::Bare), deep);
    }
}
