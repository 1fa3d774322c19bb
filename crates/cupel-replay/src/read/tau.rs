//! τ-bench and τ²-bench: runs of an agent that talks with a simulated user.

use serde_json::Value;

use super::row::{Row, first_text, number};
use super::table::Reader;
use super::trajectory::{self, Run, Turn};
use super::{RowContent, RowError, time, usage};

pub(super) const RUN: Reader = Reader {
    called: "a run of τ-bench",
    proves: |row| {
        (row.has("task_id") && row.is_list("traj"))
            || (row.is_list("simulations") && row.has_any(&["info", "tasks"]))
            || (row.has("task_id") && row.is_list("messages") && row.has("termination_reason"))
    },
    read,
    columns: &[
        "task_id",
        "traj",
        "trial",
        "simulations",
        "info",
        "tasks",
        "messages",
        "termination_reason",
        "id",
    ],
};

fn read(row: &Row<'_>) -> Result<RowContent, RowError> {
    let whole = row.whole()?;
    if let Some(simulations) = whole["simulations"].as_array() {
        let model = first_text(&whole["info"]["agent_info"], &["llm"]);
        let read = |simulation: &Value| {
            of_run(simulation, model.clone()).unwrap_or_else(|error| RowContent::of(Err(error)))
        };
        return Ok(RowContent::join(simulations.iter().map(read)));
    }
    of_run(whole, None)
}

fn of_run(run: &Value, model: Option<String>) -> Result<RowContent, RowError> {
    let path = if run["traj"].is_array() { "traj" } else { "messages" };
    let mut of_user = Vec::new();
    let mut messages = Vec::new();
    for message in run[path].as_array().into_iter().flatten() {
        // The simulated user has tools of its own: the agent sees neither its calls nor their results.
        if message["role"] == "user"
            && message["tool_calls"].as_array().is_some_and(|calls| !calls.is_empty())
        {
            of_user.extend(
                message["tool_calls"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(|call| call["id"].clone()),
            );
            continue;
        }
        let is_of_user = message["role"] == "tool"
            && (message["requestor"] == "user"
                || of_user.contains(&message["id"]) && !message["id"].is_null());
        if is_of_user {
            continue;
        }
        let mut message = message.clone();
        if message["role"] == "tool" && message["tool_call_id"].is_null() {
            message["tool_call_id"] = message["id"].clone();
        }
        messages.push(message);
    }
    let name = [&run["id"], &run["task_id"], &run["trial"]].map(|part| match part {
        Value::String(text) => text.clone(),
        other => number(other).map(|number| number.to_string()).unwrap_or_default(),
    });
    let of_run =
        Run { conversation: Some(name.join(" ").trim().to_owned()), model, ..Run::default() };
    trajectory::requests(path, &messages, &of_run, |at| Turn {
        time: time::micros(&messages[at]["timestamp"]),
        counted_tokens: usage::input_tokens(&messages[at]["usage"]),
    })
}
