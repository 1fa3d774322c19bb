//! Conversations as a list of turns, as `WildChat` and LMSYS have them: every answer of the model is one
//! to the request of all turns before it.

use serde_json::{Value, json};

use super::answer::Answer;
use super::{Entry, LoggedRequest, RowContent, RowError, first_text, request, unwrapped};

pub(super) fn row(row: &Value) -> Result<RowContent, RowError> {
    let list = unwrapped(&row["conversation"]);
    let Value::Array(turns) = &*list else {
        let rule = format!("must be a list of turns, got {}", request::kind(&list));
        return Err(RowError::at("conversation", rule));
    };
    let model = first_text(row, &["model"]);
    let name = first_text(row, &["conversation_id", "conversation_hash", "id", "question_id"]);
    let mut messages: Vec<Value> = Vec::new();
    let mut content = RowContent::default();
    for (at, turn) in turns.iter().enumerate() {
        let Some((role, said)) = said(turn) else {
            let rule = "must have a role and a content";
            content.entries.push(Err(RowError::at(&format!("conversation[{at}]"), rule)));
            break;
        };
        if role == "assistant" && !messages.is_empty() {
            let answer = Answer::of(&turn["content"]).or_else(|| Answer::of(&turn["value"]));
            let made = request::assembled(&Value::Array(messages.clone()), model.as_deref(), None);
            content.entries.push(made.map(|request| {
                let conversation = name.clone();
                Entry::Request(LoggedRequest {
                    request,
                    answer,
                    conversation,
                    counted_tokens: None,
                    model: None,
                })
            }));
        }
        messages.push(json!({ "role": role, "content": said }));
    }
    if content.entries.is_empty() {
        content.others = 1;
    }
    Ok(content)
}

/// Who speaks in a turn, and what is said.
fn said(turn: &Value) -> Option<(&'static str, &Value)> {
    let role = turn["role"].as_str().or_else(|| turn["from"].as_str())?;
    let role = match role {
        "assistant" | "gpt" | "model" | "bot" => "assistant",
        "system" => "system",
        "user" | "human" => "user",
        _ => return None,
    };
    let said = turn.get("content").or_else(|| turn.get("value"))?;
    said.is_string().then_some((role, said))
}
