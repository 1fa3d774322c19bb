//! SWE-agent: trajectories. Each step has the messages of its request, or the history has all of them.

use serde_json::Value;

use super::answer::Answer;
use super::chat::{self, Asked};
use super::row::{Row, first_text};
use super::table::Reader;
use super::trajectory::{self, Run, Turn};
use super::{LoggedRequest, RowContent, RowError};

pub(super) const TRAJECTORY: Reader = Reader {
    called: "a trajectory of SWE-agent",
    proves: |row| {
        row.is_list("trajectory")
            && row.has_any(&["history", "info", "replay_config", "environment"])
    },
    read,
    columns: &["trajectory", "history", "info", "replay_config", "environment", "instance_id"],
};

fn read(row: &Row<'_>) -> Result<RowContent, RowError> {
    let whole = row.whole()?;
    let model =
        whole["replay_config"].as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let model = model.as_ref().unwrap_or(&whole["replay_config"]);
    let model = first_text(&model["agent"]["model"], &["name"]);
    let conversation = first_text(whole, &["instance_id", "environment"]);
    let steps = whole["trajectory"].as_array().map(Vec::as_slice).unwrap_or_default();
    // What was asked at each step is exact: a history may have been shortened before it was sent.
    let has_queries =
        steps.iter().any(|step| step["query"].is_array() || step["messages"].is_array());
    if has_queries {
        let asked = steps.iter().filter_map(|step| {
            let query = if step["query"].is_array() { &step["query"] } else { &step["messages"] };
            let input = Some(query)
                .filter(|query| query.as_array().is_some_and(|list| !list.is_empty()))?;
            let asked = Asked { input: Some(input), model: model.as_deref(), ..Asked::default() };
            Some(chat::request("query", &asked).map(|request| LoggedRequest {
                request,
                answer: answer(step),
                conversation: conversation.clone(),
                model: model.clone(),
                ..LoggedRequest::default()
            }))
        });
        return Ok(RowContent::several(asked));
    }
    let history = whole["history"].as_array().map(Vec::as_slice).unwrap_or_default();
    if history.is_empty() {
        return Err(RowError::at(
            "history",
            "is not there, and no step has its query: the requests cannot be told",
        ));
    }
    let run = Run { conversation, model, ..Run::default() };
    trajectory::requests("history", history, &run, |_| Turn::default())
}

fn answer(step: &Value) -> Option<Answer> {
    let mut message = serde_json::json!({ "content": step["response"] });
    if step["tool_calls"].is_array() {
        message["tool_calls"] = step["tool_calls"].clone();
    }
    Answer::of(&message)
}
