//! Ollama: as many results of each tool follow a message as it calls it.

use serde_json::Value;

use super::{list, text};

pub(crate) fn problems(messages: &[Value]) -> Vec<String> {
    let mut problems = Vec::new();
    if messages.is_empty() {
        problems.push("no messages".to_owned());
    }
    let mut open: Vec<&str> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        match text(message, "role") {
            "tool" => {
                let name = text(message, "tool_name");
                match open.iter().position(|open| *open == name) {
                    Some(at) => drop(open.remove(at)),
                    None => {
                        problems.push(format!("{index}: a result of {name:?} without its call"));
                    }
                }
            }
            "system" | "user" | "assistant" => {
                problems
                    .extend(open.iter().map(|name| format!("{index}: {name:?} is not answered")));
                let calls = list(message, "tool_calls").iter();
                open = calls.map(|call| text(&call["function"], "name")).collect();
            }
            role => problems.push(format!("{index}: unknown role {role:?}")),
        }
    }
    problems.extend(open.iter().map(|name| format!("end: {name:?} is not answered")));
    problems
}

pub(crate) fn ties(messages: &[Value]) -> Vec<(usize, usize)> {
    super::ai_sdk::ties(messages)
}

#[test]
fn results_are_of_the_tools_that_were_called() {
    let check = |messages: &[&str], expected: &[&str]| {
        let request = format!("[{}]", messages.join(","));
        super::assert_problems(cupel_chat::Format::Ollama, &request, expected);
    };
    let user = r#"{"role":"user","content":"x"}"#;
    let call = r#"{"role":"assistant","tool_calls":[{"function":{"name":"f"}}]}"#;
    let result = |name: &str| format!(r#"{{"role":"tool","tool_name":"{name}"}}"#);
    check(&[user, call, &result("f")], &[]);
    check(&[user, call, &result("g")], &["2: a result of \"g\"", "end: \"f\""]);
    check(&[user, call, user], &["2: \"f\""]);
}
