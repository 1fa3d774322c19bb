//! Langfuse: rows of `observations`, as its exports and its interface write them.

use serde_json::Value;

use super::answer::Answer;
use super::{Entry, Fields, LoggedRequest, RowContent, first, first_text, request, unwrapped};

/// What only observations have, in the names of exports and of the interface.
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

pub(super) fn is_observation(fields: &Fields<'_>) -> bool {
    let has = |name: &str| fields.contains_key(name);
    // A span without input has no field of that name where tables leave out what is null.
    let is_signed = SIGNS.iter().any(|name| has(name));
    has("input") && (has("output") || is_signed) || has("type") && is_signed
}

pub(super) fn row(row: &Value) -> RowContent {
    let kind = row["type"].as_str().unwrap_or("GENERATION");
    if !kind.eq_ignore_ascii_case("generation") {
        return RowContent::other();
    }
    let model = first_text(
        row,
        &["provided_model_name", "providedModelName", "model", "internal_model_id"],
    );
    let input = unwrapped(&row["input"]);
    let parameters = first(row, &["model_parameters", "modelParameters"]);
    let tools = parameters.map(unwrapped).and_then(|parameters| parameters.get("tools").cloned());
    let made = request::assembled(&input, model.as_deref(), tools.as_ref());
    let beside = request::model_beside(&input, model.as_deref());
    RowContent::of(made.map(|request| {
        Entry::Request(LoggedRequest {
            request,
            model: beside,
            answer: Answer::of(&unwrapped(&row["output"])),
            conversation: first_text(row, &["session_id", "sessionId", "trace_id", "traceId"]),
            counted_tokens: counted(row),
        })
    }))
}

fn counted(row: &Value) -> Option<i64> {
    let usage = first(row, &["usage_details", "usageDetails", "usage"])?;
    let usage = unwrapped(usage);
    let number = |value: &Value| value.as_i64().or_else(|| value.as_str()?.parse().ok());
    if let Value::Array(entries) = &*usage {
        // A map of Parquet, as a list of keys and values.
        let entry =
            entries.iter().find(|entry| entry["key"] == "input" || entry["keys"] == "input")?;
        return number(first(entry, &["value", "values"])?);
    }
    first(&usage, &["input", "promptTokens", "input_tokens"]).and_then(number)
}
