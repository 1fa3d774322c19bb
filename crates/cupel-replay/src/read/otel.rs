//! OpenTelemetry: spans of calls of models by the conventions for generative AI, as OTLP JSON or as rows
//! of a table. A span is one of ours by its `gen_ai.*` attributes, and by nothing else.

use serde_json::{Map, Value, json};

use super::answer::Answer;
use super::{Entry, Fields, LoggedRequest, RowContent, RowError, request, unwrapped};

const PREFIX: &str = "gen_ai.";
const INPUT: &str = "gen_ai.input.messages";
/// Where tables have the attributes of a span.
const ATTRIBUTES: [&str; 4] = ["attributes", "span_attributes", "SpanAttributes", "Attributes"];
/// What only rows of spans have.
const SPAN_IDS: [&str; 4] = ["spanId", "span_id", "SpanId", "trace_state"];

/// Whether a row is a span: it has attributes of ours, or is a span of something else.
pub(super) fn is_span(fields: &Fields<'_>) -> bool {
    let is_ours = |name: &str| name.trim_start_matches("attributes.").starts_with(PREFIX);
    if fields.keys().any(|name| is_ours(name)) {
        return true;
    }
    let attributes = ATTRIBUTES.iter().find_map(|name| fields.get(*name));
    attributes.is_some_and(|raw| {
        raw.get().contains("\"gen_ai") || SPAN_IDS.iter().any(|name| fields.contains_key(*name))
    })
}

/// The spans of an OTLP document.
pub(super) fn document(document: &Value) -> Result<RowContent, RowError> {
    let list = |value: &Value, names: [&str; 2]| -> Vec<Value> {
        let list = names.iter().find_map(|name| value[*name].as_array());
        list.cloned().unwrap_or_default()
    };
    let resources = &document["resourceSpans"];
    let resources = if resources.is_null() { &document["resource_spans"] } else { resources };
    let Value::Array(resources) = resources else {
        let rule = format!("must be a list, got {}", request::kind(resources));
        return Err(RowError::at("resourceSpans", rule));
    };
    let scopes =
        resources.iter().flat_map(|resource| list(resource, ["scopeSpans", "scope_spans"]));
    let spans: Vec<Value> = scopes.flat_map(|scope| list(&scope, ["spans", "spans"])).collect();
    Ok(RowContent::join(spans.iter().map(row)))
}

/// One span.
pub(super) fn row(span: &Value) -> RowContent {
    let attributes = attributes(span);
    let Some(input) = attributes.get(INPUT) else {
        let is_call = attributes
            .get("gen_ai.operation.name")
            .and_then(Value::as_str)
            .is_some_and(is_model_call);
        if !is_call {
            return RowContent::other();
        }
        let rule = "is not there: the messages were not recorded; turn on the recording of content in \
                    your instrumentation (OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT)";
        return RowContent::of(Err(RowError::at(INPUT, rule)));
    };
    let number = |name: &str| {
        attributes
            .get(name)
            .and_then(|value| value.as_i64().or_else(|| value.as_str()?.parse().ok()))
    };
    let text = |name: &str| attributes.get(name).and_then(Value::as_str).map(str::to_owned);
    RowContent::of(body(input, &attributes).map(|request| {
        let output = attributes.get("gen_ai.output.messages");
        Entry::Request(LoggedRequest {
            request: request.to_string().into(),
            answer: output.and_then(|output| Answer::of(&unwrapped(output))),
            conversation: text("gen_ai.conversation.id"),
            counted_tokens: number("gen_ai.usage.input_tokens"),
            model: None,
        })
    }))
}

fn is_model_call(operation: &str) -> bool {
    matches!(operation, "chat" | "text_completion" | "generate_content")
}

/// All attributes of a span by name, however they are written.
fn attributes(span: &Value) -> Map<String, Value> {
    let mut found = Map::new();
    if let Value::Object(fields) = span {
        for (name, value) in fields {
            let name = name.trim_start_matches("attributes.");
            if name.starts_with(PREFIX) && !value.is_null() {
                found.insert(name.to_owned(), value.clone());
            }
        }
    }
    let Some(list) = ATTRIBUTES.iter().map(|name| &span[*name]).find(|value| !value.is_null())
    else {
        return found;
    };
    match &*unwrapped(list) {
        Value::Object(fields) => found.extend(flattened(fields)),
        Value::Array(list) => found.extend(list.iter().filter_map(|entry| {
            let name = entry["key"].as_str().or_else(|| entry["keys"].as_str())?;
            let value = entry.get("value").or_else(|| entry.get("values"))?;
            Some((name.to_owned(), any_value(value)))
        })),
        _ => {}
    }
    found
}

/// Attributes of ours, which some tables nest by the dots of their names.
fn flattened(fields: &Map<String, Value>) -> Vec<(String, Value)> {
    fn walk(name: &str, value: &Value, found: &mut Vec<(String, Value)>) {
        match value {
            Value::Object(inner)
                if name.matches('.').count() < 2 && !inner.contains_key("parts") =>
            {
                inner.iter().for_each(|(own, value)| walk(&format!("{name}.{own}"), value, found));
            }
            Value::Null => {}
            _ => found.push((name.to_owned(), value.clone())),
        }
    }
    let mut found = Vec::new();
    for (name, value) in fields {
        walk(name, value, &mut found);
    }
    found.retain(|(name, _)| name.starts_with(PREFIX));
    found
}

