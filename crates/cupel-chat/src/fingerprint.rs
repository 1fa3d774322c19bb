//! Fingerprints, by which a message is recognized without its text.

use std::hash::Hasher;

use cupel_renderings::walk::end_of_string;
use siphasher::sip::SipHasher13;

use crate::Request;
use crate::conversation::{Fixed, FixedPart};
use crate::json::Json;
use crate::message::{Content, Piece};

/// Marks for the provider's cache, which say where and not what.
const MARKS: [&str; 2] = ["cache_control", "cacheControl"];

/// The levels below which key order, escapes and marks count: JSON that is nested deeper is content of a
/// tool, which nobody writes anew.
const DEEPEST: usize = 12;

impl Request {
    /// A number for each message that is the same whenever the message says the same. White space
    /// between fields, the order of fields, escapes in texts and marks for the provider's cache make no
    /// difference, nor does it matter whether a text stands by itself or as the only block of a
    /// list: clients that move a mark write one for the other. Everything else does. It depends on
    /// nothing else, on no machine and no version.
    ///
    /// ```
    /// use cupel_chat::Request;
    ///
    /// let plain = Request::parse(r#"[{"role": "user", "content": "Hi"}]"#, None)?;
    /// let tight = Request::parse(r#"[{"role":"user","content":"Hi"}]"#, None)?;
    /// let other = Request::parse(r#"[{"role":"user","content":"Ho"}]"#, None)?;
    /// assert_eq!(plain.fingerprints(), tight.fingerprints());
    /// assert_ne!(plain.fingerprints(), other.fingerprints());
    /// # Ok::<(), cupel_chat::ChatError>(())
    /// ```
    #[must_use]
    pub fn fingerprints(&self) -> Vec<u64> {
        let messages = self.conversation().messages.iter();
        messages.map(|message| of_json(message.json.view())).collect()
    }

    /// The same, for whoever has those of an earlier request at hand: a message that stands in the same
    /// place as it is written there is not read again.
    ///
    /// ```
    /// use cupel_chat::Request;
    ///
    /// let first = Request::parse(r#"[{"role": "user", "content": "Hi"}]"#, None)?;
    /// let text = r#"[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]"#;
    /// let second = Request::parse(text, None)?;
    /// let known = first.fingerprints();
    /// assert_eq!(second.fingerprints_after(&first, &known), second.fingerprints());
    /// # Ok::<(), cupel_chat::ChatError>(())
    /// ```
    #[must_use]
    pub fn fingerprints_after(&self, earlier: &Self, known: &[u64]) -> Vec<u64> {
        let old = earlier.conversation().messages.iter().zip(known);
        let mut old = old.map(|(message, print)| (message.json.view().raw(), *print));
        let messages = self.conversation().messages.iter().map(|message| message.json.view());
        messages
            .map(|json| match old.next() {
                Some((raw, print)) if raw == json.raw() => print,
                _ => of_json(json),
            })
            .collect()
    }

    /// The same for what stands beside the messages: system prompt, tools, the schema of the answer.
    #[must_use]
    pub fn head_fingerprint(&self) -> u64 {
        let mut hasher = SipHasher13::new();
        // Clients write fields in any order; the provider does not see it.
        let mut all: Vec<&Fixed> = self.conversation().fixed.iter().collect();
        all.sort_by_key(|fixed| &fixed.path);
        for fixed in all {
            write_fixed(fixed, &mut hasher);
        }
        hasher.finish()
    }
}

fn of_json(json: Json<'_>) -> u64 {
    let mut hasher = SipHasher13::new();
    write_json(json, 0, &mut hasher);
    hasher.finish()
}

fn write_fixed(fixed: &Fixed, hasher: &mut SipHasher13) {
    write_text(&fixed.path, hasher);
    for Piece { content, .. } in &fixed.pieces {
        match content {
            // Such a part is JSON as it is written.
            Content::Text(text) if fixed.part == FixedPart::Other => match Json::parse(text) {
                Ok(json) => write_json(json, 0, hasher),
                Err(_) => write_text(text, hasher),
            },
            Content::Text(text) => write_text(text, hasher),
            Content::Image(_, json) | Content::File(_, json) | Content::Opaque(json) => {
                write_json(json.view(), 0, hasher);
            }
        }
    }
    for definition in &fixed.definitions {
        write_json(definition.view(), 0, hasher);
    }
}

/// A text, and where it ends.
fn write_text(text: &str, hasher: &mut SipHasher13) {
    hasher.write(text.as_bytes());
    hasher.write_u8(0xFF);
}

/// The meaning of a value: fields in the order of their names, without marks.
fn write_json(json: Json<'_>, depth: usize, hasher: &mut SipHasher13) {
    if depth >= DEEPEST {
        return write_tight(json.raw(), hasher);
    }
    if let Some(text) = json.str() {
        hasher.write_u8(b'"');
        write_text(&text, hasher);
    } else if let Some(object) = json.object() {
        let mut fields: Vec<_> =
            object.fields().filter(|(name, _)| !MARKS.contains(name)).collect();
        // Of fields with one name the order counts: the last is what most readers take.
        fields.sort_by_key(|(name, _)| *name);
        hasher.write_u8(b'{');
        for (name, value) in fields {
            write_text(name, hasher);
            match only_text(name, value) {
                Some(text) => write_json(text, depth + 1, hasher),
                None => write_json(value, depth + 1, hasher),
            }
        }
        hasher.write_u8(b'}');
    } else if let Some(list) = json.list() {
        hasher.write_u8(b'[');
        for value in list {
            write_json(value, depth + 1, hasher);
        }
        hasher.write_u8(b']');
    } else {
        // A number ends where the next value begins.
        write_text(json.raw(), hasher);
    }
}

