//! ATIF, the interchange format of trajectories that Harbor and others write.

use serde_json::json;

use super::row::{Row, first_text};
use super::table::Reader;
use super::trajectory::{self, Run, Turn};
use super::{RowContent, RowError, time, usage};

pub(super) const TRAJECTORY: Reader = Reader {
    called: "a trajectory of ATIF",
    proves: |row| {
        row.text_of("schema_version").is_some_and(|version| version.starts_with("ATIF"))
            && row.is_list("steps")
    },
    read,
    columns: &["schema_version", "session_id", "agent", "steps"],
};

fn read(row: &Row<'_>) -> Result<RowContent, RowError> {
    let whole = row.whole()?;
    let mut messages = Vec::new();
    let mut turns = Vec::new();
    for (at, step) in whole["steps"].as_array().into_iter().flatten().enumerate() {
        let turn = Turn {
            time: time::micros(&step["timestamp"]),
            counted_tokens: usage::input_tokens(&step["metrics"]),
        };
        let role = match step["source"].as_str() {
            Some("agent") => "assistant",
            Some("system") => "system",
            Some("user") => "user",
            other => {
                let rule =
                    format!("must be system, user or agent, got `{}`", other.unwrap_or_default());
                return Err(RowError::at(&format!("steps[{at}].source"), rule));
            }
        };
        let mut message = json!({ "role": role, "content": step["message"] });
        if role == "assistant" && step["tool_calls"].is_array() {
            message["tool_calls"] = step["tool_calls"].clone();
        }
        messages.push(message);
        turns.push(turn.clone());
        for result in step["observation"]["results"].as_array().into_iter().flatten() {
            let role = if result["source_call_id"].is_string() { "tool" } else { "user" };
            messages.push(json!({ "role": role, "tool_call_id": result["source_call_id"], "content": result["content"] }));
            turns.push(turn.clone());
        }
    }
    let agent = &whole["agent"];
    let run = Run {
        conversation: first_text(whole, &["session_id", "trajectory_id"]),
        model: first_text(agent, &["model_name"]),
        route: first_text(agent, &["name"]),
        tools: agent.get("tool_definitions"),
        ..Run::default()
    };
    trajectory::requests("steps", &messages, &run, |at| turns[at].clone())
}
