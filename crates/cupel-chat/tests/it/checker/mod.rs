//! Rules of the providers, written from their documents and not from this crate: plain code over
//! `serde_json::Value` that shares nothing with what it checks.

mod ai_sdk;
mod anthropic;
mod bedrock;
mod gemini;
mod items;
mod langchain;
mod ollama;
mod openai_chat;
mod openai_responses;

use std::collections::BTreeMap;

use cupel_chat::Format;
use serde_json::Value;
use serde_json::value::RawValue;

/// Problems for which the provider would refuse the request; none if it is valid.
pub(crate) fn problems(format: Format, text: &str) -> Vec<String> {
    let values = match values(format, text) {
        Ok(values) => values,
        Err(error) => return vec![error],
    };
    match format {
        Format::OpenAiChat | Format::Cohere => openai_chat::problems(&values),
        Format::OpenAiResponses => openai_responses::problems(&values),
        Format::Anthropic => anthropic::problems(&values, &request(text)),
        Format::Gemini => gemini::problems(&values),
        Format::AiSdk => ai_sdk::problems(&values),
        Format::AiSdkUi => ai_sdk::ui_problems(&values),
        Format::Bedrock => bedrock::problems(&values),
        Format::Ollama => ollama::problems(&values),
        // The same rules, as far as calls and roles go.
        Format::LangChain => langchain::problems(&values),
        Format::Items | Format::ItemLines => items::problems(&values),
        other => panic!("no checker for {other:?}"),
    }
}

/// Pairs of messages of which the provider wants both or neither.
pub(crate) fn ties(format: Format, text: &str) -> Vec<(usize, usize)> {
    let values = values(format, text).expect("only valid requests are asked for ties");
    match format {
        Format::OpenAiChat | Format::Cohere => openai_chat::ties(&values),
        Format::OpenAiResponses => openai_responses::ties(&values),
        Format::Anthropic => anthropic::ties(&values),
        Format::Gemini => gemini::ties(&values),
        Format::AiSdk => ai_sdk::ties(&values),
        Format::Bedrock => bedrock::ties(&values),
        Format::Ollama => ollama::ties(&values),
        Format::LangChain => langchain::ties(&values),
        _ => Vec::new(),
    }
}

/// Messages that every window has to have: what the system says before all others, the last that the user said, and the
/// end, from which the model goes on.
pub(crate) fn required(format: Format, request: &str) -> Vec<usize> {
    let values = values(format, request).expect("only valid requests are asked for this");
    if format.has_free_order() {
        return Vec::new();
    }
    let role = |message: &Value| role(format, message);
    let answers = |message: &Value| match format {
        Format::Anthropic => list(message, "content").iter().any(|b| b["type"] == "tool_result"),
        Format::Gemini => gemini::answers(message),
        Format::Bedrock => bedrock::answers(message),
        _ => false,
    };
    let speaks =
        |message: &Value| ["user", "human"].contains(&role(message).as_str()) && !answers(message);
    let system = |index: &usize| ["system", "developer"].contains(&role(&values[*index]).as_str());
    let tools = |index: &usize| text(&values[*index], "type").ends_with("tools");
    let mut required: Vec<usize> = (0..values.len()).take_while(system).collect();
    required.extend((0..values.len()).filter(tools));
    required.extend(values.iter().rposition(speaks));
    required.extend(values.len().checked_sub(1));
    required
}

fn values(format: Format, text: &str) -> Result<Vec<Value>, String> {
    let read = |text: &str| serde_json::from_str(text).map_err(|error| error.to_string());
    messages(format, text)?.into_iter().map(read).collect()
}

/// The text of each message, as it stands in the request.
pub(crate) fn messages(format: Format, text: &str) -> Result<Vec<&str>, String> {
    if format == Format::ItemLines {
        return Ok(text.lines().map(str::trim).filter(|line| !line.is_empty()).collect());
    }
    let list = message_list(format, text)?;
    // The input of a request to Responses may be a single text.
    if list.starts_with('"') {
        return Ok(vec![list]);
    }
    let list: Vec<&RawValue> = serde_json::from_str(list).map_err(|error| error.to_string())?;
    Ok(list.into_iter().map(RawValue::get).collect())
}

/// Text before and after the list of messages.
pub(crate) fn surroundings(format: Format, text: &str) -> (&str, &str) {
    if format == Format::ItemLines {
        return ("", "");
    }
    let list = message_list(format, text).expect("only requests that are JSON are asked for this");
    let start = list.as_ptr().addr() - text.as_ptr().addr();
    (&text[..start], &text[start + list.len()..])
}

fn message_list(format: Format, text: &str) -> Result<&str, String> {
    let field = match format {
        Format::OpenAiResponses => "input",
        Format::Gemini => "contents",
        Format::Items => "items",
        _ => "messages",
    };
    let text = text.trim_start_matches('\u{feff}');
    let text = text.trim();
    if text.starts_with('[') {
        return Ok(text);
    }
    let fields: BTreeMap<String, &RawValue> =
        serde_json::from_str(text).map_err(|error| error.to_string())?;
    Ok(fields.get(field).ok_or(format!("no {field}"))?.get())
}

fn request(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

/// Returns true if the user speaks first, beside the system.
pub(crate) fn user_begins(format: Format, request: &str) -> bool {
    let roles = roles(format, request);
    roles.iter().find(|role| *role != "system").is_none_or(|role| is_user(role))
}

/// Returns true if the user speaks twice in a row, beside the system.
pub(crate) fn user_speaks_twice(format: Format, request: &str) -> bool {
    let mut roles = roles(format, request);
    roles.retain(|role| !["system", "developer"].contains(&role.as_str()));
    roles.windows(2).any(|pair| pair.iter().all(|role| is_user(role)))
}

fn is_user(role: &str) -> bool {
    ["user", "human"].contains(&role)
}

fn roles(format: Format, request: &str) -> Vec<String> {
    let values = values(format, request).expect("only valid requests are asked for this");
    let is_plain = values.iter().any(Value::is_string);
    let role = |message: &Value| if is_plain { "user".into() } else { role(format, message) };
    values.iter().map(role).collect()
}

fn role(format: Format, message: &Value) -> String {
    match format {
        Format::LangChain => langchain::kind(message).to_owned(),
        Format::Gemini => message["role"].as_str().unwrap_or("user").to_owned(),
        Format::OpenAiResponses if text(message, "type").ends_with("tools") => "system".to_owned(),
        _ => text(message, "role").to_owned(),
    }
}

/// The list in a field, or an empty one.
fn list<'v>(value: &'v Value, field: &str) -> &'v [Value] {
    value[field].as_array().map_or(&[], Vec::as_slice)
}

/// The text in a field, or an empty one.
fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}

/// Checks hand-written requests: what the checker says must contain each text, or be nothing at all.
#[cfg(test)]
#[track_caller]
fn assert_problems(format: Format, request: &str, expected: &[&str]) {
    let found = problems(format, request);
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.contains(expected), "{found:?} does not say {expected:?}");
    }
}
