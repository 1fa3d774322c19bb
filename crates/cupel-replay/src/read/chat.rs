//! Messages in the shapes of all frameworks, as a request that a provider takes.
//!
//! Requests in a provider's own form are passed on as they are. Everything else becomes a chat request: who speaks,
//! what is said, called and returned. Fields of a message that say none of that are no prompt, and a shape
//! that is not known is refused with its place.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::row::unwrapped;
use super::{RowError, kind};

/// Request of a log, in whatever shape.
#[derive(Debug, Clone, Default)]
pub(super) struct Asked<'v> {
    /// The messages, a body, or a prompt.
    pub(super) input: Option<&'v Value>,
    /// Text before all messages.
    pub(super) system: Option<&'v Value>,
    pub(super) tools: Option<&'v Value>,
    pub(super) model: Option<&'v str>,
}

/// The request that was asked.
pub(super) fn request(path: &str, asked: &Asked<'_>) -> Result<Arc<str>, RowError> {
    let input = asked.input.map(unwrapped).unwrap_or_default();
    let mut tools = Tools::default();
    tools.take(asked.tools);
    let mut body = body(path, &input, &mut tools)?;
    if let Some(object) = body.as_object_mut() {
        if let Some(model) = asked.model {
            object.entry("model").or_insert_with(|| model.into());
        }
        if let Some(system) = asked.system.filter(|system| !system.is_null()) {
            set_system(object, &unwrapped(system));
        }
        if !tools.list.is_empty() && object.get("tools").is_none_or(Value::is_null) {
            object.insert("tools".to_owned(), tools.list.into());
        }
    }
    Ok(body.to_string().into())
}

fn set_system(body: &mut Map<String, Value>, system: &Value) {
    let text = plain_text(system);
    if body.contains_key("messages") && !is_chat(body) {
        // Anthropic has it beside the messages.
        body.entry("system").or_insert_with(|| text.into());
    } else if let Some(Value::Array(messages)) = body.get_mut("messages") {
        if messages.first().is_none_or(|first| first["role"] != "system") {
            messages.insert(0, json!({ "role": "system", "content": text }));
        }
    } else if body.contains_key("contents") {
        body.entry("systemInstruction").or_insert_with(|| json!({ "parts": [{ "text": text }] }));
    } else if body.contains_key("input") {
        body.entry("instructions").or_insert_with(|| text.into());
    }
}

/// The fields of a body that are prompt, or that count for its window; all others of a wrapper are left.
pub(super) const OF_BODIES: &[&str] = &[
    "messages",
    "contents",
    "input",
    "items",
    "system",
    "systemInstruction",
    "system_instruction",
    "instructions",
    "tools",
    "toolConfig",
    "tool_config",
    "functions",
    "model",
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "maxOutputTokens",
    "generationConfig",
    "generation_config",
    "inferenceConfig",
    "tool_choice",
    "toolChoice",
    "response_format",
    "text",
    "documents",
];

fn body(path: &str, input: &Value, tools: &mut Tools) -> Result<Value, RowError> {
    match input {
        Value::Array(list) => of_list(path, list, tools),
        Value::String(prompt) => Ok(of_prompt(prompt)),
        Value::Object(fields) => of_object(path, input, fields, tools),
        other => {
            let rule = format!("must be messages, a request or a prompt, got {}", kind(other));
            Err(RowError::at(path, rule))
        }
    }
}

fn of_prompt(prompt: &str) -> Value {
    json!({ "messages": [{ "role": "user", "content": prompt }] })
}

