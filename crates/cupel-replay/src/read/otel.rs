//! OpenTelemetry: spans of calls of models by the conventions for generative AI, all generations of them.
//!
//! Messages stand in `gen_ai.input.messages`; before that they were attributes with numbers in their names
//! (`gen_ai.prompt.0.role`), events of the span, or events in a log of their own. Vercel's AI SDK has
//! `ai.prompt.messages`.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::answer::Answer;
use super::chat::{self, Asked};
use super::row::{first, first_text, number, unwrapped};
use super::span::{self, Span};
use super::table::Reader;
use super::{LoggedRequest, RowContent, RowError, kind, openinference, time};

pub(super) const DOCUMENT: Reader = Reader {
    called: "a document of OTLP",
    proves: |row| row.has_any(&["resourceSpans", "resource_spans"]),
    read: |row| document(row.whole()?),
    columns: &["resourceSpans", "resource_spans"],
};

pub(super) const EVENTS: Reader = Reader {
    called: "a document of OTLP logs",
    proves: |row| row.has_any(&["resourceLogs", "resource_logs"]),
    read: |row| events(row.whole()?),
    columns: &["resourceLogs", "resource_logs"],
};

pub(super) const SPAN: Reader = Reader {
    called: "a span of OpenTelemetry",
    proves: |row| {
        let is_ours = span::has_attribute(row, &["gen_ai.", "ai.prompt.", "traceloop."]);
        let is_span = span::is_span(row) || is_ours && !row.has("messages");
        is_span && !openinference::is_span(row) && !row.has("run_type")
    },
    read: |row| Ok(of_span(&Span::of(row.whole()?))),
    columns: span::COLUMNS,
};

const INPUT: &str = "gen_ai.input.messages";

/// The lists of a document, one inside the other.
fn lists<'v>(document: &'v Value, names: &[[&str; 2]]) -> Result<Vec<&'v Value>, RowError> {
    let mut found = vec![document];
    for [name, other] in names {
        let mut inner = Vec::new();
        for value in found {
            match first(value, &[name, other]) {
                Some(Value::Array(list)) => inner.extend(list),
                None => {}
                Some(value) => {
                    return Err(RowError::at(name, format!("must be a list, got {}", kind(value))));
                }
            }
        }
        found = inner;
    }
    Ok(found)
}

/// The spans of a document.
pub(super) fn spans(document: &Value) -> Result<Vec<&Value>, RowError> {
    let names =
        [["resourceSpans", "resource_spans"], ["scopeSpans", "scope_spans"], ["spans", "spans"]];
    lists(document, &names)
}

fn document(document: &Value) -> Result<RowContent, RowError> {
    Ok(RowContent::join(spans(document)?.into_iter().map(|span| {
        let span = Span::of(span);
        if openinference::is_ours(&span.attributes) {
            openinference::of_span(&span)
        } else {
            of_span(&span)
        }
    })))
}

/// The generations of the conventions, the newest first: where the messages are, and the answer.
fn messages(span: &Span) -> Option<(&'static str, Value, Option<Value>)> {
    if let Some(input) = span.value(INPUT) {
        return Some((INPUT, input, span.value("gen_ai.output.messages")));
    }
    for (_, event) in &span.events {
        if let Some(input) = span::value(event, INPUT) {
            return Some((INPUT, input, span::value(event, "gen_ai.output.messages")));
        }
    }
    if let Some(input) = span.value("gen_ai.prompt") {
        return Some(("gen_ai.prompt", input, span.value("gen_ai.completion")));
    }
    if let Some(input) = span.value("ai.prompt.messages") {
        let mut answer = json!({ "text": span.value("ai.response.text") });
        if let Some(calls) = span.value("ai.response.toolCalls") {
            answer["tool_calls"] = calls;
        }
        return Some(("ai.prompt.messages", input, Some(answer)));
    }
    let mut spoken = Spoken::default();
    for (name, event) in &span.events {
        match name.as_str() {
            "gen_ai.content.prompt" => {
                let input = span::value(event, "gen_ai.prompt")?;
                let output =
                    span.events.iter().find(|(name, _)| name == "gen_ai.content.completion");
                let output = output.and_then(|(_, event)| span::value(event, "gen_ai.completion"));
                return Some(("gen_ai.content.prompt", input, output));
            }
            name => spoken.take(name, &of_attributes(event)),
        }
    }
    let has_messages = !spoken.messages.is_empty();
    has_messages.then_some(("events", Value::Array(spoken.messages), spoken.answer))
}

/// Messages that are events.
#[derive(Default)]
struct Spoken {
    messages: Vec<Value>,
    answer: Option<Value>,
}

impl Spoken {
    fn take(&mut self, name: &str, body: &Value) {
        let role = match name {
            "gen_ai.system.message" => "system",
            "gen_ai.user.message" => "user",
            "gen_ai.assistant.message" => "assistant",
            "gen_ai.tool.message" => "tool",
            "gen_ai.choice" => {
                let message = unwrapped(&body["message"]).into_owned();
                self.answer = Some(if message.is_null() { body.clone() } else { message });
                return;
            }
            _ => return,
        };
        let mut message = body.clone();
        if message["role"].is_null() {
            message["role"] = role.into();
        }
        if role == "tool" && message["tool_call_id"].is_null() {
            message["tool_call_id"] = message["id"].clone();
        }
        self.messages.push(message);
    }
}

