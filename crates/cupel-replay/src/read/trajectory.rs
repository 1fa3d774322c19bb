//! A trajectory: the messages of a run in order. Each turn of the model answers the request of all before it.

use std::sync::Arc;

use serde_json::{Value, json};

use super::answer::Answer;
use super::chat::{self, Asked};
use super::{LoggedRequest, RowContent, RowError};

/// Fields that all requests of a run have in common.
#[derive(Debug, Clone, Default)]
pub(super) struct Run<'v> {
    pub(super) conversation: Option<String>,
    pub(super) model: Option<String>,
    pub(super) route: Option<String>,
    pub(super) user: Option<String>,
    pub(super) system: Option<&'v Value>,
    pub(super) tools: Option<&'v Value>,
}

/// Facts of the log about one turn of the model, by its message.
#[derive(Debug, Clone, Default)]
pub(super) struct Turn {
    pub(super) time: Option<i64>,
    pub(super) counted_tokens: Option<i64>,
}

/// The requests of a run. `about` tells of a message what the log says about the call that made it.
pub(super) fn requests(
    path: &str,
    messages: &[Value],
    run: &Run<'_>,
    about: impl Fn(usize) -> Turn,
) -> Result<RowContent, RowError> {
    let input = Value::Array(messages.to_vec());
    let asked = Asked {
        input: Some(&input),
        system: run.system,
        tools: run.tools,
        model: run.model.as_deref(),
    };
    // All messages are read once; a request is a beginning of them.
    let whole = chat::request(path, &asked)?;
    let whole: Value = serde_json::from_str(&whole).unwrap_or_default();
    let name = ["messages", "contents", "input"].into_iter().find(|name| whole[*name].is_array());
    let Some((name, written)) = name.and_then(|name| Some((name, whole[name].as_array()?))) else {
        return Err(RowError::at(path, "must be a list of messages"));
    };
    let is_turn = |message: &Value| matches!(message["role"].as_str(), Some("assistant" | "model"));
    let mut spoken = (0..messages.len()).filter(|at| chat::is_turn(&messages[*at]));
    let mut entries = Vec::new();
    for (at, message) in written.iter().enumerate() {
        if !is_turn(message) {
            continue;
        }
        let turn = spoken.next().map(&about).unwrap_or_default();
        // Some begin with words of the assistant that no model said.
        if at == 0 || written[..at].iter().all(|message| message["role"] == "system") {
            continue;
        }
        let mut body = json!({ name: &written[..at] });
        if let (Some(body), Some(whole)) = (body.as_object_mut(), whole.as_object()) {
            for (field, value) in whole.iter().filter(|(field, _)| *field != name) {
                body.insert(field.clone(), value.clone());
            }
        }
        entries.push(Ok(LoggedRequest {
            request: Arc::from(body.to_string()),
            answer: Answer::of(message),
            conversation: run.conversation.clone(),
            counted_tokens: turn.counted_tokens,
            time: turn.time,
            model: run.model.clone(),
            route: run.route.clone(),
            user: run.user.clone(),
        }));
    }
    if entries.is_empty() {
        return Ok(RowContent::skip("runs without a turn of the model"));
    }
    Ok(RowContent::several(entries))
}
