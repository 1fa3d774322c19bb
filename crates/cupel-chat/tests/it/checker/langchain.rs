//! Dumped messages: anybody may begin but a tool; every call of an AI message is answered by the tool
//! messages right after it.

use serde_json::Value;

use super::{list, text};

pub(crate) fn problems(messages: &[Value]) -> Vec<String> {
    let mut problems = Vec::new();
    if messages.is_empty() {
        problems.push("no messages".into());
    }
    let mut open: Vec<&str> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        match kind(message) {
            "tool" => {
                let id = text(fields(message), "tool_call_id");
                match open.iter().position(|open| *open == id) {
                    Some(position) => drop(open.remove(position)),
                    None => problems.push(format!("{index}: result {id:?} without its call")),
                }
            }
            "system" | "human" | "ai" => {
                problems.extend(
                    open.drain(..).map(|id| format!("{index}: call {id:?} is not answered")),
                );
                open = calls(message);
            }
            kind => problems.push(format!("{index}: unknown type {kind:?}")),
        }
    }
    problems.extend(open.iter().map(|id| format!("end: call {id:?} is not answered")));
    problems
}

pub(crate) fn kind(message: &Value) -> &str {
    let class = message["id"].as_array().and_then(|path| path.last()?.as_str());
    match class {
        Some("SystemMessage") => "system",
        Some("HumanMessage") => "human",
        Some("AIMessage") => "ai",
        Some("ToolMessage") => "tool",
        _ => text(message, "type"),
    }
}

/// Where a message keeps its fields, by the way in which it was dumped.
fn fields(message: &Value) -> &Value {
    match message["type"].as_str() {
        Some("constructor") => &message["kwargs"],
        _ if message["data"].is_object() => &message["data"],
        _ => message,
    }
}

fn calls(message: &Value) -> Vec<&str> {
    let calls = list(fields(message), "tool_calls");
    let raw = list(&fields(message)["additional_kwargs"], "tool_calls");
    let calls = if calls.is_empty() { raw } else { calls };
    calls.iter().map(|call| text(call, "id")).collect()
}

pub(crate) fn ties(messages: &[Value]) -> Vec<(usize, usize)> {
    let mut ties = Vec::new();
    let mut caller = 0;
    for (index, message) in messages.iter().enumerate() {
        match kind(message) {
            "tool" => ties.push((caller, index)),
            _ => caller = index,
        }
    }
    ties
}

#[cfg(test)]
mod tests {
    use cupel_chat::Format::LangChain;

    use super::super::assert_problems;

    const SYSTEM: &str = r#"{"type":"system","data":{"content":"x"}}"#;
    const HUMAN: &str = r#"{"type":"human","content":"x"}"#;
    const AI: &str = r#"{"type":"ai","data":{"tool_calls":[{"id":"a"}]}}"#;
    const TOOL: &str =
        r#"{"lc":1,"type":"constructor","id":["m","ToolMessage"],"kwargs":{"tool_call_id":"a"}}"#;

    #[track_caller]
    fn check(messages: &[&str], expected: &[&str]) {
        assert_problems(LangChain, &format!("[{}]", messages.join(",")), expected);
    }

    #[test]
    fn all_three_shapes_are_read() {
        check(&[SYSTEM, HUMAN, AI, TOOL, HUMAN], &[]);
    }

    #[test]
    fn a_greeting_may_start() {
        check(&[SYSTEM, r#"{"type":"ai","content":"x"}"#, HUMAN], &[]);
        check(&[], &["no messages"]);
    }

    #[test]
    fn lone_halves_are_found() {
        check(&[HUMAN, TOOL], &["1: result \"a\" without its call"]);
        check(&[HUMAN, AI], &["end: call \"a\" is not answered"]);
        check(&[HUMAN, AI, HUMAN, TOOL], &["2: call \"a\"", "3: result \"a\""]);
    }
}