fn of_object(
    path: &str,
    input: &Value,
    fields: &Map<String, Value>,
    tools: &mut Tools,
) -> Result<Value, RowError> {
    let list = ["messages", "contents", "input", "items"]
        .into_iter()
        .find(|name| fields.get(*name).is_some_and(|list| !list.is_null()));
    if let Some(name) = list {
        let inner = unwrapped(&fields[name]);
        let at = format!("{path}.{name}");
        let mut body = match &*inner {
            Value::Array(list) if name == "messages" => of_list(&at, list, tools)?,
            Value::Array(list) if name == "contents" => of_contents(&at, list)?,
            // A request of the Responses API, or items of Cupel's own.
            Value::Array(_) => json!({ name: &*inner }),
            Value::String(prompt) => of_prompt(prompt),
            other => return Err(RowError::at(&at, format!("must be a list, got {}", kind(other)))),
        };
        if let Some(object) = body.as_object_mut() {
            let config = fields.get("config").and_then(Value::as_object);
            let about = fields.iter().chain(config.into_iter().flatten());
            for (own, value) in about {
                let is_prompt = OF_BODIES.contains(&own.as_str()) && !value.is_null();
                if is_prompt && !["messages", "contents", "input", "items"].contains(&own.as_str())
                {
                    match own.as_str() {
                        "system" if !object.contains_key("messages") => {}
                        "tools" | "functions" if object.contains_key("messages") => {
                            // Anthropic's tools stay as they are beside its blocks.
                            if is_chat(object) {
                                tools.take(Some(value));
                            } else {
                                object.insert(own.clone(), value.clone());
                            }
                        }
                        "system" if is_chat(object) => set_system(object, value),
                        "system_instruction" | "systemInstruction" => set_system(object, value),
                        _ => {
                            object.entry(own.clone()).or_insert_with(|| value.clone());
                        }
                    }
                }
            }
        }
        return Ok(body);
    }
    let prompt = ["prompt", "question", "query", "text", "input_text", "prompts", "content"]
        .iter()
        .find_map(|name| fields.get(*name).filter(|_| !fields.contains_key("role")));
    match prompt {
        Some(Value::String(prompt)) => return Ok(of_prompt(prompt)),
        Some(list @ Value::Array(_)) => {
            if let [Value::String(prompt)] = &list.as_array().cloned().unwrap_or_default()[..] {
                return Ok(of_prompt(prompt));
            }
            return body(path, list, tools);
        }
        _ => {}
    }
    if is_message(input) {
        return of_list(path, std::slice::from_ref(input), tools);
    }
    // Wrappers of LangChain, of Vertex and of decorators around a function.
    for name in ["kwargs", "request", "body", "payload", "inputs", "args", "llm_request"] {
        if let Some(inner) =
            fields.get(name).map(unwrapped).filter(|inner| inner.is_object() || inner.is_array())
        {
            return body(&format!("{path}.{name}"), &inner, tools);
        }
    }
    let names: Vec<&str> = fields.keys().map(String::as_str).take(6).collect();
    let rule = format!(
        "has neither messages nor a prompt but {}; name the field with --columns request=FIELD",
        if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
    );
    Err(RowError::at(path, rule))
}

fn is_chat(body: &Map<String, Value>) -> bool {
    let messages = body.get("messages").and_then(Value::as_array);
    messages.is_some_and(|messages| !messages.iter().any(has_own_blocks))
}

pub(super) fn is_message(value: &Value) -> bool {
    let value = constructed(value);
    ["role", "type", "from"].iter().any(|name| value[*name].is_string())
        && ["content", "parts", "value", "tool_calls", "text", "data"]
            .iter()
            .any(|name| value.get(*name).is_some())
}

/// A list of messages. LangChain sends batches, a list of lists, almost always of one.
fn of_list(path: &str, list: &[Value], tools: &mut Tools) -> Result<Value, RowError> {
    if list.is_empty() {
        return Err(RowError::at(path, "is an empty list; a request has messages"));
    }
    if let [Value::Array(inner)] = list {
        return of_list(&format!("{path}[0]"), inner, tools);
    }
    if list.iter().all(Value::is_array) {
        let rule = format!("is a batch of {} requests in one; log them one by one", list.len());
        return Err(RowError::at(path, rule));
    }
    if list.iter().all(Value::is_string) {
        // Prompts of a completion, almost always one.
        let texts: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
        return Ok(of_prompt(&texts.join("\n")));
    }
    let is_contents = |message: &Value| {
        message["parts"].as_array().is_some_and(|parts| {
            parts.iter().all(|part| part["type"].is_null() && part.is_object()) && !parts.is_empty()
        })
    };
    if list.iter().any(is_contents) && list.iter().all(|m| is_contents(m) || m["parts"].is_null()) {
        return of_contents(path, list);
    }
    if list.iter().any(is_item) {
        return Ok(json!({ "input": list }));
    }
    if list.iter().any(has_own_blocks) && list.iter().all(is_of_anthropic) {
        return Ok(of_anthropic(list));
    }
    let mut written = Written::new(tools);
    for (at, message) in list.iter().enumerate() {
        written.push(&format!("{path}[{at}]"), message)?;
    }
    Ok(json!({ "messages": written.finish() }))
}

