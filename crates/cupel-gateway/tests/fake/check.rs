//! Rules of providers, checked without a line of the code that is tested.

use serde_json::Value;

use super::Kind;

/// Flaw of a request, if it has one.
pub(crate) fn flaw(kind: Kind, request: &Value) -> Option<String> {
    let list = match kind {
        Kind::Chat | Kind::Messages | Kind::Converse | Kind::Ollama => &request["messages"],
        Kind::Responses if request["input"].is_string() => return None,
        Kind::Responses => &request["input"],
        Kind::Gemini => &request["contents"],
        Kind::CodeAssist => &request["request"]["contents"],
    };
    let Some(list) = list.as_array().filter(|list| !list.is_empty()) else {
        return Some("no messages".to_owned());
    };
    match kind {
        Kind::Chat => chat(list),
        Kind::Responses => responses(list),
        Kind::Messages => messages(list),
        Kind::Gemini | Kind::CodeAssist => gemini(list),
        Kind::Converse => converse(list),
        Kind::Ollama => ollama(list),
    }
}

fn chat(list: &[Value]) -> Option<String> {
    let mut open: Vec<String> = Vec::new();
    for (at, message) in list.iter().enumerate() {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            match open.iter().position(|open| open == id) {
                Some(place) => drop(open.remove(place)),
                None => return Some(format!("messages[{at}]: answers no call")),
            }
            continue;
        }
        if !open.is_empty() {
            return Some(format!("messages[{at}]: a call before it is not answered"));
        }
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        open.extend(calls.filter_map(|call| Some(call["id"].as_str()?.to_owned())));
    }
    (!open.is_empty()).then(|| "the last call is not answered".to_owned())
}

fn responses(list: &[Value]) -> Option<String> {
    let ids = |kind: &str| -> Vec<&str> {
        let of_kind = list.iter().filter(|item| item["type"] == kind);
        of_kind.filter_map(|item| item["call_id"].as_str()).collect()
    };
    let (mut calls, mut outputs) = (ids("function_call"), ids("function_call_output"));
    calls.sort_unstable();
    outputs.sort_unstable();
    if calls != outputs {
        return Some("calls and outputs do not match".to_owned());
    }
    let ends = list.last().is_some_and(|item| item["type"] == "reasoning");
    ends.then(|| "reasoning without what follows it".to_owned())
}

fn blocks<'v>(message: &'v Value, kind: &str, id: &str) -> Vec<&'v str> {
    let blocks = message["content"].as_array().into_iter().flatten();
    let of_kind = blocks.filter(|block| block["type"] == kind);
    of_kind.filter_map(|block| block[id].as_str()).collect()
}

fn messages(list: &[Value]) -> Option<String> {
    if list[0]["role"] != "user" {
        return Some("the first message is not the user's".to_owned());
    }
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in list.iter().enumerate() {
        let mut answered = blocks(message, "tool_result", "tool_use_id");
        open.sort_unstable();
        answered.sort_unstable();
        if open != answered {
            return Some(format!("messages[{at}]: results do not answer the calls before"));
        }
        open = blocks(message, "tool_use", "id");
    }
    (!open.is_empty()).then(|| "the last call is not answered".to_owned())
}

/// Results follow their calls in number and order of names; nothing has an id.
fn ollama(list: &[Value]) -> Option<String> {
    let mut open: Vec<&Value> = Vec::new();
    for (at, message) in list.iter().enumerate() {
        if message["content"].is_array() {
            return Some(format!("messages[{at}]: content is a text"));
        }
        if message["role"] == "tool" {
            if open.is_empty() || open.remove(0) != &message["tool_name"] {
                return Some(format!("messages[{at}]: answers no call"));
            }
            continue;
        }
        if !open.is_empty() {
            return Some(format!("messages[{at}]: a call before it is not answered"));
        }
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        open.extend(calls.map(|call| &call["function"]["name"]));
    }
    (!open.is_empty()).then(|| "the last call is not answered".to_owned())
}

fn converse(list: &[Value]) -> Option<String> {
    let ids = |message: &Value, name: &str| -> Vec<String> {
        let blocks = message["content"].as_array().into_iter().flatten();
        let ids = blocks.filter_map(|block| block[name]["toolUseId"].as_str());
        ids.map(ToOwned::to_owned).collect()
    };
    let mut open: Vec<String> = Vec::new();
    for (at, message) in list.iter().enumerate() {
        if message["role"] != if at % 2 == 0 { "user" } else { "assistant" } {
            return Some(format!(
                "messages[{at}]: roles must alternate between user and assistant"
            ));
        }
        if ids(message, "toolResult") != open {
            return Some(format!("messages[{at}]: results do not answer the calls before"));
        }
        open = ids(message, "toolUse");
    }
    (!open.is_empty()).then(|| "the last call is not answered".to_owned())
}

fn gemini(list: &[Value]) -> Option<String> {
    let count = |turn: &Value, name: &str| {
        let parts = turn["parts"].as_array().into_iter().flatten();
        parts.filter(|part| part.get(name).is_some()).count()
    };
    let mut open = 0;
    for (at, turn) in list.iter().enumerate() {
        if count(turn, "functionResponse") != open {
            return Some(format!("contents[{at}]: as many responses as calls before"));
        }
        open = count(turn, "functionCall");
    }
    (open > 0).then(|| "the last call is not answered".to_owned())
}

/// Letters of all texts in a request, which stand for tokens.
pub(crate) fn letters(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(list) => list.iter().map(letters).sum(),
        Value::Object(fields) => fields.values().map(letters).sum(),
        _ => 0,
    }
}
