//! Texts that no rule knows: counted, never free, but for a list of fields that no model reads.

use crate::json::{Json, Object};
use crate::message::{Nature, Piece};
use crate::text::Text;
use crate::uncounted::is_uncounted;

/// Depth to which unknown values are searched for fields that count nothing. Deeper values count as
/// it is written.
const DEEPEST: usize = 8;

/// Adds what an object says beside the fields that a rule read. That is nobody's words: at most part
/// of an answer or a document.
pub(crate) fn push_rest(
    object: &Object<'_>,
    read: &[&str],
    nature: Nature,
    pieces: &mut Vec<Piece>,
) {
    let nature = if nature == Nature::Words { Nature::Aside } else { nature };
    push_rest_as(object, read, pieces, |_| nature);
}

/// Adds the rest of an assistant's message. Servers in the manner of OpenAI put reasoning beside the
/// content, each under a name of its own.
pub(crate) fn push_rest_of_assistant(object: &Object<'_>, read: &[&str], pieces: &mut Vec<Piece>) {
    push_rest_as(object, read, pieces, |name| match name {
        "reasoning" | "reasoning_content" | "reasoning_details" | "thinking"
        | "thinking_blocks" => Nature::Thought,
        "refusal" => Nature::Words,
        _ => Nature::Aside,
    });
}

/// Adds what an object says beside the fields that a rule read, each field as what its name tells.
pub(crate) fn push_rest_as(
    object: &Object<'_>,
    read: &[&str],
    pieces: &mut Vec<Piece>,
    nature_of: impl Fn(&str) -> Nature,
) {
    for (name, value) in object.fields() {
        if !read.contains(&name) && !is_uncounted(name) {
            push_unknown(value, nature_of(name), pieces);
        }
    }
}

/// Adds a value that no rule knows.
pub(crate) fn push_unknown(value: Json<'_>, nature: Nature, pieces: &mut Vec<Piece>) {
    if let Some(text) = unknown_text(value) {
        pieces.push(Piece::text(nature, text));
    }
}

/// Text of a value that no rule knows: a text as it is, anything else as it is written, without
/// the fields that count nothing. `None` if there is no text in it.
fn unknown_text(value: Json<'_>) -> Option<Text> {
    if let Some(text) = value.text() {
        return Some(text).filter(|text| !text.is_empty());
    }
    let mut counted = String::new();
    if !write_counted(value, 0, &mut counted) {
        return None;
    }
    Some(if counted == value.raw() { value.raw_text() } else { counted.into() })
}

/// Returns true if there is a text in a value beside those that count nothing.
pub(crate) fn has_text(value: Json<'_>) -> bool {
    unknown_text(value).is_some()
}

/// Writes a value without the fields that count nothing. Returns whether there is a text in it.
fn write_counted(value: Json<'_>, depth: usize, out: &mut String) -> bool {
    if depth >= DEEPEST || value.is_text() {
        out.push_str(value.raw());
        return value.raw().contains('"') && value.raw() != "\"\"";
    }
    let mut has_text = false;
    if let Some(fields) = value.is_object().then(|| value.object()).flatten() {
        let is_secret = fields.str("type").is_some_and(|kind| is_secret(&kind));
        out.push('{');
        for (name, value) in fields.fields() {
            if is_uncounted(name) || is_secret && name == "data" {
                continue;
            }
            separate(out);
            out.extend(["\"", name, "\":"]);
            has_text |= write_counted(value, depth + 1, out);
        }
        out.push('}');
    } else if let Some(elements) = value.is_list().then(|| value.list()).flatten() {
        out.push('[');
        for element in elements {
            separate(out);
            has_text |= write_counted(element, depth + 1, out);
        }
        out.push(']');
    } else {
        out.push_str(value.raw());
    }
    has_text
}

/// Returns true if the data of such a block is for the service alone.
fn is_secret(kind: &str) -> bool {
    kind.ends_with("encrypted") || kind == "redacted_thinking"
}

fn separate(out: &mut String) {
    if !out.ends_with(['{', '[']) {
        out.push(',');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Content;

    fn rest(text: &str, read: &[&str]) -> Vec<String> {
        let mut pieces = Vec::new();
        let object = Json::parse(text).unwrap().object().unwrap();
        push_rest(&object, read, Nature::Words, &mut pieces);
        let text = |piece: &Piece| match &piece.content {
            Content::Text(text) => text.to_string(),
            _ => String::new(),
        };
        pieces.iter().map(text).collect()
    }

    #[test]
    fn unknown_texts_are_found_at_every_depth() {
        let text =
            r#"{"id":"x","content":"read","note":"a","n":3,"deep":[{"b":{"c":"d","url":"u"}},1]}"#;
        assert_eq!(rest(text, &["content"]), ["a", r#"[{"b":{"c":"d"}},1]"#]);
    }

    #[test]
    fn what_holds_no_text_adds_nothing() {
        assert_eq!(
            rest(r#"{"a":[1,2.5],"b":{"c":true},"d":null,"e":"","f":{"id":"x"}}"#, &[]),
            [""; 0]
        );
    }

    #[test]
    fn what_is_encrypted_counts_nothing() {
        let text = r#"{"details":[{"type":"reasoning.encrypted","data":"gAAAA"},{"type":"x","data":"seen"}]}"#;
        assert_eq!(rest(text, &[]), [r#"[{},{"data":"seen"}]"#]);
    }

    #[test]
    fn no_depth_is_too_deep() {
        let deep = format!(r#"{{"a":{}"x"{}}}"#, "[".repeat(50_000), "]".repeat(50_000));
        assert_eq!(rest(&deep, &[])[0].len(), 100_003);
    }
}