/// Items of the Responses API.
fn is_item(message: &Value) -> bool {
    matches!(
        message["type"].as_str(),
        Some("function_call" | "function_call_output" | "reasoning" | "item_reference")
    ) && message["role"].is_null()
        && message["lc"].is_null()
}

/// Returns true if a message has blocks that only Anthropic's API takes.
fn has_own_blocks(message: &Value) -> bool {
    let is_own = |block: &Value| {
        matches!(
            block["type"].as_str(),
            Some("tool_use" | "tool_result" | "thinking" | "redacted_thinking" | "server_tool_use")
        )
    };
    message["role"].is_string()
        && message["content"].as_array().is_some_and(|blocks| blocks.iter().any(is_own))
}

fn is_of_anthropic(message: &Value) -> bool {
    matches!(message["role"].as_str(), Some("user" | "assistant" | "system"))
        && message["tool_calls"].as_array().is_none_or(Vec::is_empty)
        && message["additional_kwargs"]["tool_calls"].is_null()
}

fn of_anthropic(list: &[Value]) -> Value {
    let (system, turns): (Vec<&Value>, Vec<&Value>) =
        list.iter().partition(|message| message["role"] == "system");
    let turn = |message: &&Value| json!({ "role": message["role"], "content": message["content"] });
    let mut body = json!({ "messages": turns.iter().map(turn).collect::<Vec<_>>() });
    if !system.is_empty() {
        let texts: Vec<String> = system.iter().map(|m| plain_text(&m["content"])).collect();
        body["system"] = texts.join("\n").into();
    }
    body
}

/// Gemini's contents, which its Python library writes with underscores.
fn of_contents(path: &str, list: &[Value]) -> Result<Value, RowError> {
    let mut contents = Vec::new();
    let mut system = Vec::new();
    for (at, content) in list.iter().enumerate() {
        let parts: Vec<Value> = match (&content["parts"], &content["content"]) {
            (Value::Array(parts), _) => parts.iter().map(camel).collect(),
            (_, Value::String(text)) => vec![json!({ "text": text })],
            (Value::Null, Value::Null) if content.is_string() => vec![json!({ "text": content })],
            _ => {
                return Err(RowError::at(
                    &format!("{path}[{at}].parts"),
                    "must be a list of parts",
                ));
            }
        };
        let role = match content["role"].as_str() {
            Some("assistant" | "model") => "model",
            Some("system") => {
                system.extend(parts);
                continue;
            }
            _ => "user",
        };
        contents.push(json!({ "role": role, "parts": parts }));
    }
    let mut body = json!({ "contents": contents });
    if !system.is_empty() {
        body["systemInstruction"] = json!({ "parts": system });
    }
    Ok(body)
}

fn camel(part: &Value) -> Value {
    let Value::Object(fields) = part else { return json!({ "text": part }) };
    let named = fields.iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| {
        let name = match name.as_str() {
            "function_call" => "functionCall",
            "function_response" => "functionResponse",
            "inline_data" => "inlineData",
            "file_data" => "fileData",
            "thought_signature" => "thoughtSignature",
            other => other,
        };
        (name.to_owned(), value.clone())
    });
    Value::Object(named.collect())
}

/// Tool definitions, in the form of chat requests.
#[derive(Debug, Default)]
pub(super) struct Tools {
    list: Vec<Value>,
}

impl Tools {
    fn take(&mut self, tools: Option<&Value>) {
        let tools = tools.map(unwrapped).unwrap_or_default();
        for tool in tools.as_array().into_iter().flatten() {
            self.push(&unwrapped(tool));
        }
    }

