//! Anthropic Messages: the user begins; every `tool_use` is answered at the head of the very next
//! message; with thinking switched on, the last turn of the assistant begins with a thinking block.

use serde_json::Value;

use super::{list, text};

pub(crate) fn problems(messages: &[Value], request: &Value) -> Vec<String> {
    let mut problems = texts(messages);
    problems.extend(server_results(messages));
    let takes_system = text(request, "model").contains("opus-4-8");
    match messages.first() {
        None => problems.push("no messages".into()),
        Some(first) if text(first, "role") != "user" => problems.push("0: not the user's".into()),
        Some(_) => {}
    }
    let mut open: Vec<&str> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let blocks = list(message, "content");
        match text(message, "role") {
            "assistant" => {}
            "system" if takes_system => {
                let follows = index > 0 && text(&messages[index - 1], "role") == "user";
                let next = messages.get(index + 1).map(|next| text(next, "role"));
                if !follows || next.is_some_and(|next| next != "assistant") {
                    problems.push(format!("{index}: a system message in the wrong place"));
                }
            }
            "user" => {
                let results = blocks.iter().take_while(|block| is(block, "tool_result")).count();
                if blocks[results..].iter().any(|block| is(block, "tool_result")) {
                    problems.push(format!("{index}: tool_result is not first"));
                }
            }
            role => problems.push(format!("{index}: unknown role {role:?}")),
        }
        for block in blocks.iter().filter(|block| is(block, "tool_result")) {
            let id = text(block, "tool_use_id");
            match open.iter().position(|open| *open == id) {
                Some(position) => drop(open.remove(position)),
                None => problems.push(format!("{index}: result {id:?} without its call")),
            }
        }
        problems.extend(open.iter().map(|id| format!("{index}: call {id:?} is not answered")));
        let calls = blocks.iter().filter(|block| is(block, "tool_use"));
        open = calls.map(|block| text(block, "id")).collect();
    }
    problems.extend(open.iter().map(|id| format!("end: call {id:?} is not answered")));
    let thinking = request["thinking"]["type"] == "enabled";
    let answer = last_turn(messages).iter().find(|message| text(message, "role") == "assistant");
    if thinking && answer.is_some_and(|first| !begins_with_thinking(first)) {
        problems.push("the last turn does not begin with a thinking block".into());
    }
    problems
}

/// No text is empty, and what the answer begins with does not end in white space.
fn texts(messages: &[Value]) -> Vec<String> {
    let mut problems = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let is_prefill = index + 1 == messages.len() && text(message, "role") == "assistant";
        let whole = message["content"].as_str();
        if whole.is_some_and(|text| text.trim().is_empty()) && !is_prefill {
            problems.push(format!("{index}: no text"));
        }
        let blocks = list(message, "content").iter().filter(|block| is(block, "text"));
        problems.extend(
            blocks
                .filter(|block| block["text"].as_str().is_some_and(|text| text.trim().is_empty()))
                .map(|_| format!("{index}: an empty text")),
        );
        let last = list(message, "content").last().filter(|block| is(block, "text"));
        let end = whole.or(last.map(|block| text(block, "text"))).unwrap_or_default();
        if is_prefill
            && end.ends_with(char::is_whitespace)
            && (whole.is_some() || !end.trim().is_empty())
        {
            problems.push(format!("{index}: white space at the end of the prefill"));
        }
    }
    problems
}

/// Checks that a result of the service follows a call that the service made.
fn server_results(messages: &[Value]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut calls: Vec<&str> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        for block in list(message, "content") {
            match text(block, "type") {
                "server_tool_use" | "mcp_tool_use" => calls.push(text(block, "id")),
                "tool_result" => {}
                kind if kind.ends_with("_tool_result") => {
                    let id = text(block, "tool_use_id");
                    if !calls.contains(&id) {
                        problems.push(format!("{index}: {kind} {id:?} without its call"));
                    }
                }
                _ => {}
            }
        }
    }
    problems
}

/// Messages of the assistant since the user last spoke.
fn last_turn(messages: &[Value]) -> &[Value] {
    let spoken = messages.iter().rposition(|message| {
        let blocks = list(message, "content");
        text(message, "role") == "user" && !blocks.iter().any(|block| is(block, "tool_result"))
    });
    &messages[spoken.map_or(0, |index| index + 1)..]
}

