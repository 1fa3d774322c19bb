//! `LangSmith`: rows of runs, of which those of models count.

use serde_json::Value;

use super::answer::Answer;
use super::{Entry, LoggedRequest, RowContent, first, first_text, request, unwrapped};

pub(super) fn row(row: &Value) -> RowContent {
    if !matches!(row["run_type"].as_str(), Some("llm" | "chat_model" | "prompt_model")) {
        return RowContent::other();
    }
    let inputs = unwrapped(&row["inputs"]);
    // LangChain sends batches: a list of lists, almost always of one.
    let messages = unwrapped(&inputs["messages"]);
    let batch = messages[0].as_array().is_some();
    let input = match (&*messages, batch) {
        (Value::Array(batches), true) => batches[0].clone(),
        (Value::Array(messages), false) => Value::Array(messages.clone()),
        _ => inputs.clone().into_owned(),
    };
    let extra = unwrapped(&row["extra"]);
    let parameters = unwrapped(&extra["invocation_params"]);
    let metadata = unwrapped(&extra["metadata"]);
    let model = first_text(&parameters, &["model", "model_name"])
        .or_else(|| first_text(&metadata, &["ls_model_name"]))
        .or_else(|| first_text(&inputs, &["model"]));
    let tools = first(&inputs, &["tools"]).or_else(|| first(&parameters, &["tools"]));
    let made = request::assembled(&input, model.as_deref(), tools.map(unwrapped).as_deref());
    let beside = request::model_beside(&input, model.as_deref());
    RowContent::of(made.map(|request| {
        Entry::Request(LoggedRequest {
            request,
            model: beside,
            answer: Answer::of(&unwrapped(&row["outputs"])),
            conversation: first_text(&metadata, &["session_id", "thread_id", "conversation_id"])
                .or_else(|| first_text(row, &["thread_id", "trace_id"])),
            counted_tokens: first(row, &["prompt_tokens"]).and_then(Value::as_i64),
        })
    }))
}
