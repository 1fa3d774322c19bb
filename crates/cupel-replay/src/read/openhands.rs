//! `OpenHands`: the history of a run as events, of its program and of its SDK.

use serde_json::{Value, json};

use super::row::{first_text, unwrapped};
use super::table::Reader;
use super::trajectory::{self, Run, Turn};
use super::{RowContent, RowError, time, usage};

pub(super) const HISTORY: Reader = Reader {
    called: "a run of OpenHands",
    proves: |row| row.is_list("history") && !row.has("trajectory"),
    read: |row| {
        let whole = row.whole()?;
        let name = first_text(whole, &["instance_id", "id"]);
        let model = first_text(&whole["metadata"]["llm_config"], &["model"])
            .or_else(|| first_text(&whole["metadata"]["llm"], &["model"]));
        let Value::Array(events) = row.value("history") else {
            return Err(RowError::at("history", "must be a list of events"));
        };
        of_events(&events, name, model)
    },
    columns: &["history", "instance_id", "metadata"],
};

/// Returns true if a value is an event of a history.
pub(super) fn is_event(event: &Value) -> bool {
    event["source"].is_string()
        && (event["action"].is_string() || event["observation"].is_string() || is_of_sdk(event))
}

fn is_of_sdk(event: &Value) -> bool {
    event["kind"].as_str().is_some_and(|kind| kind.ends_with("Event"))
}

pub(super) fn of_events(
    events: &[Value],
    conversation: Option<String>,
    model: Option<String>,
) -> Result<RowContent, RowError> {
    // Old histories are pairs of an action and its observation.
    let events: Vec<&Value> = events
        .iter()
        .flat_map(|event| match event {
            Value::Array(pair) => pair.iter().collect::<Vec<_>>(),
            event => vec![event],
        })
        .collect();
    let mut history = History { model, ..History::default() };
    for event in &events {
        if is_of_sdk(event) { history.take_sdk(event) } else { history.take(event) }
    }
    if history.messages.is_empty() {
        return Err(RowError::at("history", "has no event that is a message, a call or a result"));
    }
    let tools = history.tools;
    let run = Run { conversation, model: history.model, tools: tools.as_ref(), ..Run::default() };
    trajectory::requests("history", &history.messages, &run, |at| history.turns[at].clone())
}

#[derive(Default)]
struct History {
    messages: Vec<Value>,
    turns: Vec<Turn>,
    /// The answer of the model that the last call is of.
    response: Option<String>,
    tools: Option<Value>,
    model: Option<String>,
}

impl History {
    fn push(&mut self, message: Value, event: &Value, counted_tokens: Option<i64>) {
        self.messages.push(message);
        self.turns.push(Turn { time: time::micros(&event["timestamp"]), counted_tokens });
    }

    /// A call: several of one answer are one turn.
    fn call(
        &mut self,
        response: Option<String>,
        words: &str,
        call: Value,
        event: &Value,
        counted: Option<i64>,
    ) {
        let is_same = response.is_some() && self.response == response;
        let last = self.messages.iter_mut().rfind(|message| message["role"] == "assistant");
        if let Some(Value::Array(calls)) =
            last.filter(|_| is_same).map(|last| &mut last["tool_calls"])
        {
            calls.push(call);
            return;
        }
        self.response = response;
        self.push(
            json!({ "role": "assistant", "content": words, "tool_calls": [call] }),
            event,
            counted,
        );
    }

    fn take(&mut self, event: &Value) {
        let call = unwrapped(&event["tool_call_metadata"]);
        let words = first_text(&event["args"], &["content", "thought"])
            .or_else(|| first_text(event, &["message"]))
            .unwrap_or_default();
        if let Some(observation) = event["observation"].as_str() {
            if matches!(observation, "null" | "agent_state_changed") {
                return;
            }
            let said = event["content"].clone();
            match call["tool_call_id"].as_str() {
                Some(id) => self.push(
                    json!({ "role": "tool", "tool_call_id": id, "content": said }),
                    event,
                    None,
                ),
                None => self.push(json!({ "role": "user", "content": said }), event, None),
            }
            return;
        }
        let response = &call["model_response"];
        match event["action"].as_str() {
            None | Some("null" | "change_agent_state" | "recall") => {}
            Some("system") => {
                self.tools = Some(event["args"]["tools"].clone());
                self.push(json!({ "role": "system", "content": words }), event, None);
            }
            Some("message") if event["source"] == "user" => {
                self.push(json!({ "role": "user", "content": words }), event, None);
            }
            Some("message") => {
                self.push(json!({ "role": "assistant", "content": words }), event, None);
            }
            Some(action) => {
                let message = &response["choices"][0]["message"];
                let id = call["tool_call_id"].as_str();
                let of_response = message["tool_calls"]
                    .as_array()
                    .and_then(|calls| calls.iter().find(|call| call["id"].as_str() == id).cloned());
                let made = of_response.unwrap_or_else(|| {
                    json!({ "id": id, "name": call["function_name"].as_str().unwrap_or(action), "arguments": event["args"] })
                });
                let counted = usage::input_tokens(&response["usage"]);
                if self.model.is_none() {
                    self.model = first_text(response, &["model"]);
                }
                let id = first_text(response, &["id"]);
                let words = message["content"].as_str().unwrap_or(&words).to_owned();
                self.call(id, &words, made, event, counted);
            }
        }
    }

    fn take_sdk(&mut self, event: &Value) {
        match event["kind"].as_str().unwrap_or_default() {
            "SystemPromptEvent" => {
                self.tools = Some(event["tools"].clone());
                let words = first_text(&event["system_prompt"], &["text"]).unwrap_or_default();
                self.push(json!({ "role": "system", "content": words }), event, None);
            }
            "MessageEvent" => {
                let message = &event["llm_message"];
                let written = json!({ "role": message["role"], "content": message["content"], "tool_calls": message["tool_calls"] });
                self.push(written, event, None);
            }
            "ActionEvent" => {
                let words = super::chat::plain_text(&event["thought"]);
                self.call(
                    first_text(event, &["llm_response_id"]),
                    &words,
                    event["tool_call"].clone(),
                    event,
                    None,
                );
            }
            "ObservationEvent" | "AgentErrorEvent" | "UserRejectObservation" => {
                let said = ["content", "output", "message"]
                    .iter()
                    .map(|name| &event["observation"][*name])
                    .find(|said| !said.is_null());
                let said = said.map_or_else(
                    || super::chat::plain_text(&event["error"]),
                    super::chat::plain_text,
                );
                self.push(json!({ "role": "tool", "tool_call_id": event["tool_call_id"], "content": said }), event, None);
            }
            _ => {}
        }
    }
}