/// Attributes of an event, without the beginnings of their names.
fn of_attributes(event: &Map<String, Value>) -> Value {
    let named = event.iter().map(|(name, value)| {
        let own = name.rsplit('.').next().unwrap_or(name);
        (own.to_owned(), unwrapped(value).into_owned())
    });
    Value::Object(named.collect())
}

/// One span.
fn of_span(span: &Span) -> RowContent {
    let Some((path, input, output)) = messages(span) else {
        let operation = span.text(&["gen_ai.operation.name", "llm.request.type"]);
        let Some(operation) = operation else {
            return RowContent::skip("spans of OpenTelemetry that call no model");
        };
        if !matches!(&*operation, "chat" | "text_completion" | "generate_content" | "completion") {
            return RowContent::skip(format!(
                "spans of OpenTelemetry of the operation {operation}"
            ));
        }
        let rule = "is not there: the messages were not recorded in the span; turn on the recording of content in \
                    your instrumentation (OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT), or give the log \
                    that has them as events";
        return RowContent::of(Err(RowError::at(INPUT, rule)));
    };
    // Spans of agents and chains repeat what the calls of the model in them say.
    let operation = span.text(&["gen_ai.operation.name"]).unwrap_or_default();
    if matches!(
        &*operation,
        "invoke_agent" | "create_agent" | "execute_tool" | "embeddings" | "invoke_workflow"
    ) {
        return RowContent::skip(format!("spans of OpenTelemetry of the operation {operation}"));
    }
    let is_vercel_outer = path == "ai.prompt.messages"
        && span
            .name
            .as_deref()
            .is_some_and(|name| name.starts_with("ai.") && !name.contains(".do"));
    if is_vercel_outer {
        return RowContent::skip("spans of the AI SDK around its calls");
    }
    let tools = span
        .value("gen_ai.tool.definitions")
        .or_else(|| span.value("llm.request.functions"))
        .or_else(|| span.value("ai.prompt.tools"));
    let system = span.value("gen_ai.system_instructions");
    let model = span.text(&["gen_ai.request.model", "gen_ai.response.model", "ai.model.id"]);
    let asked = Asked {
        input: Some(&input),
        system: system.as_ref(),
        tools: tools.as_ref(),
        model: model.as_deref(),
    };
    RowContent::of(chat::request(path, &asked).map(|request| {
        LoggedRequest {
            request,
            answer: output.as_ref().and_then(Answer::of),
            conversation: span.text(&[
                "gen_ai.conversation.id",
                "session.id",
                "langfuse.session.id",
                "traceloop.association.properties.session_id",
                "traceloop.association.properties.thread_id",
            ]),
            counted_tokens: [
                "gen_ai.usage.input_tokens",
                "gen_ai.usage.prompt_tokens",
                "ai.usage.promptTokens",
            ]
            .iter()
            .find_map(|name| number(span.attributes.get(*name)?))
            .filter(|tokens| *tokens > 0),
            time: span.time,
            route: span.text(&[
                "gen_ai.agent.name",
                "traceloop.workflow.name",
                "ai.telemetry.functionId",
            ]),
            user: span.text(&[
                "user.id",
                "enduser.id",
                "langfuse.user.id",
                "traceloop.association.properties.user_id",
            ]),
            model,
        }
    }))
}

/// Messages as events in a log of their own, together by the span that they are of.
fn events(document: &Value) -> Result<RowContent, RowError> {
    let names = [
        ["resourceLogs", "resource_logs"],
        ["scopeLogs", "scope_logs"],
        ["logRecords", "log_records"],
    ];
    let mut spans: BTreeMap<(i64, String), Spoken> = BTreeMap::new();
    let mut first_of: BTreeMap<String, i64> = BTreeMap::new();
    let mut skipped = 0;
    for record in lists(document, &names)? {
        let attributes = Span::of(record).attributes;
        let named = first_text(record, &["eventName", "event_name"])
            .or_else(|| attributes.get("event.name")?.as_str().map(str::to_owned));
        let name = named.filter(|name| name.starts_with("gen_ai."));
        let Some((name, span)) = name.zip(first_text(record, &["spanId", "span_id"])) else {
            skipped += 1;
            continue;
        };
        let at = first(record, &["timeUnixNano", "observedTimeUnixNano"])
            .and_then(time::micros)
            .unwrap_or(0);
        let at = *first_of.entry(span.clone()).or_insert(at);
        let spoken = spans.entry((at, span)).or_default();
        if name == "gen_ai.client.inference.operation.details" {
            if let Some(Value::Array(list)) = span::value(&attributes, INPUT) {
                spoken.messages = list;
                spoken.answer = span::value(&attributes, "gen_ai.output.messages");
            }
            continue;
        }
        spoken.take(&name, &span::any_value(&record["body"]));
    }
    let mut content = RowContent::several(spans.into_iter().map(|((at, _), spoken)| {
        let input = Value::Array(spoken.messages);
        let request = chat::request("events", &Asked { input: Some(&input), ..Asked::default() })?;
        let time = (at > 0).then_some(at);
        let answer = spoken.answer.as_ref().and_then(Answer::of);
        Ok(LoggedRequest { request, answer, time, ..LoggedRequest::default() })
    }));
    content.skipped = vec!["records of a log that are no messages".to_owned(); skipped];
    Ok(content)
}