    fn push(&mut self, tool: &Value) {
        let tool = tool
            .get("json_schema")
            .or_else(|| tool["tool"].get("json_schema"))
            .map_or_else(|| unwrapped(tool), unwrapped);
        if let Some(functions) =
            tool.get("function_declarations").or_else(|| tool.get("functionDeclarations"))
        {
            for function in functions.as_array().into_iter().flatten() {
                self.push(function);
            }
            return;
        }
        let function = if tool["function"].is_object() { &tool["function"] } else { &*tool };
        let mut written = Map::new();
        for name in ["name", "description"] {
            if let Some(value) = function.get(name).filter(|value| value.is_string()) {
                written.insert(name.to_owned(), value.clone());
            }
        }
        let schema =
            ["parameters", "input_schema", "inputSchema", "parameters_json_schema", "args_schema"]
                .iter()
                .find_map(|name| function.get(*name).filter(|schema| schema.is_object()));
        if let Some(schema) = schema {
            written.insert("parameters".to_owned(), schema.clone());
        }
        if written.contains_key("name") {
            let tool = json!({ "type": "function", "function": written });
            if !self.list.contains(&tool) {
                self.list.push(tool);
            }
        }
    }
}

/// A chat request, message by message.
struct Written<'t> {
    messages: Vec<Value>,
    /// The ids of calls that have no result yet.
    open: Vec<String>,
    calls: usize,
    tools: &'t mut Tools,
}

impl<'t> Written<'t> {
    fn new(tools: &'t mut Tools) -> Self {
        Self { messages: Vec::new(), open: Vec::new(), calls: 0, tools }
    }

    fn push(&mut self, path: &str, message: &Value) -> Result<(), RowError> {
        let message = constructed(message);
        if !message.is_object() {
            return Err(RowError::at(path, format!("must be a message, got {}", kind(&message))));
        }
        let role = role(path, &message)?;
        let content = ["content", "parts", "value", "text", "contents", "message_content"]
            .iter()
            .find_map(|name| message.get(*name).filter(|value| !value.is_null()));
        if role == "tool" && self.is_definition(&message, content) {
            return Ok(());
        }
        if let Some(calls) = content.and_then(calls_of) {
            self.push_turn(Said { calls, ..Said::default() });
            return Ok(());
        }
        let mut said = Said::default();
        if let Some(content) = content {
            said.take(path, role, &unwrapped_parts(content))?;
        }
        Self::take_calls(&message, &mut said);
        match role {
            "tool" => self.push_result(&message, said),
            "assistant" => self.push_turn(said),
            _ => {
                self.push_results(&mut said);
                if said.has_words() {
                    let content = said.content();
                    self.messages.push(json!({ "role": role, "content": content }));
                }
            }
        }
        Ok(())
    }

    /// Langfuse's handler of LangChain logs the definitions of tools as messages of a tool.
    fn is_definition(&mut self, message: &Value, content: Option<&Value>) -> bool {
        let Some(content) = content else { return false };
        let content = unwrapped(content);
        let is_definition = message["tool_call_id"].is_null()
            && content["type"] == "function"
            && content["function"]["name"].is_string();
        if is_definition {
            self.tools.push(&content);
        }
        is_definition
    }

    fn take_calls(message: &Value, said: &mut Said) {
        let beside = [
            &message["tool_calls"],
            &message["additional_kwargs"]["tool_calls"],
            &message["toolCalls"],
        ];
        // Some write the same calls in two places.
        let list = beside
            .into_iter()
            .map(unwrapped)
            .find(|list| list.as_array().is_some_and(|calls| !calls.is_empty()));
        if let (true, Some(list)) = (said.calls.is_empty(), list) {
            said.calls.extend(list.as_array().into_iter().flatten().filter_map(call));
        }
        for one in [&message["function_call"], &message["additional_kwargs"]["function_call"]] {
            if said.calls.is_empty() && one.is_object() {
                said.calls.extend(call(one));
            }
        }
    }

    fn push_turn(&mut self, mut said: Said) {
        self.push_results(&mut said);
        if said.calls.is_empty() && !said.has_words() {
            return;
        }
        self.open.clear();
        let calls: Vec<Value> = std::mem::take(&mut said.calls)
            .into_iter()
            .map(|call| {
                self.calls += 1;
                let id = call.id.unwrap_or_else(|| format!("call_{}", self.calls));
                self.open.push(id.clone());
                json!({ "id": id, "type": "function", "function": { "name": call.name, "arguments": call.arguments } })
            })
            .collect();
        let content = if said.has_words() { said.content() } else { Value::Null };
        let mut turn = json!({ "role": "assistant", "content": content });
        if !calls.is_empty() {
            turn["tool_calls"] = calls.into();
        }
        self.messages.push(turn);
    }

