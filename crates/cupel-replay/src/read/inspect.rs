//! Logs of Inspect, and the samples in them: each event of a model is a request with its answer.

use serde_json::Value;

use super::answer::Answer;
use super::chat::{self, Asked};
use super::row::{Row, first_text, number};
use super::table::Reader;
use super::trajectory::{self, Run, Turn};
use super::{LoggedRequest, RowContent, RowError, time, usage};

pub(super) const LOG: Reader = Reader {
    called: "a log of Inspect",
    proves: |row| {
        (row.is_object("eval") && row.has("version") && row.has("status"))
            || (row.has("epoch") && row.is_list("messages") && row.fields.contains_key("target"))
    },
    read,
    columns: &[
        "eval",
        "version",
        "status",
        "samples",
        "epoch",
        "messages",
        "target",
        "id",
        "events",
        "attachments",
    ],
};

fn read(row: &Row<'_>) -> Result<RowContent, RowError> {
    let whole = row.whole()?;
    if row.has("epoch") {
        return of_sample(whole, None, None);
    }
    let model = first_text(&whole["eval"], &["model"]);
    let task = first_text(&whole["eval"], &["task"]);
    let Some(samples) = whole["samples"].as_array() else {
        return Ok(RowContent::skip("headers of a log of Inspect"));
    };
    let read = |sample: &Value| {
        of_sample(sample, model.clone(), task.clone())
            .unwrap_or_else(|error| RowContent::of(Err(error)))
    };
    Ok(RowContent::join(samples.iter().map(read)))
}

fn of_sample(
    sample: &Value,
    model: Option<String>,
    task: Option<String>,
) -> Result<RowContent, RowError> {
    let id = match &sample["id"] {
        Value::String(text) => text.clone(),
        other => number(other).map(|number| number.to_string()).unwrap_or_default(),
    };
    let conversation = Some(format!("{id} epoch {}", number(&sample["epoch"]).unwrap_or(1)));
    let events = sample["events"].as_array().map(Vec::as_slice).unwrap_or_default();
    let calls: Vec<&Value> = events.iter().filter(|event| event["event"] == "model").collect();
    if calls.is_empty() {
        // Logs that were written without events still have the messages of the run.
        let messages = attached(&sample["messages"], sample);
        let messages = messages.as_array().map(Vec::as_slice).unwrap_or_default();
        if messages.is_empty() {
            return Ok(RowContent::skip("samples of Inspect that called no model"));
        }
        let run = Run { conversation, model, route: task, ..Run::default() };
        return trajectory::requests("messages", messages, &run, |_| Turn::default());
    }
    Ok(RowContent::several(calls.into_iter().map(|event| {
        let model = first_text(event, &["model"]).or_else(|| model.clone());
        let input = attached(&Value::Array(input(event, sample)), sample);
        let tools = attached(&event["tools"], sample);
        let asked = Asked {
            input: Some(&input),
            tools: Some(&tools),
            model: model.as_deref(),
            system: None,
        };
        let output = attached(&event["output"], sample);
        Ok(LoggedRequest {
            request: chat::request("events.input", &asked)?,
            answer: Answer::of(&output["choices"][0]["message"]),
            conversation: conversation.clone(),
            counted_tokens: usage::input_tokens(&output["usage"]),
            time: time::micros(&event["timestamp"]),
            route: task.clone(),
            model,
            user: None,
        })
    })))
}

/// The messages of a call: written there, or ranges of those that the sample keeps once.
fn input(event: &Value, sample: &Value) -> Vec<Value> {
    let mut messages = event["input"].as_array().cloned().unwrap_or_default();
    let pool = sample["events_data"]["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    for range in event["input_refs"].as_array().into_iter().flatten() {
        let place = |at: usize| range[at].as_u64().and_then(|place| usize::try_from(place).ok());
        if let (Some(start), Some(end)) = (place(0), place(1)) {
            messages.extend(pool.get(start..end).unwrap_or_default().iter().cloned());
        }
    }
    messages
}

/// The same with long texts where they were: a log has them once, beside the events.
fn attached(value: &Value, sample: &Value) -> Value {
    match value {
        Value::String(text) => {
            match text.strip_prefix("attachment://").or_else(|| text.strip_prefix("tc://")) {
                Some(name) => sample["attachments"].get(name).unwrap_or(value).clone(),
                None => value.clone(),
            }
        }
        Value::Array(list) => list.iter().map(|value| attached(value, sample)).collect(),
        Value::Object(fields) => Value::Object(
            fields.iter().map(|(name, value)| (name.clone(), attached(value, sample))).collect(),
        ),
        other => other.clone(),
    }
}
