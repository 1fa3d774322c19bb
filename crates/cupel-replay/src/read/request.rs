//! Requests as they are, and pairs of request and response.

use std::sync::Arc;

use cupel_tokens::Model;
use serde_json::{Value, json};

use super::answer::Answer;
use super::{Entry, Fields, LoggedRequest, RowError, parsed, unwrapped};

/// Where raw requests and pairs name their conversation.
pub(super) const CONVERSATION: [&str; 5] =
    ["conversation_id", "conversation", "session_id", "thread_id", "session"];

/// A request as it was sent, to the byte.
pub(super) fn raw(request: Arc<str>, fields: Option<&Fields<'_>>) -> Entry {
    Entry::Request(LoggedRequest {
        request,
        answer: None,
        conversation: fields.and_then(conversation),
        counted_tokens: None,
        model: None,
    })
}

/// A request and what came back.
pub(super) fn pair(fields: &Fields<'_>) -> Result<Entry, RowError> {
    let request = fields.get("request").map_or("null", |raw| raw.get());
    // A body may have been logged as a text.
    let request: Arc<str> = match serde_json::from_str::<String>(request) {
        Ok(text) => text.into(),
        Err(_) => request.into(),
    };
    if !request.trim_start().starts_with(['{', '[']) {
        return Err(RowError::at("request", "must be a request, as an object or as its JSON text"));
    }
    let response = ["response", "answer", "output"].iter().find_map(|name| fields.get(*name));
    let response = response.map(|raw| parsed(raw.get())).transpose()?;
    Ok(Entry::Request(LoggedRequest {
        answer: response.as_ref().and_then(|response| Answer::of(&unwrapped(response))),
        counted_tokens: response.as_ref().and_then(|response| counted(&unwrapped(response))),
        conversation: conversation(fields),
        model: None,
        request,
    }))
}

fn conversation(fields: &Fields<'_>) -> Option<String> {
    let raw = CONVERSATION.iter().filter_map(|name| fields.get(*name));
    raw.filter_map(|raw| serde_json::from_str::<String>(raw.get()).ok()).find(|id| !id.is_empty())
}

/// How many input tokens a response says that there were.
pub(super) fn counted(response: &Value) -> Option<i64> {
    let usage = &response["usage"];
    ["prompt_tokens", "input_tokens"].iter().find_map(|name| usage[*name].as_i64())
}

/// A request made of what a log has instead of it: a list of messages, a body, or a prompt.
pub(super) fn assembled(
    input: &Value,
    model: Option<&str>,
    tools: Option<&Value>,
) -> Result<Arc<str>, RowError> {
    let mut body = match input {
        Value::Array(messages) => json!({ "messages": messages }),
        Value::String(prompt) => json!({ "messages": [{ "role": "user", "content": prompt }] }),
        Value::Object(fields) => {
            let is_body = ["messages", "contents", "input", "items"]
                .iter()
                .any(|name| fields.contains_key(*name));
            let prompt = ["prompt", "question", "text"].iter().find_map(|name| fields.get(*name));
            match prompt.and_then(Value::as_str) {
                _ if is_body => input.clone(),
                Some(prompt) => json!({ "messages": [{ "role": "user", "content": prompt }] }),
                None if fields.contains_key("role") => json!({ "messages": [input] }),
                None => {
                    let names: Vec<&str> = fields.keys().map(String::as_str).take(6).collect();
                    let rule = format!(
                        "has neither messages nor a prompt but {}; name the field with --columns \
                         request=FIELD",
                        names.join(", ")
                    );
                    return Err(RowError::at("input", rule));
                }
            }
        }
        other => {
            let rule = format!("must be messages, a request or a prompt, got {}", kind(other));
            return Err(RowError::at("input", rule));
        }
    };
    if let Some(object) = body.as_object_mut() {
        if let Some(model) = model {
            object.entry("model").or_insert_with(|| model.into());
        }
        if let Some(tools) = tools {
            object.entry("tools").or_insert_with(|| tools.clone());
        }
    }
    Ok(body.to_string().into())
}

/// The model, where it is known and messages are dumps of LangChain: their format has no place for it.
pub(super) fn model_beside(input: &Value, model: Option<&str>) -> Option<&'static str> {
    let messages = if input.is_array() { input } else { &input["messages"] };
    let is_dump = messages[0].is_object() && messages[0]["role"].is_null();
    let model = Model::find(model.filter(|_| is_dump)?).ok()?;
    Some(model.name)
}

/// What a value is, for people.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
