//! mini-swe-agent: trajectories, whose messages have what the model answered beside them.

use serde_json::Value;

use super::row::{Row, first_text};
use super::table::Reader;
use super::trajectory::{self, Run, Turn};
use super::{RowContent, RowError, time, usage};

pub(super) const TRAJECTORY: Reader = Reader {
    called: "a trajectory of mini-swe-agent",
    proves: |row| {
        row.is_list("messages")
            && (row
                .text_of("trajectory_format")
                .is_some_and(|form| form.starts_with("mini-swe-agent"))
                || row.raw("info").is_some_and(|info| info.contains("mini_version")))
    },
    read,
    columns: &["trajectory_format", "info", "messages", "instance_id"],
};

fn read(row: &Row<'_>) -> Result<RowContent, RowError> {
    let whole = row.whole()?;
    let messages: Vec<Value> = whole["messages"]
        .as_array()
        .into_iter()
        .flatten()
        // The last one says how it ended, and was sent to nobody.
        .filter(|message| message["role"] != "exit")
        .cloned()
        .collect();
    let model = &whole["info"]["config"]["model"];
    let run = Run {
        conversation: first_text(whole, &["instance_id"])
            .or_else(|| first_text(&whole["info"], &["instance_id"])),
        model: first_text(model, &["model_name"]),
        ..Run::default()
    };
    trajectory::requests("messages", &messages, &run, |at| {
        let response = &messages[at]["extra"]["response"];
        Turn {
            time: time::micros(&messages[at]["extra"]["timestamp"])
                .or_else(|| time::micros(&response["created"])),
            counted_tokens: usage::input_tokens(&response["usage"]),
        }
    })
}
