//! Conversations that look like chance, in every format, and an engine that counts them quickly.

use std::sync::Arc;

use cupel_engine::{Engine, Format, Session, Step};
use cupel_tokens::TokenCounter;

/// A token for each four bytes: quick, and the same everywhere.
pub(crate) struct Quarters;

impl TokenCounter for Quarters {
    fn name(&self) -> &'static str {
        "quarters"
    }

    fn count(&self, text: &str) -> i64 {
        i64::try_from(text.len().div_ceil(4)).unwrap()
    }
}

pub(crate) fn engine(max_tokens: i64) -> Engine {
    Engine::builder().max_tokens(max_tokens).counter(Arc::new(Quarters)).build().unwrap()
}

/// Numbers that look like chance.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    pub(crate) fn words(&mut self, most: u64) -> String {
        let count = 1 + self.below(most);
        let words = (0..count).map(|_| format!("word{} id_{}", self.below(40), self.below(25)));
        words.collect::<Vec<_>>().join(" ")
    }
}

/// Turn of a conversation, whatever the format.
pub(crate) enum Turn {
    Asks(String),
    Says(String),
    Calls { arguments: String, result: String },
}

pub(crate) fn turns(random: &mut Random, count: usize) -> Vec<Turn> {
    let mut turns = vec![Turn::Asks(random.words(12))];
    while turns.len() < count {
        // Who has spoken waits for an answer.
        let has_spoken = matches!(turns.last(), Some(Turn::Says(_)));
        turns.push(match random.below(6) {
            _ if has_spoken => Turn::Asks(random.words(20)),
            0 => Turn::Asks(random.words(20)),
            1 => Turn::Says(random.words(20)),
            _ => Turn::Calls { arguments: random.words(4), result: random.words(60) },
        });
    }
    turns
}

/// The turns as messages, each turn by itself.
pub(crate) fn messages(format: Format, turns: &[Turn]) -> Vec<Vec<String>> {
    let call = |at: usize, arguments: &str, result: &str| match format {
        Format::Anthropic => vec![
            format!(
                r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"c{at}","name":"get","input":{{"q":"{arguments}"}}}}]}}"#
            ),
            format!(
                r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"c{at}","content":"{result}"}}]}}"#
            ),
        ],
        Format::Gemini => vec![
            format!(
                r#"{{"role":"model","parts":[{{"functionCall":{{"name":"get","args":{{"q":"{arguments}"}}}}}}]}}"#
            ),
            format!(
                r#"{{"role":"user","parts":[{{"functionResponse":{{"name":"get","response":{{"r":"{result}"}}}}}}]}}"#
            ),
        ],
        Format::OpenAiResponses => vec![
            format!(
                r#"{{"type":"function_call","call_id":"c{at}","name":"get","arguments":"{arguments}"}}"#
            ),
            format!(r#"{{"type":"function_call_output","call_id":"c{at}","output":"{result}"}}"#),
        ],
        Format::LangChain => vec![
            format!(
                r#"{{"type":"ai","data":{{"content":"","tool_calls":[{{"id":"c{at}","name":"get","args":{{"q":"{arguments}"}}}}]}}}}"#
            ),
            format!(r#"{{"type":"tool","data":{{"content":"{result}","tool_call_id":"c{at}"}}}}"#),
        ],
        _ => vec![
            format!(
                r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"c{at}","type":"function","function":{{"name":"get","arguments":"{arguments}"}}}}]}}"#
            ),
            format!(r#"{{"role":"tool","tool_call_id":"c{at}","content":"{result}"}}"#),
        ],
    };
    let said = |role: &str, text: &str| match format {
        Format::Gemini => {
            let role = if role == "assistant" { "model" } else { role };
            format!(r#"{{"role":"{role}","parts":[{{"text":"{text}"}}]}}"#)
        }
        Format::LangChain => {
            let kind = if role == "assistant" { "ai" } else { "human" };
            format!(r#"{{"type":"{kind}","data":{{"content":"{text}"}}}}"#)
        }
        _ => format!(r#"{{"role":"{role}","content":"{text}"}}"#),
    };
    let written = turns.iter().enumerate().map(|(at, turn)| match turn {
        Turn::Asks(text) => vec![said("user", text)],
        Turn::Says(text) => vec![said("assistant", text)],
        Turn::Calls { arguments, result } => call(at, arguments, result),
    });
    written.collect()
}

pub(crate) fn request(format: Format, turns: &[Vec<String>]) -> String {
    let list = turns.concat().join(",");
    match format {
        Format::Anthropic => format!(r#"{{"system":"Be kind.","messages":[{list}]}}"#),
        Format::Gemini => format!(r#"{{"contents":[{list}]}}"#),
        Format::OpenAiResponses => format!(r#"{{"instructions":"Be kind.","input":[{list}]}}"#),
        Format::LangChain => format!("[{list}]"),
        _ => format!(r#"{{"messages":[{{"role":"system","content":"Be kind."}},{list}]}}"#),
    }
}

pub(crate) const FORMATS: [Format; 5] = [
    Format::OpenAiChat,
    Format::Anthropic,
    Format::Gemini,
    Format::OpenAiResponses,
    Format::LangChain,
];

/// The elements of the list of messages, as they are written.
pub(crate) fn written_messages(text: &str) -> Vec<serde_json::Value> {
    let request: serde_json::Value = serde_json::from_str(text).unwrap();
    let list = ["messages", "input", "contents"].iter().find_map(|name| request.get(name));
    list.unwrap_or(&request).as_array().unwrap().clone()
}

pub(crate) fn accepted(session: &mut Session, text: &str) -> Step {
    let step = session.next(text).unwrap();
    assert!(session.accept());
    step
}
