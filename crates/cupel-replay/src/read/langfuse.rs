//! Langfuse: rows of `observations`, as its API, its interface and its blob exports write them.

use serde_json::Value;

use super::answer::Answer;
use super::chat::{self, Asked};
use super::row::{Row, first, first_text, number, unwrapped};
use super::table::Reader;
use super::{LoggedRequest, RowContent, RowError, time, usage};

pub(super) const OBSERVATION: Reader = Reader {
    called: "an observation of Langfuse",
    proves,
    read,
    columns: &[
        "id",
        "traceId",
        "trace_id",
        "type",
        "name",
        "input",
        "output",
        "model",
        "provided_model_name",
        "providedModelName",
        "internal_model_id",
        "session_id",
        "sessionId",
        "user_id",
        "userId",
        "usage_details",
        "usageDetails",
        "usage",
        "model_parameters",
        "modelParameters",
        "start_time",
        "startTime",
        "metadata",
        "environment",
        "parent_observation_id",
        "parentObservationId",
        "completion_start_time",
        "completionStartTime",
        "trace_name",
        "traceName",
    ],
};

/// The types of observations.
const TYPES: [&str; 10] = [
    "GENERATION",
    "SPAN",
    "EVENT",
    "AGENT",
    "TOOL",
    "CHAIN",
    "RETRIEVER",
    "EVALUATOR",
    "EMBEDDING",
    "GUARDRAIL",
];

/// Fields of observations, in the names of exports and of the interface.
const SIGNS: [&str; 12] = [
    "traceId",
    "trace_id",
    "providedModelName",
    "provided_model_name",
    "usageDetails",
    "usage_details",
    "sessionId",
    "completionStartTime",
    "completion_start_time",
    "parentObservationId",
    "parent_observation_id",
    "environment",
];

/// Fields of observations and traces that nothing is read of.
const UNREAD: [&str; 31] = [
    "timestamp",
    "endTime",
    "end_time",
    "createdAt",
    "created_at",
    "updatedAt",
    "updated_at",
    "projectId",
    "project_id",
    "latency",
    "timeToFirstToken",
    "time_to_first_token",
    "level",
    "statusMessage",
    "status_message",
    "version",
    "release",
    "tags",
    "bookmarked",
    "public",
    "scores",
    "costDetails",
    "cost_details",
    "totalCost",
    "total_cost",
    "promptId",
    "promptName",
    "prompt_name",
    "promptVersion",
    "prompt_version",
    "totalTokens",
];

/// A type of an observation, or an input without a type, beside a sign. Requests, attributes and inputs of
/// other formats contradict it. Without a sign, an input beside an output is one where all of the row is of an observation:
/// many a table has an `input` that is a part of the prompt.
fn proves(row: &Row<'_>) -> bool {
    let others = [
        "request",
        "messages",
        "run_type",
        "attributes",
        "span_attributes",
        "SpanAttributes",
        "inputs",
        "op_name",
        "call_type",
        "events",
    ];
    let kind = row.text_of("type");
    let is_type = kind
        .as_deref()
        .is_some_and(|kind| TYPES.iter().any(|known| known.eq_ignore_ascii_case(kind)));
    let is_signed = SIGNS.iter().any(|name| row.fields.contains_key(*name));
    let has_input = row.fields.contains_key("input") && kind.is_none();
    !row.has_any(&others) && is_signed && (is_type || has_input)
        || has_input && row.has("output") && row.fields.keys().all(|name| is_of_observation(name))
}

fn is_of_observation(name: &str) -> bool {
    OBSERVATION.columns.contains(&name) || UNREAD.contains(&name)
}

fn read(row: &Row<'_>) -> Result<RowContent, RowError> {
    let kind = row.text_of("type").unwrap_or_else(|| "GENERATION".to_owned());
    if !kind.eq_ignore_ascii_case("generation") {
        return Ok(RowContent::skip(format!(
            "observations of Langfuse of the type {}",
            kind.to_uppercase()
        )));
    }
    let row = row.whole()?;
    let metadata = unwrapped(&row["metadata"]);
    let model = first_text(row, &["provided_model_name", "providedModelName", "model"])
        .or_else(|| first_text(&metadata, &["ls_model_name"]))
        .or_else(|| first_text(row, &["internal_model_id"]));
    if row["input"].is_null() {
        let rule = "is not there: the input was not exported; ask for observations with their input and output";
        return Ok(RowContent::of(Err(RowError::at("input", rule))));
    }
    let parameters = first(row, &["model_parameters", "modelParameters"]).map(unwrapped);
    let attributes = &metadata["attributes"];
    let tools = parameters
        .as_ref()
        .and_then(|parameters| parameters.get("tools"))
        .or_else(|| metadata.get("tools"))
        .or_else(|| attributes.get("gen_ai.tool.definitions"))
        .or_else(|| attributes.get("llm.tools"));
    let asked = Asked { input: Some(&row["input"]), tools, model: model.as_deref(), system: None };
    Ok(RowContent::of(chat::request("input", &asked).map(|request| {
        LoggedRequest {
            request,
            answer: Answer::of(&unwrapped(&row["output"])),
            conversation: first_text(row, &["session_id", "sessionId"])
                .or_else(|| first_text(&metadata, &["thread_id", "conversation_id"]))
                .or_else(|| first_text(attributes, &["gen_ai.conversation.id", "session.id"]))
                .or_else(|| of_trace(row)),
            counted_tokens: counted(row),
            time: first(row, &["start_time", "startTime"]).and_then(time::micros),
            route: first_text(row, &["trace_name", "traceName", "name"]),
            user: first_text(row, &["user_id", "userId"]),
            model,
        }
    })))
}

/// Langfuse counts kinds of input tokens apart: cached ones are not in `input`.
fn counted(row: &Value) -> Option<i64> {
    of_usage(row).or_else(|| number(&row["inputUsage"]).filter(|tokens| *tokens > 0))
}

fn of_usage(row: &Value) -> Option<i64> {
    let usage = first(row, &["usage_details", "usageDetails", "usage"])?;
    let usage = unwrapped(usage);
    if let Value::Array(entries) = &*usage {
        // A map of Parquet, as a list of keys and values.
        let entry =
            entries.iter().find(|entry| entry["key"] == "input" || entry["keys"] == "input")?;
        return number(first(entry, &["value", "values"])?);
    }
    let is_cached = |name: &&String| {
        name.starts_with("input_cache")
            || name.starts_with("input_tokens_cache")
            || *name == "cache_read_input_tokens"
            || *name == "cache_creation_input_tokens"
    };
    match usage.get("input").and_then(number) {
        Some(input) => {
            let fields = usage.as_object().into_iter().flatten();
            let cached: i64 = fields
                .filter(|(name, _)| is_cached(name))
                .filter_map(|(_, value)| number(value))
                .sum();
            Some(input.saturating_add(cached)).filter(|tokens| *tokens > 0)
        }
        None => usage::input_tokens(&usage),
    }
}

/// A trace is a conversation where it holds more than the one call: a call that stands alone is told by its
/// messages.
fn of_trace(row: &Value) -> Option<String> {
    let is_alone = row
        .get("parentObservationId")
        .or_else(|| row.get("parent_observation_id"))
        .is_some_and(Value::is_null);
    first_text(row, &["trace_id", "traceId"]).filter(|_| !is_alone)
}
