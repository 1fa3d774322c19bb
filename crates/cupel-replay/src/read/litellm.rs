//! `LiteLLM`: the standard payload that its callbacks get, and rows of its spend logs.

use super::answer::Answer;
use super::chat::{self, Asked};
use super::row::{Row, first, first_text, unwrapped};
use super::table::Reader;
use super::{LoggedRequest, RowContent, RowError, time, usage};

pub(super) const CALL: Reader = Reader {
    called: "a call of LiteLLM",
    proves: |row| {
        row.has("call_type")
            && row.fields.contains_key("messages")
            && row.has_any(&["response_cost", "spend", "custom_llm_provider", "model_group"])
    },
    read,
    columns: &[
        "call_type",
        "messages",
        "response",
        "model",
        "model_parameters",
        "prompt_tokens",
        "startTime",
        "trace_id",
        "session_id",
        "end_user",
        "user",
        "metadata",
        "proxy_server_request",
        "spend",
        "response_cost",
        "custom_llm_provider",
        "model_group",
        "status",
    ],
};

fn read(row: &Row<'_>) -> Result<RowContent, RowError> {
    let kind = row.text_of("call_type").unwrap_or_default();
    if !["completion", "messages", "responses", "generate_content"]
        .iter()
        .any(|call| kind.contains(call))
    {
        return Ok(RowContent::skip(format!("calls of LiteLLM of the type {kind}")));
    }
    if row.text_of("status").as_deref() == Some("failure") {
        return Ok(RowContent::skip("calls of LiteLLM that failed"));
    }
    let row = row.whole()?;
    let proxied = unwrapped(&row["proxy_server_request"]);
    let messages = unwrapped(&row["messages"]);
    let is_empty = |value: &serde_json::Value| {
        value.is_null()
            || value.as_object().is_some_and(serde_json::Map::is_empty)
            || value.as_array().is_some_and(Vec::is_empty)
            || *value == "{}"
    };
    let input =
        if is_empty(&messages) { proxied.get("body").unwrap_or(&proxied) } else { &*messages };
    if is_empty(input) {
        let rule = "were not stored; set store_prompts_in_spend_logs in the settings of the proxy";
        return Ok(RowContent::of(Err(RowError::at("messages", rule))));
    }
    let parameters = unwrapped(&row["model_parameters"]);
    let model = first_text(row, &["model"]);
    let tools = first(&parameters, &["tools", "functions"]).or_else(|| first(&proxied, &["tools"]));
    let system = first(&parameters, &["system", "instructions"]);
    let asked = Asked { input: Some(input), tools, system, model: model.as_deref() };
    let response = unwrapped(&row["response"]);
    let metadata = unwrapped(&row["metadata"]);
    Ok(RowContent::of(chat::request("messages", &asked).map(|request| LoggedRequest {
        request,
        answer: Answer::of(&response),
        conversation: first_text(row, &["session_id"]),
        counted_tokens:
            usage::input_tokens(row).or_else(|| usage::input_tokens(&response["usage"])),
        time: time::micros(&row["startTime"]),
        route: first_text(&metadata, &["user_api_key_alias", "user_api_key_team_alias"]),
        user: first_text(row, &["end_user", "user"]),
        model,
    })))
}
