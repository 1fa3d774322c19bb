//! The AI SDK: every call that is not the provider's own is answered in the tool messages that follow it; a call of
//! a UI message has its result in the same part.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{list, text};

fn ids<'v>(message: &'v Value, kind: &str) -> Vec<&'v str> {
    let parts = list(message, "content").iter().filter(|part| text(part, "type") == kind);
    let own = parts.filter(|part| part["providerExecuted"] != Value::Bool(true));
    own.map(|part| text(part, "toolCallId")).collect()
}

pub(crate) fn problems(messages: &[Value]) -> Vec<String> {
    let mut problems = Vec::new();
    if messages.is_empty() {
        problems.push("no messages".to_owned());
    }
    let mut open: BTreeSet<&str> = BTreeSet::new();
    for (index, message) in messages.iter().enumerate() {
        match text(message, "role") {
            "tool" => {
                for id in ids(message, "tool-result") {
                    if !open.remove(id) {
                        problems.push(format!("{index}: result {id:?} without its call"));
                    }
                }
            }
            role @ ("system" | "user" | "assistant") => {
                problems
                    .extend(open.iter().map(|id| format!("{index}: call {id:?} is not answered")));
                open = if role == "assistant" {
                    ids(message, "tool-call").into_iter().collect()
                } else {
                    BTreeSet::new()
                };
            }
            role => problems.push(format!("{index}: unknown role {role:?}")),
        }
    }
    problems.extend(open.iter().map(|id| format!("end: call {id:?} is not answered")));
    problems
}

pub(crate) fn ties(messages: &[Value]) -> Vec<(usize, usize)> {
    let mut ties = Vec::new();
    let mut caller = None;
    for (index, message) in messages.iter().enumerate() {
        match (text(message, "role"), caller) {
            ("tool", Some(caller)) => ties.push((caller, index)),
            ("assistant", _) => caller = Some(index),
            _ => {}
        }
    }
    ties
}

pub(crate) fn ui_problems(messages: &[Value]) -> Vec<String> {
    let mut problems = Vec::new();
    if messages.is_empty() {
        problems.push("no messages".to_owned());
    }
    for (index, message) in messages.iter().enumerate() {
        if !["system", "user", "assistant"].contains(&text(message, "role")) {
            problems.push(format!("{index}: unknown role"));
        }
        if !message["parts"].is_array() {
            problems.push(format!("{index}: no parts"));
        }
        let open = |part: &&Value| text(part, "state").starts_with("input-");
        let open = list(message, "parts").iter().filter(open);
        problems.extend(open.map(|part| format!("{index}: {} has no result", text(part, "type"))));
    }
    problems
}

#[cfg(test)]
mod tests {
    use cupel_chat::Format::{AiSdk, AiSdkUi};

    use super::super::assert_problems;

    #[test]
    fn calls_are_answered_before_anything_else_is_said() {
        let user = r#"{"role":"user","content":"x"}"#;
        let call = r#"{"role":"assistant","content":[{"type":"tool-call","toolCallId":"a"},{"type":"tool-call","toolCallId":"s","providerExecuted":true}]}"#;
        let result = r#"{"role":"tool","content":[{"type":"tool-result","toolCallId":"a"}]}"#;
        let check = |messages: &[&str], expected: &[&str]| {
            assert_problems(AiSdk, &format!("[{}]", messages.join(",")), expected);
        };
        check(&[user, call, result, user], &[]);
        check(&[user, call, user, result], &["2: call \"a\"", "3: result \"a\""]);
        check(&[user, call], &["end: call \"a\""]);
    }

    #[test]
    fn calls_of_ui_messages_are_finished() {
        let message = |state: &str| {
            format!(r#"[{{"role":"assistant","parts":[{{"type":"tool-x","state":"{state}"}}]}}]"#)
        };
        assert_problems(AiSdkUi, &message("output-available"), &[]);
        assert_problems(AiSdkUi, &message("input-available"), &["0: tool-x has no result"]);
    }
}
