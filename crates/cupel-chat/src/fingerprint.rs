//! What tells a message again that was seen before, without its text.

use std::hash::Hasher;

use cupel_renderings::walk::end_of_string;
use siphasher::sip::SipHasher13;

use crate::Request;
use crate::conversation::Fixed;
use crate::json::Json;
use crate::message::{Content, Piece};

/// Marks for the provider's cache, which say where and not what.
const MARKS: [&str; 2] = ["cache_control", "cacheControl"];

/// How deep marks are looked for: on a message, on its blocks, and on the blocks of a result.
const DEEPEST_MARK: usize = 5;

impl Request {
    /// A number for each message that is the same whenever the message says the same: white space
    /// between its fields and marks for the provider's cache make no difference, everything else
    /// does. It depends on nothing else, on no machine and no version.
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
        for fixed in &self.conversation().fixed {
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

/// A value as it is written, without white space and without marks.
fn write_json(json: Json<'_>, depth: usize, hasher: &mut SipHasher13) {
    let raw = json.raw();
    if depth >= DEEPEST_MARK || !MARKS.iter().any(|mark| raw.contains(mark)) {
        return write_tight(raw, hasher);
    }
    if let Some(object) = json.object() {
        hasher.write_u8(b'{');
        let mut is_first = true;
        for (name, value) in object.fields().filter(|(name, _)| !MARKS.contains(name)) {
            if !std::mem::replace(&mut is_first, false) {
                hasher.write_u8(b',');
            }
            // As most writers write it, so that a message without a mark looks the same.
            let name = serde_json::to_string(&name).unwrap_or_default();
            hasher.write(name.as_bytes());
            hasher.write_u8(b':');
            write_json(value, depth + 1, hasher);
        }
        hasher.write_u8(b'}');
    } else if let Some(list) = json.list() {
        hasher.write_u8(b'[');
        for (at, value) in list.into_iter().enumerate() {
            if at > 0 {
                hasher.write_u8(b',');
            }
            write_json(value, depth + 1, hasher);
        }
        hasher.write_u8(b']');
    } else {
        write_tight(raw, hasher);
    }
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
    fn marks_and_white_space_make_no_difference_and_everything_else_does() {
        let plain = r#"{"role":"user","content":[{"type":"text","text":"a  b"}]}"#;
        let spaced =
            "{ \"role\" : \"user\",\n \"content\":[ {\"type\":\"text\", \"text\":\"a  b\"} ] }";
        let marked = r#"{"role":"user","content":[{"type":"text","text":"a  b","cache_control":{"type":"ephemeral"}}]}"#;
        assert_eq!(of(plain), of(spaced));
        assert_eq!(of(plain), of(marked));
        for other in [
            r#"{"role":"user","content":[{"type":"text","text":"a b"}]}"#,
            r#"{"role":"user","content":[{"type":"text","text":"a  b","citations":null}]}"#,
            r#"{"role":"user","content":[{"type":"text","text":"a  \"b"}]}"#,
            r#"{"role":"assistant","content":[{"type":"text","text":"a  b"}]}"#,
        ] {
            assert_ne!(of(plain), of(other), "{other}");
        }
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
        assert_eq!(of(r#"{"role":"user","content":"Hi"}"#), 13_029_191_097_761_028_513);
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
}
