//! `OpenInference`, which Phoenix and Arize read: spans whose messages are attributes with numbers in their names.

use serde_json::{Map, Value};

use super::answer::Answer;
use super::chat::{self, Asked};
use super::row::{Row, number, unwrapped};
use super::span::{self, Span};
use super::table::Reader;
use super::{LoggedRequest, RowContent, RowError};

pub(super) const SPAN: Reader = Reader {
    called: "a span of OpenInference",
    proves: is_span,
    read: |row| Ok(of_span(&Span::of(row.whole()?))),
    columns: &["span_kind"],
};

pub(super) fn is_span(row: &Row<'_>) -> bool {
    span::has_attribute(row, &["openinference.", "llm.input_messages"])
        || (row.has("span_kind") && span::has_attribute(row, &["llm.", "input.value"]))
}

pub(super) fn is_ours(attributes: &Map<String, Value>) -> bool {
    attributes
        .keys()
        .any(|name| name.starts_with("openinference.") || name.starts_with("llm.input_messages"))
}

pub(super) fn of_span(span: &Span) -> RowContent {
    let kind = span.text(&["openinference.span.kind"]).unwrap_or_else(|| "LLM".to_owned());
    if !kind.eq_ignore_ascii_case("llm") {
        return RowContent::skip(format!("spans of OpenInference of the kind {kind}"));
    }
    let messages = span.value("llm.input_messages").map(|list| flat(&list));
    let prompt = || span.value("llm.prompts").or_else(|| span.value("input.value"));
    let messages = messages.map(|messages| ("llm.input_messages", messages));
    let Some((path, input)) = messages.or_else(|| Some(("input.value", prompt()?))) else {
        let rule = "is not there: the messages were not recorded; unset OPENINFERENCE_HIDE_INPUTS";
        return RowContent::of(Err(RowError::at("llm.input_messages", rule)));
    };
    let parameters = span.value("llm.invocation_parameters").unwrap_or_default();
    let tools = span.value("llm.tools").or_else(|| parameters.get("tools").cloned());
    let tools = tools.map(|tools| flat(&tools));
    let model = span.text(&["llm.model_name"]);
    let system = parameters.get("system");
    let asked =
        Asked { input: Some(&input), tools: tools.as_ref(), model: model.as_deref(), system };
    let output = span
        .value("llm.output_messages")
        .map(|list| flat(&list))
        .or_else(|| span.value("output.value"));
    RowContent::of(chat::request(path, &asked).map(|request| {
        LoggedRequest {
            request,
            answer: output.as_ref().and_then(Answer::of),
            conversation: span.text(&["session.id"]),
            counted_tokens: span
                .attributes
                .get("llm.token_count.prompt")
                .and_then(number)
                .filter(|tokens| *tokens > 0),
            time: span.time,
            route: span.text(&["graph.node.id", "agent.name", "metadata.langgraph_node"]),
            user: span.text(&["user.id"]),
            model,
        }
    }))
}

/// The same without the words that name what a list is of: `message`, `tool_call`, `tool`.
fn flat(value: &Value) -> Value {
    match &*unwrapped(value) {
        Value::Array(list) => list.iter().map(flat).collect(),
        Value::Object(fields) => {
            let mut flattened = Value::Object(Map::new());
            for (name, value) in fields {
                let own = name.rsplit('.').next().unwrap_or(name);
                let is_wrapper =
                    matches!(&**name, "message" | "tool_call" | "tool" | "message_content")
                        && fields.len() == 1;
                // Contents are texts, whatever they look like.
                let is_text = matches!(own, "content" | "arguments" | "text") && value.is_string();
                let value = if is_text { value.clone() } else { flat(value) };
                if is_wrapper {
                    return value;
                }
                // Tables have `message.role` and `tool_call.function.name` as names.
                let path: Vec<&str> = name.split('.').collect();
                let path = match path[..] {
                    ["message" | "tool_call" | "tool" | "message_content", ref rest @ ..]
                        if !rest.is_empty() =>
                    {
                        rest.to_vec()
                    }
                    _ => path,
                };
                span::set(&mut flattened, &path, &value);
            }
            flattened
        }
        other => other.clone(),
    }
}