    /// Results that stand among the parts of a message.
    fn push_results(&mut self, said: &mut Said) {
        for (id, text) in std::mem::take(&mut said.results) {
            self.result(id, &text.into());
        }
    }

    fn push_result(&mut self, message: &Value, mut said: Said) {
        if !said.results.is_empty() {
            return self.push_results(&mut said);
        }
        let id = id(message, &["tool_call_id", "toolCallId", "call_id", "tool_use_id"]);
        let content = said.content();
        self.result(id, &content);
    }

    fn result(&mut self, id: Option<String>, content: &Value) {
        // A result without an id is that of the first call that has none yet.
        let id = id.or_else(|| self.open.first().cloned()).unwrap_or_default();
        self.open.retain(|open| *open != id);
        self.messages.push(json!({ "role": "tool", "tool_call_id": id, "content": content }));
    }

    fn finish(self) -> Vec<Value> {
        self.messages
    }
}

/// A message without what LangChain and others wrap around it.
fn constructed(message: &Value) -> std::borrow::Cow<'_, Value> {
    let message = unwrapped(message);
    if message["lc"].is_number() && message["kwargs"].is_object() {
        let mut kwargs = message["kwargs"].clone();
        if kwargs["type"].is_null() && kwargs["role"].is_null() {
            let class = message["id"].as_array().and_then(|id| id.last()).cloned();
            kwargs["type"] = class.unwrap_or_default();
        }
        return std::borrow::Cow::Owned(kwargs);
    }
    if message["data"].is_object() && message["type"].is_string() && message["role"].is_null() {
        let mut data = message["data"].clone();
        data["type"] = message["type"].clone();
        return std::borrow::Cow::Owned(data);
    }
    if message["message"].is_object() && message["role"].is_null() {
        return std::borrow::Cow::Owned(constructed(&message["message"]).into_owned());
    }
    message
}

/// The roles of all frameworks.
fn role(path: &str, message: &Value) -> Result<&'static str, RowError> {
    let named = ["role", "from", "type", "source"].iter().find_map(|name| message[*name].as_str());
    let Some(named) = named else {
        return Err(RowError::at(&format!("{path}.role"), "is required"));
    };
    let plain = named.rsplit('.').next().unwrap_or(named).to_lowercase();
    let plain = plain.strip_suffix("chunk").unwrap_or(&plain);
    let plain = plain.strip_suffix("message").filter(|rest| !rest.is_empty()).unwrap_or(plain);
    Ok(match plain {
        "user" | "human" | "prompter" => "user",
        "assistant" | "ai" | "model" | "gpt" | "bot" | "chatgpt" | "agent" | "assistantprompt" => {
            "assistant"
        }
        "system" | "developer" => "system",
        "tool" | "function" | "ipython" | "toolresult" | "observation" | "environment" => "tool",
        // LangChain's ChatMessage says its role apart; a message of the Responses API has one.
        _ => {
            let rule = format!("`{named}` is no role that is known");
            return Err(RowError::at(&format!("{path}.role"), rule));
        }
    })
}

/// Content of a message.
#[derive(Debug, Default)]
struct Said {
    parts: Vec<Value>,
    calls: Vec<WrittenCall>,
    /// The id of the call, if it is told, and the result.
    results: Vec<(Option<String>, String)>,
}

#[derive(Debug)]
struct WrittenCall {
    id: Option<String>,
    name: String,
    arguments: String,
}

impl Said {
    fn has_words(&self) -> bool {
        !self.parts.is_empty()
    }

    /// A text where there is nothing else.
    fn content(&self) -> Value {
        let texts: Option<Vec<&str>> = self
            .parts
            .iter()
            .map(|part| part["text"].as_str().filter(|_| part["type"] == "text"))
            .collect();
        texts.map_or_else(|| self.parts.clone().into(), |texts| texts.join("\n").into())
    }

