//! Bedrock Converse: the user begins, roles alternate, and the message behind a `toolUse` has a `toolResult` for
//! each, and for nothing else.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{list, text};

pub(crate) fn problems(messages: &[Value]) -> Vec<String> {
    let mut problems = Vec::new();
    if messages.is_empty() {
        problems.push("no messages".to_owned());
    }
    let mut before = "assistant";
    let mut open = BTreeSet::new();
    for (index, message) in messages.iter().enumerate() {
        let role = text(message, "role");
        if !["user", "assistant"].contains(&role) {
            problems.push(format!("{index}: unknown role {role:?}"));
        }
        if role == before {
            problems.push(format!("{index}: roles do not alternate"));
        }
        before = role;
        let answered = ids(message, "toolResult");
        if answered != open {
            problems.push(format!("{index}: {answered:?} answers {open:?}"));
        }
        open = ids(message, "toolUse");
    }
    if !open.is_empty() {
        problems.push(format!("end: {open:?} are not answered"));
    }
    problems
}

fn ids<'v>(message: &'v Value, field: &str) -> BTreeSet<&'v str> {
    let blocks = list(message, "content").iter().map(|block| &block[field]);
    blocks.filter(|body| body.is_object()).map(|body| text(body, "toolUseId")).collect()
}

pub(crate) fn answers(message: &Value) -> bool {
    !ids(message, "toolResult").is_empty()
}

pub(crate) fn ties(messages: &[Value]) -> Vec<(usize, usize)> {
    let calls = (0..messages.len()).filter(|at| !ids(&messages[*at], "toolUse").is_empty());
    calls.map(|at| (at, at + 1)).collect()
}

#[cfg(test)]
mod tests {
    use cupel_chat::Format::Bedrock;

    use super::super::assert_problems;

    const USER: &str = r#"{"role":"user","content":[{"text":"hi"}]}"#;
    const SAID: &str = r#"{"role":"assistant","content":[{"text":"ho"}]}"#;
    const CALL: &str = r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"a"}}]}"#;
    const RESULT: &str = r#"{"role":"user","content":[{"toolResult":{"toolUseId":"a"}}]}"#;

    #[track_caller]
    fn check(messages: &[&str], expected: &[&str]) {
        assert_problems(Bedrock, &format!("[{}]", messages.join(",")), expected);
    }

    #[test]
    fn roles_alternate_and_results_follow() {
        check(&[USER, CALL, RESULT, SAID, USER], &[]);
        check(&[SAID, USER], &["0: roles"]);
        check(&[USER, USER], &["1: roles"]);
        check(&[USER, CALL, USER, SAID, RESULT], &["2: {} answers", "4: {\"a\"} answers"]);
        check(&[USER, CALL], &["end: {\"a\"}"]);
    }
}