/// A value of OTLP, which says its type.
fn any_value(value: &Value) -> Value {
    let Value::Object(fields) = value else { return value.clone() };
    let typed =
        ["stringValue", "string_value", "boolValue", "doubleValue", "intValue", "int_value"];
    if let Some(plain) = typed.iter().find_map(|name| fields.get(*name)) {
        return plain.clone();
    }
    if let Some(list) = fields.get("arrayValue").map(|list| &list["values"]) {
        let values = list.as_array().map(Vec::as_slice).unwrap_or_default();
        return values.iter().map(any_value).collect();
    }
    if let Some(list) = fields.get("kvlistValue").map(|list| &list["values"]) {
        let values = list.as_array().map(Vec::as_slice).unwrap_or_default();
        let entry = |entry: &Value| {
            (entry["key"].as_str().unwrap_or_default().to_owned(), any_value(&entry["value"]))
        };
        return Value::Object(values.iter().map(entry).collect());
    }
    value.clone()
}

/// The request of a span, as a chat request.
fn body(input: &Value, attributes: &Map<String, Value>) -> Result<Value, RowError> {
    let input = unwrapped(input);
    let Value::Array(list) = &*input else {
        let rule = format!("must be a list of messages, got {}", request::kind(&input));
        return Err(RowError::at(INPUT, rule));
    };
    let mut messages = Vec::new();
    if let Some(instructions) = attributes.get("gen_ai.system_instructions") {
        let text = texts(&unwrapped(instructions));
        messages.push(json!({ "role": "system", "content": text }));
    }
    for (at, message) in list.iter().enumerate() {
        let Some(role) = message["role"].as_str() else {
            return Err(RowError::at(&format!("{INPUT}[{at}].role"), "is required"));
        };
        push_message(role, message, &mut messages);
    }
    let mut body = json!({ "messages": messages });
    let model = ["gen_ai.request.model", "gen_ai.response.model"]
        .iter()
        .find_map(|name| attributes.get(*name));
    if let Some(model) = model {
        body["model"] = model.clone();
    }
    if let Some(Value::Array(tools)) =
        attributes.get("gen_ai.tool.definitions").map(unwrapped).as_deref()
    {
        body["tools"] = tools.iter().map(tool).collect();
    }
    Ok(body)
}

/// A message, taken apart into the messages of a chat request.
fn push_message(role: &str, message: &Value, messages: &mut Vec<Value>) {
    let Value::Array(parts) = &*unwrapped(&message["parts"]) else {
        messages.push(json!({ "role": role, "content": message["content"] }));
        return;
    };
    let of =
        |kind: &str| parts.iter().filter(|part| part["type"] == kind).cloned().collect::<Vec<_>>();
    for answer in of("tool_call_response") {
        let said = ["response", "result", "content"]
            .iter()
            .map(|name| &answer[*name])
            .find(|v| !v.is_null());
        let said = match said {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        };
        messages.push(json!({ "role": "tool", "tool_call_id": answer["id"], "content": said }));
    }
    let calls: Vec<Value> = of("tool_call").iter().map(call).collect();
    let text = texts(&Value::Array(of("text")));
    let others = parts.iter().filter(|part| !part["type"].as_str().is_some_and(is_read)).cloned();
    let mut content: Vec<Value> = others.collect();
    if role == "tool" || text.is_empty() && calls.is_empty() && content.is_empty() {
        return;
    }
    let content = if content.is_empty() {
        if text.is_empty() { Value::Null } else { text.into() }
    } else {
        content.insert(0, json!({ "type": "text", "text": text }));
        content.into()
    };
    let mut written = json!({ "role": role, "content": content });
    if !calls.is_empty() {
        written["tool_calls"] = calls.into();
    }
    messages.push(written);
}

fn is_read(kind: &str) -> bool {
    matches!(kind, "text" | "tool_call" | "tool_call_response" | "reasoning")
}

fn call(part: &Value) -> Value {
    let arguments = match &part["arguments"] {
        Value::String(text) => text.clone(),
        Value::Null => "{}".to_owned(),
        other => other.to_string(),
    };
    json!({ "id": part["id"], "type": "function", "function": { "name": part["name"], "arguments": arguments } })
}

fn tool(definition: &Value) -> Value {
    if definition["function"].is_object() {
        return definition.clone();
    }
    let mut function = definition.clone();
    if let Some(fields) = function.as_object_mut() {
        fields.remove("type");
    }
    json!({ "type": "function", "function": function })
}

/// The texts of parts, one a line.
fn texts(parts: &Value) -> String {
    match parts {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| {
                part["content"].as_str().or_else(|| part["text"].as_str()).or_else(|| part.as_str())
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