    fn say(&mut self, text: &str) {
        if !text.is_empty() {
            self.parts.push(json!({ "type": "text", "text": text }));
        }
    }

    fn take(&mut self, path: &str, role: &str, content: &Value) -> Result<(), RowError> {
        match content {
            Value::String(text) => self.say(text),
            Value::Null => {}
            Value::Array(parts) if role == "tool" && !parts.iter().all(is_part) => {
                self.say(&content.to_string());
            }
            Value::Array(parts) => {
                for (at, part) in parts.iter().enumerate() {
                    self.take_part(&format!("{path}.content[{at}]"), role, part)?;
                }
            }
            Value::Object(_) if is_part(content) => {
                self.take_part(&format!("{path}.content"), role, content)?;
            }
            Value::Object(inner) if inner.get("parts").is_some_and(Value::is_array) => {
                self.take(path, role, &inner["parts"])?;
            }
            Value::Object(inner)
                if inner.len() == 1 && inner.get("content").is_some_and(Value::is_string) =>
            {
                self.say(inner["content"].as_str().unwrap_or_default());
            }
            // The result of a tool, or arguments, that the log has parsed.
            other => self.say(&other.to_string()),
        }
        Ok(())
    }

    fn take_part(&mut self, path: &str, role: &str, part: &Value) -> Result<(), RowError> {
        let part = &*if part["message_content"].is_object() {
            unwrapped(&part["message_content"])
        } else {
            std::borrow::Cow::Borrowed(part)
        };
        if let Some(text) = part.as_str() {
            self.say(text);
            return Ok(());
        }
        let words = || {
            part["text"]
                .as_str()
                .or_else(|| part["content"].as_str())
                .or_else(|| part["value"].as_str())
        };
        match part["type"].as_str().or_else(|| part["kind"].as_str()).unwrap_or_default() {
            "text" | "input_text" | "output_text" | "refusal" => {
                self.say(words().or_else(|| part["refusal"].as_str()).unwrap_or_default());
            }
            "thinking" | "reasoning" | "redacted_thinking" | "reasoning_content" => {}
            "tool_call" | "tool_use" | "function_call" | "tool-call" | "toolCall"
            | "server_tool_use" => {
                self.calls.extend(call(part));
            }
            "tool_call_response"
            | "tool_result"
            | "tool-result"
            | "toolResult"
            | "function_call_output"
            | "tool-return" => {
                let id = id(part, &["id", "tool_use_id", "tool_call_id", "toolCallId", "call_id"]);
                let result = ["response", "result", "content", "output", "value"]
                    .iter()
                    .map(|name| &part[*name])
                    .find(|value| !value.is_null());
                let text = result.map(plain_text).unwrap_or_default();
                self.results.push((id, text));
            }
            "image_url" | "image" | "input_image" | "file" | "input_file" | "input_audio"
            | "audio" | "blob" | "uri" | "document" | "media" | "video" => {
                self.parts.push(part.clone());
            }
            "" if words().is_some() => self.say(words().unwrap_or_default()),
            "" if part["function_call"].is_object() || part["functionCall"].is_object() => {
                let inner = if part["functionCall"].is_object() {
                    &part["functionCall"]
                } else {
                    &part["function_call"]
                };
                self.calls.extend(call(inner));
            }
            "" if part["function_response"].is_object() || part["functionResponse"].is_object() => {
                let inner = if part["functionResponse"].is_object() {
                    &part["functionResponse"]
                } else {
                    &part["function_response"]
                };
                let id = inner["id"].as_str().map(str::to_owned);
                self.results.push((id, plain_text(&inner["response"])));
            }
            _ if role == "tool" => self.say(&part.to_string()),
            "" => {
                let rule = format!("has no type, it has {}", names(part));
                return Err(RowError::at(path, rule));
            }
            other => {
                let rule = format!("`{other}` is no part of a message that is known");
                return Err(RowError::at(&format!("{path}.type"), rule));
            }
        }
        Ok(())
    }
}

fn names(value: &Value) -> String {
    let fields = value.as_object().into_iter().flat_map(Map::keys);
    fields.take(6).cloned().collect::<Vec<_>>().join(", ")
}

