//! Files that are one conversation each: transcripts of agents, exports, histories that are a list of events.

use cupel_chat::{Pick, Request, TranscriptKind};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::trajectory::{self, Run, Turn};
use super::{RowContent, RowError, chat, openhands};

/// Returns true if a file that begins so is one document, whose lines or elements belong together.
pub(crate) fn is_document(beginning: &str) -> bool {
    kind_of(beginning).is_some()
        || is_list_of(beginning, |first| openhands::is_event(first) || chat::is_message(first))
}

fn kind_of(text: &str) -> Option<TranscriptKind> {
    let kind = TranscriptKind::detect(text)?;
    matches!(kind, TranscriptKind::ClaudeCode | TranscriptKind::Codex | TranscriptKind::ChatGpt)
        .then_some(kind)
}

/// Returns true if a text is a list whose first element is such, and not one list on each line.
fn is_list_of(text: &str, is_it: impl Fn(&Value) -> bool) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim();
    let Some(rest) = text.strip_prefix('[') else { return false };
    let mut lines = text.lines();
    let is_line = lines.next().is_some_and(|line| serde_json::from_str::<IgnoredAny>(line).is_ok());
    if is_line && lines.next().is_some() {
        return false;
    }
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    matches!(values.next(), Some(Ok(first)) if is_it(&first))
}

fn is_history(text: &str) -> bool {
    is_list_of(text, openhands::is_event)
}

/// Content of a document. `None` if it is none.
pub(super) fn document(text: &str) -> Option<Result<RowContent, RowError>> {
    if is_history(text) {
        let events: Result<Vec<Value>, _> = serde_json::from_str(text);
        let events = events.map_err(|error| super::not_json(text, &error));
        let content = events.and_then(|events| openhands::of_events(&events, None, None));
        return Some(
            content.map(|content| RowContent { kind: openhands::HISTORY.called, ..content }),
        );
    }
    let is_several =
        text.starts_with(['{', '[']) && (text.contains('\n') || text.contains("\"mapping\""));
    let kind = is_several.then(|| kind_of(text)).flatten()?;
    Some(of_kind(kind, text).map(|content| RowContent { kind: kind.called(), ..content }))
}

fn of_kind(kind: TranscriptKind, text: &str) -> Result<RowContent, RowError> {
    let failed = |error: cupel_chat::TranscriptError| RowError::new(error.to_string());
    let listed = kind.list(text).map_err(failed)?;
    let contents = (1..=listed.len()).map(|number| {
        let imported = kind.import(text, &Pick::Named(number.to_string())).map_err(failed);
        let id = listed[number - 1].id.clone();
        imported
            .and_then(|imported| beginnings(&imported.text, id))
            .unwrap_or_else(|error| RowContent::of(Err(error)))
    });
    Ok(RowContent::join(contents))
}

/// The requests of which the last one of a conversation is made: each ends before a turn of the model.
fn beginnings(text: &str, id: String) -> Result<RowContent, RowError> {
    let body: Value = serde_json::from_str(text).map_err(|error| super::not_json(text, &error))?;
    let name = ["messages", "input"].into_iter().find(|name| body[*name].is_array());
    let Some(name) = name else { return Err(RowError::new("has no messages")) };
    let messages = body[name].as_array().cloned().unwrap_or_default();
    let run = Run {
        conversation: Some(id),
        model: Request::parse(text, None)
            .ok()
            .and_then(|request| request.model().map(str::to_owned)),
        system: body.get("system").or_else(|| body.get("instructions")),
        tools: body.get("tools"),
        ..Run::default()
    };
    if name == "input" {
        return Ok(items(&body, &messages, &run));
    }
    trajectory::requests(name, &messages, &run, |_| Turn::default())
}

/// Requests of the Responses API: what the model made stands there as items of its own.
fn items(body: &Value, items: &[Value], run: &Run<'_>) -> RowContent {
    let is_made = |item: &Value| {
        item["role"] == "assistant"
            || matches!(
                item["type"].as_str(),
                Some("function_call" | "reasoning" | "custom_tool_call" | "local_shell_call")
            )
    };
    let mut entries = Vec::new();
    let mut at = 0;
    while at < items.len() {
        let end =
            items[at..].iter().position(|item| !is_made(item)).map_or(items.len(), |end| at + end);
        if end == at || at == 0 {
            at = end.max(at + 1);
            continue;
        }
        let mut request = body.clone();
        request["input"] = items[..at].into();
        entries.push(Ok(super::LoggedRequest {
            request: request.to_string().into(),
            answer: super::Answer::of(&Value::Array(items[at..end].to_vec())),
            conversation: run.conversation.clone(),
            model: run.model.clone(),
            ..super::LoggedRequest::default()
        }));
        at = end;
    }
    RowContent::several(entries)
}
