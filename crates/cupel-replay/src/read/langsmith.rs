//! `LangSmith`: rows of runs, of which those of models count.

use super::answer::Answer;
use super::chat::{self, Asked};
use super::row::{Row, first, first_text, unwrapped};
use super::table::Reader;
use super::{LoggedRequest, RowContent, RowError, time, usage};

pub(super) const RUN: Reader = Reader {
    called: "a run of LangSmith",
    proves: |row| row.has("run_type") && row.fields.contains_key("inputs"),
    read,
    columns: &[
        "run_type",
        "inputs",
        "outputs",
        "extra",
        "thread_id",
        "trace_id",
        "prompt_tokens",
        "start_time",
        "name",
        "session_id",
    ],
};

fn read(row: &Row<'_>) -> Result<RowContent, RowError> {
    let kind = row.text_of("run_type").unwrap_or_default();
    if !matches!(&*kind, "llm" | "chat_model" | "prompt_model") {
        return Ok(RowContent::skip(format!("runs of LangSmith of the type {kind}")));
    }
    let row = row.whole()?;
    let inputs = unwrapped(&row["inputs"]);
    let extra = unwrapped(&row["extra"]);
    let parameters = unwrapped(&extra["invocation_params"]);
    let metadata = unwrapped(&extra["metadata"]);
    let model = first_text(&parameters, &["model", "model_name"])
        .or_else(|| first_text(&metadata, &["ls_model_name"]))
        .or_else(|| first_text(&inputs, &["model"]));
    let tools = first(&inputs, &["tools"]).or_else(|| first(&parameters, &["tools", "functions"]));
    let asked = Asked { input: Some(&inputs), tools, model: model.as_deref(), system: None };
    let outputs = unwrapped(&row["outputs"]);
    let counted = usage::input_tokens(row)
        .or_else(|| usage::input_tokens(&outputs["llm_output"]["token_usage"]))
        .or_else(|| usage::input_tokens(&outputs["usage_metadata"]))
        .or_else(|| usage::input_tokens(&outputs["usage"]))
        .or_else(|| usage::input_tokens(&metadata["usage_metadata"]));
    Ok(RowContent::of(chat::request("inputs", &asked).map(|request| {
        LoggedRequest {
            request,
            answer: Answer::of(&outputs),
            conversation: first_text(&metadata, &["session_id", "thread_id", "conversation_id"])
                .or_else(|| first_text(row, &["thread_id"]))
                // A call that stands alone is told by its messages.
                .or_else(|| first_text(row, &["trace_id"]).filter(|trace| row["id"] != **trace)),
            counted_tokens: counted,
            time: time::micros(&row["start_time"]),
            route: first_text(&metadata, &["langgraph_node"])
                .or_else(|| first_text(row, &["name"])),
            user: first_text(&metadata, &["user_id", "user"]),
            model,
        }
    })))
}