fn begins_with_thinking(message: &Value) -> bool {
    let first = &message["content"][0];
    is(first, "thinking") || is(first, "redacted_thinking")
}

fn is(block: &Value, kind: &str) -> bool {
    text(block, "type") == kind
}

pub(crate) fn ties(messages: &[Value]) -> Vec<(usize, usize)> {
    let has_call = |message: &Value| list(message, "content").iter().any(|b| is(b, "tool_use"));
    let callers = messages.iter().enumerate().filter(|(_, message)| has_call(message));
    callers.map(|(index, _)| (index, index + 1)).collect()
}

#[cfg(test)]
mod tests {
    use cupel_chat::Format::Anthropic;

    use super::super::assert_problems;

    const USER: &str = r#"{"role":"user","content":"hi"}"#;
    const SAID: &str = r#"{"role":"assistant","content":"ho"}"#;
    const CALL: &str = r#"{"role":"assistant","content":[{"type":"tool_use","id":"a"}]}"#;
    const RESULT: &str = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}"#;
    const THOUGHT: &str =
        r#"{"role":"assistant","content":[{"type":"thinking"},{"type":"tool_use","id":"a"}]}"#;

    #[track_caller]
    fn check(messages: &[&str], expected: &[&str]) {
        assert_problems(Anthropic, &format!("[{}]", messages.join(",")), expected);
    }

    #[test]
    fn a_whole_exchange_is_valid() {
        check(&[USER, CALL, RESULT, SAID, USER, USER], &[]);
    }

    #[test]
    fn the_user_begins() {
        check(&[SAID, USER], &["0: not the user's"]);
        check(&[], &["no messages"]);
    }

    #[test]
    fn results_stand_in_the_very_next_message() {
        check(&[USER, CALL, USER, RESULT], &["2: call \"a\"", "3: result \"a\" without"]);
        check(&[USER, CALL], &["end: call \"a\""]);
        check(&[USER, SAID, RESULT], &["2: result \"a\" without"]);
    }

    #[test]
    fn results_stand_first() {
        let late = r#"{"role":"user","content":[{"type":"text"},{"type":"tool_result","tool_use_id":"a"}]}"#;
        check(&[USER, CALL, late], &["2: tool_result is not first"]);
    }

    #[test]
    fn the_last_turn_begins_with_its_thinking() {
        let request = |messages: [&str; 5]| {
            format!(r#"{{"thinking":{{"type":"enabled"}},"messages":[{}]}}"#, messages.join(","))
        };
        assert_problems(Anthropic, &request([USER, THOUGHT, RESULT, CALL, RESULT]), &[]);
        let broken = request([USER, CALL, RESULT, THOUGHT, RESULT]);
        assert_problems(Anthropic, &broken, &["does not begin with a thinking block"]);
    }

    #[test]
    fn system_messages_are_for_models_that_take_them() {
        const SYSTEM: &str = r#"{"role":"system","content":"x"}"#;
        check(&[USER, SYSTEM], &["unknown role \"system\""]);
        let request = |messages: &[&str]| {
            format!(r#"{{"model":"claude-opus-4-8","messages":[{}]}}"#, messages.join(","))
        };
        assert_problems(Anthropic, &request(&[USER, SYSTEM, SAID, USER, SYSTEM]), &[]);
        let wrong = "a system message in the wrong place";
        assert_problems(Anthropic, &request(&[USER, SYSTEM, USER]), &[wrong]);
        assert_problems(Anthropic, &request(&[USER, SAID, SYSTEM]), &[wrong]);
    }

    #[test]
    fn empty_texts_and_results_of_nothing_are_found() {
        let empty = r#"{"role":"user","content":[{"type":"text","text":" "}]}"#;
        check(&[USER, SAID, empty], &["2: an empty text"]);
        check(&[USER, r#"{"role":"assistant","content":"{ "}"#], &["1: white space"]);
        let found = r#"{"role":"assistant","content":[{"type":"web_search_tool_result","tool_use_id":"s"}]}"#;
        check(&[USER, found], &["1: web_search_tool_result \"s\" without"]);
    }
}
