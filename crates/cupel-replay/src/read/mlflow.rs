//! `MLflow`: traces, of whose spans those of models count.

use serde_json::Value;

use super::answer::Answer;
use super::chat::{self, Asked};
use super::row::{Row, first, first_text, unwrapped};
use super::span::Span;
use super::table::Reader;
use super::{LoggedRequest, RowContent, RowError, time, usage};

pub(super) const TRACE: Reader = Reader {
    called: "a trace of MLflow",
    proves: |row| {
        (row.is_object("data")
            && row.is_object("info")
            && row.raw("data").is_some_and(|data| data.contains("spans")))
            || (row.has("trace_id")
                && row.is_list("spans")
                && row.has_any(&["trace", "request_time", "trace_metadata"]))
    },
    read,
    columns: &["info", "data", "trace_id", "spans", "trace", "request_time", "trace_metadata"],
};

fn read(row: &Row<'_>) -> Result<RowContent, RowError> {
    let row = row.whole()?;
    let info = unwrapped(&row["info"]);
    let data = unwrapped(&row["data"]);
    let spans = unwrapped(if row["spans"].is_null() { &data["spans"] } else { &row["spans"] });
    let metadata =
        first(&info, &["trace_metadata", "request_metadata"]).map(unwrapped).unwrap_or_default();
    let conversation = first_text(&metadata, &["mlflow.trace.session"]);
    let user = first_text(&metadata, &["mlflow.trace.user"]);
    let spans = spans.as_array().cloned().unwrap_or_default();
    Ok(RowContent::join(spans.iter().map(|span| {
        let mut content = of_span(span);
        for logged in content.entries.iter_mut().flatten() {
            if let super::Entry::Request(logged) = logged {
                logged.conversation.clone_from(&conversation);
                logged.user.clone_from(&user);
            }
        }
        content
    })))
}

fn of_span(written: &Value) -> RowContent {
    let span = Span::of(written);
    // Values of attributes are texts of JSON, texts among them.
    let value = |name: &str| {
        span.value(name).map(|value| match value.as_str() {
            Some(text) => serde_json::from_str(text).unwrap_or(value),
            None => value,
        })
    };
    let kind = value("mlflow.spanType")
        .and_then(|kind| kind.as_str().map(str::to_owned))
        .unwrap_or_default();
    if !matches!(&*kind, "CHAT_MODEL" | "LLM") {
        let kind = if kind.is_empty() { "no type".to_owned() } else { format!("the type {kind}") };
        return RowContent::skip(format!("spans of MLflow of {kind}"));
    }
    let Some(input) = value("mlflow.spanInputs")
        .or_else(|| Some(written["inputs"].clone()).filter(|v| !v.is_null()))
    else {
        return RowContent::of(Err(RowError::at(
            "mlflow.spanInputs",
            "is not there: the inputs were not recorded",
        )));
    };
    let output = value("mlflow.spanOutputs").unwrap_or_default();
    let tools = value("mlflow.chat.tools");
    let model = first_text(&input, &["model"])
        .or_else(|| value("mlflow.llm.model").and_then(|model| model.as_str().map(str::to_owned)));
    let asked =
        Asked { input: Some(&input), tools: tools.as_ref(), model: model.as_deref(), system: None };
    RowContent::of(chat::request("mlflow.spanInputs", &asked).map(|request| {
        LoggedRequest {
            request,
            answer: Answer::of(&output),
            counted_tokens: value("mlflow.chat.tokenUsage")
                .as_ref()
                .and_then(usage::input_tokens)
                .or_else(|| usage::input_tokens(&output["usage"])),
            time: span.time.or_else(|| time::micros(&written["start_time_ns"])),
            route: span.name.clone(),
            model,
            ..LoggedRequest::default()
        }
    }))
}
