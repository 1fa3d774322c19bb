//! `cupel tools`.

use crate::support::{assert_snapshot, run};

const AGENT: &str = "examples/coding-agent.json";

#[test]
fn tools_are_listed_with_what_they_cost_and_how_often_they_are_called() {
    assert_snapshot("tools", &["tools", AGENT]);
    let list = run(&["tools", AGENT, "--json"]).stdout;
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    assert_eq!(list["schema"], "cupel/1");
    assert!(list["tools"].as_array().unwrap().iter().any(|tool| tool["calls"].as_u64() > Some(0)));
}

#[test]
fn a_request_without_tools_says_so() {
    let run = run(&["tools", "crates/cupel-cli/tests/data/chat.json"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "the request defines no tools\n"));
}
