//! A request and what came back, side by side; and the runs of agents of `cupel eval`.

use std::sync::Arc;

use cupel_eval::AgentRun;
use serde_json::Value;

use super::answer::Answer;
use super::chat::{self, Asked};
use super::request::{CONVERSATION, LISTS, is_raw};
use super::row::{Row, first, first_text, unwrapped};
use super::span;
use super::table::Reader;
use super::{Entry, LoggedRequest, RowContent, RowError, time, usage};

pub(super) const RUN: Reader = Reader {
    called: "a run of `cupel eval`",
    proves: |row| row.has("run") && row.has("messages") && row.has("steps"),
    read: |row| {
        let run = AgentRun::parse("run", 1, row.text);
        let run = run.map_err(|error| RowError::new(after_place(&error.to_string())));
        let entries = vec![run.map(|run| Entry::Run(Box::new(run)))];
        Ok(RowContent { entries, ..RowContent::default() })
    },
    columns: &["run", "set", "head", "messages", "steps"],
};

/// An error without the place that it begins with.
fn after_place(text: &str) -> String {
    let rest = text.strip_prefix("run:1").unwrap_or(text);
    rest.trim_start_matches(|letter: char| letter == ':' || letter.is_ascii_digit())
        .trim()
        .to_owned()
}

pub(super) const PAIR: Reader = Reader {
    called: "a request beside its response",
    proves,
    read: |row| pair(row).map(|logged| RowContent::of(Ok(logged))),
    columns: &[
        "request",
        "response",
        "answer",
        "output",
        "completion",
        "messages",
        "contents",
        "input",
        "items",
        "model",
        "system",
        "tools",
        "conversation",
        "conversation_id",
        "session_id",
        "thread_id",
        "session",
        "timestamp",
        "created_at",
        "time",
        "start_time",
        "route",
        "user",
        "user_id",
        "usage",
        "prompt_tokens",
        "input_tokens",
    ],
};

const ANSWERS: [&str; 6] = ["response", "answer", "output", "completion", "choices", "reply"];
/// Fields by which other formats recognize their rows.
const OF_OTHERS: [&str; 21] = [
    "run",
    "run_type",
    "trajectory",
    "trajectory_format",
    "traj",
    "simulations",
    "samples",
    "events",
    "call_type",
    "op_name",
    "custom_id",
    "traceId",
    "schema_version",
    "history",
    "resourceSpans",
    "request_body",
    "request_created_at",
    "message_tree_id",
    "conversations",
    "steps",
    "termination_reason",
];

/// A row with a request of its own, or with messages beside fields that no request has.
fn proves(row: &Row<'_>) -> bool {
    let is_span =
        span::is_span(row) || span::has_attribute(row, &["gen_ai.", "llm.", "openinference."]);
    if is_span || OF_OTHERS.iter().any(|name| row.has(name)) {
        return false;
    }
    if row.has("request") {
        return !row.has_any(&["messages", "contents"]) || row.has_any(&ANSWERS);
    }
    let has_messages = row.is_list("messages") || row.is_list("contents");
    let is_of_langfuse = row.has("type") && row.has_any(&["trace_id", "parent_observation_id"]);
    has_messages && !is_raw(row) && !is_of_langfuse
}

fn pair(row: &Row<'_>) -> Result<LoggedRequest, RowError> {
    let model = row.first_text(&["model", "model_name", "engine"]);
    let request: Arc<str> = if row.has("request") {
        beside(row, model.as_deref())?
    } else {
        // Of what stands beside the messages, what requests have is one; all else is the log's own.
        let whole = row.whole()?;
        let asked = Asked { input: Some(whole), model: model.as_deref(), ..Asked::default() };
        chat::request("row", &asked)
            .map_err(|error| RowError::new(error.rule.replacen("row.", "", 1)))?
    };
    let response = ANSWERS.iter().find(|name| row.has(name)).map(|name| match *name {
        // A list of choices is read as part of its response.
        "choices" => serde_json::json!({ "choices": row.value("choices") }),
        name => row.value(name),
    });
    let of_row =
        ["usage", "token_usage"].iter().find_map(|name| usage::input_tokens(&row.value(name)));
    let counted = response
        .as_ref()
        .and_then(|response| first(response, &["usage", "usageMetadata", "usage_metadata"]))
        .and_then(usage::input_tokens)
        .or(of_row)
        .or_else(|| row.whole().ok().and_then(usage::input_tokens));
    Ok(LoggedRequest {
        answer: response.as_ref().and_then(Answer::of),
        counted_tokens: counted,
        conversation: row.first_text(&CONVERSATION),
        time: ["timestamp", "created_at", "time", "start_time", "startTime", "ts", "created"]
            .iter()
            .find_map(|name| time::micros(&row.value(name))),
        model,
        route: row.first_text(&["route", "endpoint", "task", "name"]),
        user: row.first_text(&["user", "user_id", "userId"]),
        request,
    })
}

/// The request of a field: an object, or its text, as it was sent.
fn beside(row: &Row<'_>, model: Option<&str>) -> Result<Arc<str>, RowError> {
    let raw = row.raw("request").unwrap_or("null");
    // A body may have been logged as a text.
    let request: Arc<str> = match serde_json::from_str::<String>(raw) {
        Ok(text) => text.into(),
        Err(_) => raw.into(),
    };
    if !request.trim_start().starts_with(['{', '[']) {
        return Err(RowError::at("request", "must be a request, as an object or as its JSON text"));
    }
    let is_request = Row::parse(&request).is_ok_and(|inner| is_raw(&inner));
    if is_request || request.trim_start().starts_with('[') {
        return Ok(request);
    }
    let value: Value = serde_json::from_str(&request)
        .map_err(|error| RowError::at("request", super::not_json(&request, &error)))?;
    // Middleware logs a body with its headers.
    let inner = first(&value, &["body", "json", "payload"])
        .map(unwrapped)
        .filter(|body| LISTS.iter().any(|name| !body[*name].is_null()));
    let model = first_text(&value, &["model"]).or_else(|| model.map(str::to_owned));
    let asked = Asked {
        input: Some(inner.as_deref().unwrap_or(&value)),
        model: model.as_deref(),
        ..Asked::default()
    };
    chat::request("request", &asked)
}
