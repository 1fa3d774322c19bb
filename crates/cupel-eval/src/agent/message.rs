//! A chat message, as far as it matters for judging windows.

use serde_json::Value;

use crate::error::Problem;
use crate::record::expected;

/// A message of an `OpenAI` chat request.
#[derive(Debug, Clone)]
pub struct AgentMessage {
    json: Value,
    role: String,
    text: String,
    /// Bytes of the text that are content; the rest are calls.
    content_bytes: usize,
    lowered: String,
    calls: Vec<String>,
    answers: Option<String>,
}

impl AgentMessage {
    /// The message as it was read.
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// Role of the speaker: `system`, `user`, `assistant`, `tool`.
    pub fn role(&self) -> &str {
        &self.role
    }

    /// Content, without calls.
    pub fn content(&self) -> &str {
        &self.text[..self.content_bytes]
    }

    /// Content and calls, a line for each call: its name and its arguments.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The ids of its calls.
    pub fn call_ids(&self) -> &[String] {
        &self.calls
    }

    /// The id of the call that it is the result of.
    pub fn answers(&self) -> Option<&str> {
        self.answers.as_deref()
    }

    /// The same message with another content.
    pub(super) fn with_content(&self, content: &str) -> Self {
        let calls = &self.text[self.content_bytes..];
        let text = if self.content_bytes == 0 && !calls.is_empty() {
            format!("{content}\n{calls}")
        } else {
            format!("{content}{calls}")
        };
        let mut json = self.json.clone();
        json["content"] = content.into();
        Self {
            json,
            lowered: text.to_lowercase(),
            text,
            content_bytes: content.len(),
            ..self.clone()
        }
    }

    /// The text in small letters, to look values up in.
    pub(super) fn lowered(&self) -> &str {
        &self.lowered
    }

    pub(super) fn read(json: Value) -> Result<Self, Problem> {
        if !json.is_object() {
            return Err(expected("an object", &json));
        }
        let role = string(&json, "role")?.to_owned();
        let mut text = content(&json["content"]).map_err(|problem| problem.within("content"))?;
        let content_bytes = text.len();
        let mut calls = Vec::new();
        for (at, call) in list(&json, "tool_calls")?.iter().enumerate() {
            let parts = call_parts(call);
            let (id, name, arguments) =
                parts.map_err(|problem| problem.within(&format!("tool_calls[{at}]")))?;
            if !text.is_empty() {
                text.push('\n');
            }
            text.extend([name, " ", arguments]);
            calls.push(id.to_owned());
        }
        let answers = match role.as_str() {
            "tool" => Some(string(&json, "tool_call_id")?.to_owned()),
            _ => None,
        };
        let lowered = text.to_lowercase();
        Ok(Self { json, role, text, content_bytes, lowered, calls, answers })
    }
}

/// The texts of a content, one a line.
fn content(json: &Value) -> Result<String, Problem> {
    match json {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text.clone()),
        Value::Array(parts) => {
            let texts = parts.iter().filter(|part| part.is_object());
            let texts = texts.map(|part| part["text"].as_str().unwrap_or_default());
            Ok(texts.collect::<Vec<_>>().join("\n"))
        }
        other => Err(expected("a text, a list of parts or null", other)),
    }
}

/// Id, name and arguments of a call.
fn call_parts(call: &Value) -> Result<(&str, &str, &str), Problem> {
    let function = &call["function"];
    let of_function = |name| string(function, name).map_err(|problem| problem.within("function"));
    Ok((string(call, "id")?, of_function("name")?, of_function("arguments")?))
}

fn string<'v>(object: &'v Value, name: &str) -> Result<&'v str, Problem> {
    match &object[name] {
        Value::String(text) => Ok(text),
        Value::Null => Err(Problem::at(name, "is required")),
        other => Err(expected("a text", other).within(name)),
    }
}

fn list<'v>(object: &'v Value, name: &str) -> Result<&'v [Value], Problem> {
    match &object[name] {
        Value::Null => Ok(&[]),
        Value::Array(list) => Ok(list),
        other => Err(expected("a list", other).within(name)),
    }
}

/// Check of a provider's rule: every result follows its call, and every call has its
/// results.
#[derive(Debug, Default)]
pub(super) struct Pairing<'m> {
    open: Vec<&'m str>,
    is_broken: bool,
}

impl<'m> Pairing<'m> {
    /// Takes in the next message.
    pub(super) fn add(&mut self, message: &'m AgentMessage) {
        let Some(id) = message.answers() else {
            self.is_broken |= !self.open.is_empty();
            self.open = message.call_ids().iter().map(String::as_str).collect();
            self.open.sort_unstable();
            self.open.dedup();
            return;
        };
        let place = self.open.iter().position(|open| *open == id);
        self.is_broken |= place.is_none();
        if let Some(at) = place {
            self.open.swap_remove(at);
        }
    }

    /// Returns true if all messages so far are a valid request.
    pub(super) fn is_valid(&self) -> bool {
        !self.is_broken && self.open.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message(json: Value) -> AgentMessage {
        AgentMessage::read(json).unwrap()
    }

    fn call(id: &str) -> AgentMessage {
        let function = json!({"name": "Find", "arguments": "{\"id\": 7}"});
        let call = json!({"id": id, "type": "function", "function": function});
        message(json!({"role": "assistant", "content": null, "tool_calls": [call]}))
    }

    fn result(id: &str) -> AgentMessage {
        message(json!({"role": "tool", "tool_call_id": id, "content": "seven"}))
    }

    fn is_valid(messages: &[AgentMessage]) -> bool {
        let mut pairing = Pairing::default();
        for message in messages {
            pairing.add(message);
        }
        pairing.is_valid()
    }

    #[test]
    fn a_text_is_the_content_and_a_line_for_each_call() {
        assert_eq!(call("c").text(), "Find {\"id\": 7}");
        assert_eq!(call("c").content(), "");
        let parts =
            json!([{"type": "text", "text": "One"}, {"type": "image_url"}, {"text": "Two"}]);
        assert_eq!(message(json!({"role": "user", "content": parts})).text(), "One\n\nTwo");
    }

    #[test]
    fn every_result_follows_its_call_and_every_call_has_its_result() {
        let said = || message(json!({"role": "user", "content": "go on"}));
        assert!(is_valid(&[said(), call("a"), result("a"), said()]));
        for broken in [
            vec![result("a")],
            vec![call("a")],
            vec![call("a"), said(), result("a")],
            vec![call("a"), result("a"), result("a")],
            vec![call("a"), result("b")],
        ] {
            assert!(!is_valid(&broken));
        }
    }

    #[test]
    fn what_is_no_message_is_refused_by_path() {
        let error = |json| AgentMessage::read(json).unwrap_err().to_string();
        assert_eq!(error(json!({"content": "a"})), "role: is required");
        assert_eq!(error(json!({"role": "tool"})), "tool_call_id: is required");
        assert_eq!(
            error(json!({"role": "user", "content": 3})),
            "content: must be a text, a list of parts or null, got 3"
        );
        let call = json!([{"id": "c", "function": {"name": "f", "arguments": {}}}]);
        assert_eq!(
            error(json!({"role": "assistant", "tool_calls": call})),
            "tool_calls[0].function.arguments: must be a text, got an object"
        );
    }
}
