//! Conversations as a list of turns, as `WildChat`, LMSYS and `ShareGPT` have them.

use serde_json::Value;

use super::row::{Row, first_text};
use super::table::Reader;
use super::trajectory::{self, Run, Turn};
use super::{RowContent, RowError, kind, time};

pub(super) const TURNS: Reader = Reader {
    called: "a list of turns",
    // A conversation that is a text is the name of one.
    proves: |row| {
        (row.is_list("conversation") || row.is_list("conversations")) && !row.has("request")
    },
    read,
    columns: &[
        "conversation",
        "conversations",
        "conversation_id",
        "conversation_hash",
        "question_id",
        "id",
        "model",
        "tools",
        "system",
    ],
};

fn read(row: &Row<'_>) -> Result<RowContent, RowError> {
    let name = if row.has("conversation") { "conversation" } else { "conversations" };
    let list = row.value(name);
    let Value::Array(turns) = &list else {
        return Err(RowError::at(name, format!("must be a list of turns, got {}", kind(&list))));
    };
    let turns: Vec<Value> = turns.iter().map(of_share_gpt).collect();
    let whole = row.whole()?;
    let run = Run {
        conversation: first_text(
            whole,
            &["conversation_id", "conversation_hash", "id", "question_id"],
        ),
        model: first_text(whole, &["model"]),
        system: whole.get("system").filter(|system| system.is_string()),
        tools: whole.get("tools"),
        ..Run::default()
    };
    trajectory::requests(name, &turns, &run, |at| Turn {
        time: time::micros(&turns[at]["timestamp"]),
        counted_tokens: None,
    })
}

/// `ShareGPT` has calls as turns of their own, with a text of JSON as the value.
fn of_share_gpt(turn: &Value) -> Value {
    match turn["from"].as_str() {
        Some("function_call") => {
            let call =
                turn["value"].as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
            match call {
                Some(Value::Array(calls)) => {
                    serde_json::json!({ "role": "assistant", "tool_calls": calls })
                }
                Some(call) => serde_json::json!({ "role": "assistant", "tool_calls": [call] }),
                None => serde_json::json!({ "role": "assistant", "content": turn["value"] }),
            }
        }
        _ => turn.clone(),
    }
}
