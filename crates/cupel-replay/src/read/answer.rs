//! Answers in the form of any provider: words and calls.

use std::fmt::Write;

use serde_json::Value;

/// Answer to a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// Words of the answer.
    pub text: String,
    /// Calls of the answer.
    pub calls: Vec<Call>,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The tool.
    pub name: String,
    /// Its arguments, as JSON.
    pub arguments: String,
}

/// The fields in which answers stand, of all formats: other fields say nothing that was answered.
const WAYS: [&str; 16] = [
    "choices",
    "message",
    "messages",
    "output",
    "outputs",
    "candidates",
    "content",
    "parts",
    "text",
    "response",
    "generations",
    "kwargs",
    "data",
    "delta",
    "completion",
    "contents",
];

/// Deeper than any provider nests an answer.
const DEEPEST: usize = 12;

impl Answer {
    /// Reads an answer; `None` where nothing was said or called.
    pub fn of(json: &Value) -> Option<Self> {
        let mut answer = Self::default();
        answer.take(json, 0);
        (!answer.text.is_empty() || !answer.calls.is_empty()).then_some(answer)
    }

    /// Words and calls, one below the other, no more than so many bytes.
    pub(crate) fn words(&self, most: usize) -> String {
        let mut words = self.text.clone();
        for call in &self.calls {
            let line = if words.is_empty() { "" } else { "\n" };
            let _ = write!(words, "{line}{}({})", call.name, call.arguments);
        }
        let end = (0..=most.min(words.len())).rev().find(|at| words.is_char_boundary(*at));
        words.truncate(end.unwrap_or(0));
        words
    }

    fn take(&mut self, json: &Value, depth: usize) {
        if depth > DEEPEST {
            return;
        }
        match json {
            Value::String(text) => self.say(text),
            Value::Array(list) => list.iter().for_each(|part| self.take(part, depth + 1)),
            Value::Object(_) => self.take_object(json, depth),
            _ => {}
        }
    }

    fn take_object(&mut self, json: &Value, depth: usize) {
        if let Some(call) = call(json) {
            self.calls.push(call);
            return;
        }
        // A message of LangChain has its calls a second time, as the provider wrote them.
        let is_twice = json["additional_kwargs"]["tool_calls"].is_array()
            && json["tool_calls"].as_array().is_none_or(Vec::is_empty);
        if is_twice {
            self.take(
                &serde_json::json!({ "tool_calls": json["additional_kwargs"]["tool_calls"] }),
                depth + 1,
            );
        }
        if matches!(json["type"].as_str(), Some("thinking" | "reasoning")) {
            return;
        }
        for name in ["tool_calls", "function_call", "functionCall", "toolCalls"] {
            match &json[name] {
                Value::Array(calls) => self.calls.extend(calls.iter().filter_map(call)),
                Value::Null => {}
                one => self.calls.extend(call(one)),
            }
        }
        let before = (self.text.len(), self.calls.len());
        for name in WAYS {
            // LangChain writes the text of a generation beside its message.
            let is_said_already = name == "text" && !json["message"].is_null();
            if !is_said_already && !json[name].is_null() {
                self.take(&json[name], depth + 1);
            }
            let is_list_of_choices =
                name == "choices" && (self.text.len(), self.calls.len()) != before;
            if is_list_of_choices {
                return;
            }
        }
    }

    fn say(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
    }
}

/// A call, as `OpenAI`, Anthropic, Gemini, LangChain or OpenTelemetry write it.
fn call(json: &Value) -> Option<Call> {
    let json = if json["tool_call"].is_object() { &json["tool_call"] } else { json };
    let function = if json["function"].is_object() { &json["function"] } else { json };
    let names = [&function["name"], &json["function"], &json["toolName"], &json["function_name"]];
    let name = names.into_iter().find_map(Value::as_str)?;
    let is_call = !json["function"].is_null()
        || matches!(
            json["type"].as_str(),
            Some("tool_use" | "function_call" | "tool_call" | "server_tool_use" | "tool-call")
        )
        || ["arguments", "args", "input"].iter().any(|field| function.get(*field).is_some());
    if !is_call {
        return None;
    }
    let arguments = ["arguments", "args", "input"].iter().find_map(|field| function.get(*field));
    let arguments = match arguments {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    Some(Call { name: name.to_owned(), arguments })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(json: &Value) -> (String, Vec<String>) {
        let answer = Answer::of(json).unwrap();
        (
            answer.text,
            answer.calls.iter().map(|call| format!("{} {}", call.name, call.arguments)).collect(),
        )
    }

    #[test]
    fn answers_of_all_providers_are_read() {
        let called = vec![r#"find {"id":"PX-7"}"#.to_owned()];
        let function = json!({"name": "find", "arguments": "{\"id\":\"PX-7\"}"});
        let openai = json!({"role": "assistant", "content": "I look.", "tool_calls": [{"id": "1", "type": "function", "function": function}]});
        for answer in [
            json!({"choices": [{"message": openai}], "usage": {"prompt_tokens": 3}}),
            openai,
            json!({"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "I look."}, {"type": "tool_use", "id": "1", "name": "find", "input": {"id": "PX-7"}}]}),
            json!({"candidates": [{"content": {"parts": [{"text": "I look."}, {"functionCall": {"name": "find", "args": {"id": "PX-7"}}}]}}]}),
            json!({"output": [{"type": "message", "content": [{"type": "output_text", "text": "I look."}]}, {"type": "function_call", "call_id": "1", "name": "find", "arguments": "{\"id\":\"PX-7\"}"}]}),
            json!({"generations": [[{"text": "I look.", "message": {"lc": 1, "type": "constructor", "id": ["AIMessage"], "kwargs": {"content": "I look.", "tool_calls": [{"name": "find", "args": {"id": "PX-7"}, "id": "1", "type": "tool_call"}]}}}]]}),
            json!([{"role": "assistant", "parts": [{"type": "text", "content": "I look."}, {"type": "tool_call", "id": "1", "name": "find", "arguments": {"id": "PX-7"}}], "finish_reason": "tool_calls"}]),
        ] {
            assert_eq!(read(&answer), ("I look.".to_owned(), called.clone()), "{answer}");
        }
        assert_eq!(read(&json!("plain")), ("plain".to_owned(), vec![]));
        assert_eq!(Answer::of(&json!({"id": 3, "content": null})), None);
    }
}
