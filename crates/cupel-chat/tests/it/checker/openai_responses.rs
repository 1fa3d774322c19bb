//! Responses: calls and outputs pair by `call_id`, the call first; reasoning is followed by
//! something that the model made.

use std::collections::BTreeSet;

use serde_json::Value;

use super::text;

const MODEL_MADE: [&str; 12] = [
    "reasoning",
    "function_call",
    "custom_tool_call",
    "computer_call",
    "local_shell_call",
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_call",
    "mcp_list_tools",
    "mcp_approval_request",
];

/// Relation of an item to another one.
enum Part<'v> {
    Call(&'v str),
    /// May stand alone: then nobody has decided yet.
    Question(&'v str),
    Output(&'v str),
    Other,
}

fn part(item: &Value) -> Part<'_> {
    match text(item, "type") {
        "function_call" | "custom_tool_call" | "computer_call" | "local_shell_call" => {
            Part::Call(text(item, "call_id"))
        }
        "mcp_approval_request" => Part::Question(text(item, "id")),
        "mcp_approval_response" => Part::Output(text(item, "approval_request_id")),
        // Its own id is that of the call.
        "local_shell_call_output" if item["call_id"].is_null() => Part::Output(text(item, "id")),
        kind if kind.ends_with("_call_output") => Part::Output(text(item, "call_id")),
        _ => Part::Other,
    }
}

fn is_reasoning(item: &Value) -> bool {
    text(item, "type") == "reasoning"
}

fn is_model_made(item: &Value) -> bool {
    text(item, "role") == "assistant" || MODEL_MADE.contains(&text(item, "type"))
}

pub(crate) fn problems(items: &[Value]) -> Vec<String> {
    let mut problems = Vec::new();
    if items.is_empty() {
        problems.push("no input".into());
    }
    let mut open: Vec<&str> = Vec::new();
    let mut asked: Vec<&str> = Vec::new();
    let mut seen = BTreeSet::new();
    for (index, item) in items.iter().enumerate() {
        if let Part::Call(id) | Part::Question(id) = part(item) {
            if !seen.insert(id) {
                problems.push(format!("{index}: the id {id:?} is not new"));
            }
        }
        match part(item) {
            Part::Call(id) => open.push(id),
            Part::Question(id) => asked.push(id),
            Part::Output(id) => {
                let list = if open.contains(&id) { &mut open } else { &mut asked };
                match list.iter().position(|known| *known == id) {
                    Some(position) => drop(list.remove(position)),
                    None => problems.push(format!("{index}: output {id:?} without its call")),
                }
            }
            Part::Other => {}
        }
        if is_reasoning(item) && !items.get(index + 1).is_some_and(is_model_made) {
            problems.push(format!("{index}: reasoning without what follows it"));
        }
    }
    problems.extend(open.iter().map(|id| format!("end: call {id:?} has no output")));
    problems
}

pub(crate) fn ties(items: &[Value]) -> Vec<(usize, usize)> {
    let mut ties = Vec::new();
    for (index, item) in items.iter().enumerate() {
        if is_reasoning(item) {
            ties.push((index, index + 1));
        }
        if let Part::Output(id) = part(item) {
            let call = |item: &Value| match part(item) {
                Part::Call(call) | Part::Question(call) => call == id,
                _ => false,
            };
            ties.extend(items[..index].iter().rposition(call).map(|call| (call, index)));
        }
    }
    ties
}

#[cfg(test)]
mod tests {
    use cupel_chat::Format::OpenAiResponses;

    use super::super::assert_problems;

    const USER: &str = r#"{"role":"user","content":"hi"}"#;
    const CALL: &str = r#"{"type":"function_call","call_id":"a"}"#;
    const OUTPUT: &str = r#"{"type":"function_call_output","call_id":"a"}"#;
    const REASONING: &str = r#"{"type":"reasoning","id":"r"}"#;

    #[track_caller]
    fn check(items: &[&str], expected: &[&str]) {
        assert_problems(OpenAiResponses, &format!("{{\"input\":[{}]}}", items.join(",")), expected);
    }

    #[test]
    fn outputs_need_not_be_adjacent() {
        check(&[USER, REASONING, CALL, USER, OUTPUT], &[]);
    }

    #[test]
    fn lone_halves_are_found() {
        check(&[USER, OUTPUT], &["1: output \"a\" without its call"]);
        check(&[CALL, USER], &["end: call \"a\" has no output"]);
        check(&[OUTPUT, CALL], &["0: output \"a\" without", "end: call \"a\" has no output"]);
    }

    #[test]
    fn ids_are_used_once() {
        check(&[CALL, OUTPUT, CALL, OUTPUT], &["2: the id \"a\" is not new"]);
    }

    #[test]
    fn no_input_is_found() {
        check(&[], &["no input"]);
    }

    #[test]
    fn reasoning_needs_what_the_model_made() {
        check(&[REASONING, USER], &["0: reasoning without"]);
        check(&[USER, REASONING], &["1: reasoning without"]);
        check(&[CALL, REASONING, OUTPUT], &["1: reasoning without"]);
        check(&[REASONING, REASONING, r#"{"type":"message","role":"assistant"}"#], &[]);
    }
}