/// Returns true if an element of a content is a part of a message, and no result that the log has parsed.
fn is_part(part: &Value) -> bool {
    part.is_string()
        || part["message_content"].is_object()
        || (part["type"].is_string()
            && [
                "text",
                "content",
                "image_url",
                "source",
                "id",
                "result",
                "response",
                "input",
                "name",
                "thinking",
                "file",
                "blob",
                "uri",
                "refusal",
                "reasoning",
                "image",
                "audio",
                "video",
                "document",
                "output",
                "toolCallId",
            ]
            .iter()
            .any(|name| part.get(*name).is_some()))
}

/// Parts may be written as a text of JSON; a text that only looks like JSON stays one.
fn unwrapped_parts(content: &Value) -> std::borrow::Cow<'_, Value> {
    let inner = unwrapped(content);
    let is_parts = inner.as_array().is_some_and(|parts| {
        !parts.is_empty() && parts.iter().all(|part| part.is_object() && is_part(part))
    });
    if content.is_string() && !is_parts { std::borrow::Cow::Borrowed(content) } else { inner }
}

/// A call, in the shapes of all frameworks.
fn call(json: &Value) -> Option<WrittenCall> {
    let json = &*unwrapped(if json["tool_call"].is_object() { &json["tool_call"] } else { json });
    let function = if json["function"].is_object() { &json["function"] } else { json };
    let name = function["name"].as_str().or_else(|| json["function"].as_str()).or_else(|| {
        ["tool_name", "toolName", "function_name"].iter().find_map(|name| json[*name].as_str())
    })?;
    let arguments =
        ["arguments", "args", "input", "parameters"].iter().find_map(|field| function.get(*field));
    let arguments = match arguments {
        None | Some(Value::Null) => "{}".to_owned(),
        Some(Value::String(text)) if text.trim().is_empty() => "{}".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let id = id(json, &["id", "tool_call_id", "toolCallId", "call_id"]);
    Some(WrittenCall { id, name: name.to_owned(), arguments })
}

/// Id of a call; Microsoft's framework has a list there, of the run and the call.
fn id(json: &Value, names: &[&str]) -> Option<String> {
    let ids = names.iter().map(|name| &json[*name]).filter(|id| !id.is_null());
    let ids = ids.map(|id| id.as_str().map_or_else(|| id.to_string(), str::to_owned));
    ids.into_iter().find(|id| !id.is_empty())
}

/// The calls of a content that is a list of nothing else: Koog logs turns so, as messages of a tool.
fn calls_of(content: &Value) -> Option<Vec<WrittenCall>> {
    let content = unwrapped(content);
    let list = content.as_array().filter(|list| !list.is_empty())?;
    let is_call = |part: &Value| {
        part["type"] == "function"
            && part["function"]["name"].is_string()
            && part["function"].get("arguments").is_some()
    };
    list.iter().all(is_call).then(|| list.iter().filter_map(call).collect())
}

/// The words of a value: a text, the texts of parts one a line, or the value as JSON.
pub(super) fn plain_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let text = |part: &Value| {
                part.as_str()
                    .or_else(|| part["text"].as_str())
                    .or_else(|| part["content"].as_str())
                    .map(str::to_owned)
            };
            let texts: Option<Vec<String>> = parts.iter().map(text).collect();
            texts.map_or_else(|| value.to_string(), |texts| texts.join("\n"))
        }
        Value::Object(fields) => match fields.get("parts") {
            Some(parts) => plain_text(parts),
            None => fields
                .get("text")
                .and_then(Value::as_str)
                .map_or_else(|| value.to_string(), str::to_owned),
        },
        other => other.to_string(),
    }
}

/// Returns true if a message is a turn of the model, in any shape.
pub(super) fn is_turn(message: &Value) -> bool {
    let message = constructed(message);
    role("", &message).is_ok_and(|role| role == "assistant") && {
        let says = |name: &str| match &message[name] {
            Value::String(text) => !text.is_empty(),
            Value::Array(list) => !list.is_empty(),
            Value::Null => false,
            _ => true,
        };
        ["content", "parts", "value", "text", "tool_calls", "function_call"]
            .iter()
            .any(|name| says(name))
    }
}
