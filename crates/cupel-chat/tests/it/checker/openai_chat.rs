//! Chat Completions: every call is answered, by id, before the next message that is no
//! result; every result answers such a call.

use serde_json::Value;

use super::{list, text};

pub(crate) fn problems(messages: &[Value]) -> Vec<String> {
    let mut problems = Vec::new();
    if messages.is_empty() {
        problems.push("no messages".into());
    }
    let mut open: Vec<&str> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let role = text(message, "role");
        let result = match role {
            "tool" => Some(text(message, "tool_call_id")),
            "function" => Some(text(message, "name")),
            "system" | "developer" | "user" | "assistant" => None,
            _ => {
                problems.push(format!("{index}: unknown role {role:?}"));
                continue;
            }
        };
        if let Some(id) = result {
            match open.iter().position(|open| *open == id) {
                Some(position) => drop(open.remove(position)),
                None => problems.push(format!("{index}: result {id:?} without its call")),
            }
        } else {
            let unanswered = |id| format!("{index}: call {id:?} is not answered");
            problems.extend(open.drain(..).map(unanswered));
            open = calls(message);
        }
    }
    problems.extend(open.iter().map(|id| format!("end: call {id:?} is not answered")));
    problems
}

/// Ids of the calls in a message; the old kind of call is known by its function's name.
fn calls(message: &Value) -> Vec<&str> {
    let ids = list(message, "tool_calls").iter().map(|call| text(call, "id"));
    ids.chain(message["function_call"]["name"].as_str()).collect()
}

pub(crate) fn ties(messages: &[Value]) -> Vec<(usize, usize)> {
    let mut ties = Vec::new();
    let mut caller = 0;
    for (index, message) in messages.iter().enumerate() {
        match text(message, "role") {
            "tool" | "function" => ties.push((caller, index)),
            _ => caller = index,
        }
    }
    ties
}

#[cfg(test)]
mod tests {
    use cupel_chat::Format::OpenAiChat;

    use super::super::assert_problems;

    const CALL: &str = r#"{"role":"assistant","tool_calls":[{"id":"a"},{"id":"b"}]}"#;
    const A: &str = r#"{"role":"tool","tool_call_id":"a"}"#;
    const B: &str = r#"{"role":"tool","tool_call_id":"b"}"#;
    const USER: &str = r#"{"role":"user"}"#;

    #[track_caller]
    fn check(messages: &[&str], expected: &[&str]) {
        assert_problems(OpenAiChat, &format!("[{}]", messages.join(",")), expected);
    }

    #[test]
    fn results_may_come_in_any_order() {
        check(&[USER, CALL, B, A, USER], &[]);
    }

    #[test]
    fn missing_result_is_found() {
        check(&[CALL, A, USER], &["2: call \"b\" is not answered"]);
        check(&[CALL, B], &["end: call \"a\" is not answered"]);
    }

    #[test]
    fn orphan_and_late_results_are_found() {
        check(&[USER, A], &["1: result \"a\" without its call"]);
        check(&[CALL, A, A, B], &["2: result \"a\" without its call"]);
        check(&[CALL, A, USER, B], &["2: call \"b\" is not answered", "3: result \"b\" without"]);
    }

    #[test]
    fn legacy_function_is_matched_by_name() {
        let call = r#"{"role":"assistant","function_call":{"name":"f"}}"#;
        let answer = r#"{"role":"function","name":"f"}"#;
        check(&[USER, call, answer], &[]);
        check(&[USER, answer], &["1: result \"f\" without its call"]);
    }

    #[test]
    fn unknown_role_and_no_messages_are_found() {
        check(&[r#"{"role":"robot"}"#], &["unknown role \"robot\""]);
        check(&[], &["no messages"]);
    }
}
