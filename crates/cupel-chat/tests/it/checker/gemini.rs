//! Gemini: as many responses as calls, in the content that follows; where all calls have ids, an id of a
//! response is one of them; a call comes after the user's words or a response.

use serde_json::Value;

use super::{list, text};

pub(crate) fn problems(contents: &[Value]) -> Vec<String> {
    let mut problems = Vec::new();
    if contents.is_empty() {
        problems.push("no contents".into());
    }
    let mut open: Vec<&Value> = Vec::new();
    for (index, content) in contents.iter().enumerate() {
        let role = content["role"].as_str().unwrap_or("user");
        if !["user", "model", "function"].contains(&role) {
            problems.push(format!("{index}: unknown role {role:?}"));
        }
        let answers = parts(content, "functionResponse", "function_response");
        if answers.len() != open.len() {
            problems.push(format!("{index}: {} responses to {} calls", answers.len(), open.len()));
        } else if !may_pair(&open, &answers) {
            problems.push(format!("{index}: responses with other ids than the calls"));
        }
        open = parts(content, "functionCall", "function_call");
        let before = index.checked_sub(1).map_or("model", |before| text(&contents[before], "role"));
        if !open.is_empty() && before == "model" {
            problems.push(format!("{index}: a call without the user before it"));
        }
    }
    if !open.is_empty() {
        problems.push(format!("end: 0 responses to {} calls", open.len()));
    }
    problems
}

/// Returns true if a content holds responses.
pub(crate) fn answers(content: &Value) -> bool {
    !parts(content, "functionResponse", "function_response").is_empty()
}

fn parts<'v>(content: &'v Value, camel: &str, snake: &str) -> Vec<&'v Value> {
    let parts = list(content, "parts").iter();
    parts.filter_map(|part| part.get(camel).or(part.get(snake))).collect()
}

fn may_pair(calls: &[&Value], answers: &[&Value]) -> bool {
    let ids: Vec<&str> = calls.iter().map(|call| text(call, "id")).collect();
    let mut answered = answers.iter().map(|answer| text(answer, "id"));
    ids.contains(&"") || answered.all(|id| id.is_empty() || ids.contains(&id))
}

pub(crate) fn ties(contents: &[Value]) -> Vec<(usize, usize)> {
    let calls = |content: &Value| !parts(content, "functionCall", "function_call").is_empty();
    let callers = contents.iter().enumerate().filter(|(_, content)| calls(content));
    callers.map(|(index, _)| (index, index + 1)).collect()
}

#[cfg(test)]
mod tests {
    use cupel_chat::Format::Gemini;

    use super::super::assert_problems;

    const USER: &str = r#"{"role":"user","parts":[{"text":"hi"}]}"#;
    const MODEL: &str = r#"{"role":"model","parts":[{"text":"ho"}]}"#;
    const CALLS: &str = r#"{"role":"model","parts":[{"functionCall":{"name":"f"}},{"function_call":{"name":"g"}}]}"#;
    const ANSWERS: &str = r#"{"role":"user","parts":[{"functionResponse":{"name":"g"}},{"functionResponse":{"name":"f"}}]}"#;
    const ONE: &str = r#"{"role":"function","parts":[{"functionResponse":{"name":"f"}}]}"#;

    #[track_caller]
    fn check(contents: &[&str], expected: &[&str]) {
        assert_problems(Gemini, &format!("{{\"contents\":[{}]}}", contents.join(",")), expected);
    }

    #[test]
    fn a_whole_exchange_is_valid() {
        check(&[USER, CALLS, ANSWERS, CALLS, ANSWERS, MODEL, USER], &[]);
    }

    #[test]
    fn numbers_must_agree() {
        check(&[USER, CALLS, ONE], &["2: 1 responses to 2 calls"]);
        check(&[USER, ONE], &["1: 1 responses to 0 calls"]);
        check(&[USER, CALLS], &["end: 0 responses to 2 calls"]);
        check(&[USER, CALLS, USER, ANSWERS], &["2: 0 responses to 2", "3: 2 responses to 0"]);
    }

    #[test]
    fn ids_must_agree_where_there_are_any() {
        let call = r#"{"role":"model","parts":[{"functionCall":{"name":"f","id":"1"}}]}"#;
        let other = r#"{"role":"user","parts":[{"functionResponse":{"name":"f","id":"2"}}]}"#;
        check(&[USER, call, other], &["2: responses with other ids"]);
        check(&[USER, call, ONE], &[]);
    }

    #[test]
    fn a_call_follows_the_user_or_a_response() {
        check(&[USER, MODEL, CALLS, ANSWERS], &["2: a call without the user"]);
        check(&[CALLS, ANSWERS], &["0: a call without the user"]);
        check(&[], &["no contents"]);
    }
}