/// The text of a `content` that is one block of text and nothing else.
fn only_text<'t>(name: &str, value: Json<'t>) -> Option<Json<'t>> {
    if name != "content" || !value.is_list() {
        return None;
    }
    let list = value.list()?;
    let [block] = list.as_slice() else { return None };
    let block = block.object()?;
    let is_text = matches!(block.str("type")?.as_ref(), "text" | "input_text");
    let is_plain =
        |(name, _): (&str, Json<'_>)| matches!(name, "type" | "text") || MARKS.contains(&name);
    let text = block.get("text").filter(|text| text.is_text())?;
    (is_text && block.fields().all(is_plain)).then_some(text)
}

/// JSON without the white space between its parts.
fn write_tight(raw: &str, hasher: &mut SipHasher13) {
    let bytes = raw.as_bytes();
    let (mut at, mut start) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = end_of_string(bytes, at).unwrap_or(bytes.len()),
            b' ' | b'\t' | b'\n' | b'\r' => {
                hasher.write(&bytes[start..at]);
                at += 1;
                start = at;
            }
            _ => at += 1,
        }
    }
    hasher.write(&bytes[start..]);
}

#[cfg(test)]
mod tests {
    use crate::Format;
    use crate::testing::read;

    fn of(message: &str) -> u64 {
        read(&format!("[{message}]"), Format::Anthropic).fingerprints()[0]
    }

    #[test]
    fn a_message_that_says_the_same_is_the_same_however_it_is_written() {
        let plain = r#"{"role":"user","content":[{"type":"text","text":"a  bé"}]}"#;
        for same in [
            "{ \"role\" : \"user\",\n \"content\":[ {\"type\":\"text\", \"text\":\"a  bé\"} ] }",
            r#"{"role":"user","content":[{"type":"text","text":"a  bé","cache_control":{"type":"ephemeral"}}]}"#,
            r#"{"content":[{"text":"a  bé","type":"text"}],"role":"user"}"#,
            r#"{"role":"user","content":[{"type":"text","text":"a  b\u00e9"}]}"#,
            r#"{"role":"user","content":"a  bé"}"#,
        ] {
            assert_eq!(of(plain), of(same), "{same}");
        }
        for other in [
            r#"{"role":"user","content":[{"type":"text","text":"a bé"}]}"#,
            r#"{"role":"user","content":[{"type":"text","text":"a  bé","citations":null}]}"#,
            r#"{"role":"user","content":[{"type":"text","text":"a  \"bé"}]}"#,
            r#"{"role":"user","content":[{"type":"text","text":"a "},{"type":"text","text":" bé"}]}"#,
            r#"{"role":"assistant","content":[{"type":"text","text":"a  bé"}]}"#,
        ] {
            assert_ne!(of(plain), of(other), "{other}");
        }
    }

    #[test]
    fn a_result_is_a_text_or_one_block_of_text() {
        let result = |content: &str| {
            format!(
                r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"x","content":{content}}}]}}"#
            )
        };
        assert_eq!(of(&result("\"r\"")), of(&result(r#"[{"type":"text","text":"r"}]"#)));
        assert_ne!(of(&result("\"r\"")), of(&result(r#"[{"type":"text","text":"r","n":1}]"#)));
    }

    #[test]
    fn marks_on_results_and_in_words_are_told_apart() {
        let result = |inner: &str| {
            format!(
                r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"x","content":[{{"type":"text","text":"r"{inner}}}]}}]}}"#
            )
        };
        assert_eq!(of(&result("")), of(&result(r#","cache_control":{"type":"ephemeral"}"#)));
        let words = |text: &str| format!(r#"{{"role":"user","content":"{text}"}}"#);
        assert_ne!(of(&words("cache_control")), of(&words("cacheControl")));
    }

    #[test]
    fn a_fingerprint_never_changes() {
        // SipHash-1-3 with a key of zeros, as other programs have it.
        assert_eq!(of(r#"{"role":"user","content":"Hi"}"#), 7_777_243_968_461_393_439);
    }

    #[test]
    fn the_head_is_what_stands_beside_the_messages() {
        let head = |system: &str, text: &str| {
            let text = format!(
                r#"{{"system":"{system}","tools":[{{"name":"f","input_schema":{{}}}}],"messages":[{{"role":"user","content":"{text}"}}]}}"#
            );
            read(&text, Format::Anthropic).head_fingerprint()
        };
        assert_eq!(head("s", "a"), head("s", "b"));
        assert_ne!(head("s", "a"), head("t", "a"));
    }

    #[test]
    fn fields_that_no_model_reads_are_no_part_of_the_head_and_no_order_counts() {
        let head = |fields: &str| {
            let text = format!(r#"{{{fields},"input":[{{"role":"user","content":"a"}}]}}"#);
            read(&text, Format::OpenAiResponses).head_fingerprint()
        };
        let plain =
            head(r#""instructions":"s","text":{"format":{"type":"json_schema","name":"n"}}"#);
        for same in [
            r#""text":{"format":{"name":"n","type":"json_schema"}},"instructions":"s""#,
            r#""client_metadata":{"b":"1","a":"2"},"instructions":"s","text":{"format":{"type":"json_schema","name":"n"}},"x":"y""#,
        ] {
            assert_eq!(head(same), plain, "{same}");
        }
        assert_ne!(
            head(r#""instructions":"s","text":{"format":{"type":"json_schema","name":"m"}}"#),
            plain
        );
    }
}
