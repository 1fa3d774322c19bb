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

#[test]
fn for_fewer_tokens_it_says_what_would_become_of_each() {
    assert_snapshot("tools-within", &["tools", AGENT, "--within=40%"]);
    let run = run(&["tools", AGENT, "--within=140%"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("not a share from 0% to 100%; write it as 50%"), "{}", run.stderr);
}

#[test]
fn of_many_requests_each_has_a_line() {
    let folder = crate::support::Folder::new();
    let said = r#""messages":[{"role":"user","content":"Hi"}]"#;
    let with = format!(r#"{{{said},"tools":[{{"type":"function","function":{{"name":"ls"}}}}]}}"#);
    folder.write("many.jsonl", format!("{with}\n{{{said}}}\nnonsense\n"));
    let file = folder.path().join("many.jsonl");
    let run = run(&["tools", file.to_str().unwrap(), "--lines", "--json"]);
    let counts: Vec<Option<usize>> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|list| list["tools"].as_array().map(Vec::len))
        .collect();
    assert_eq!(counts, [Some(1), Some(0), None]);
    assert_ne!(run.code, Some(0));
    assert!(run.stderr.contains("many.jsonl:3"), "{}", run.stderr);
}

#[test]
fn tools_make_room_and_the_summary_says_so() {
    let fit = |how: &str| run(&["select", AGENT, "--max=700", "--tokenizer=estimate", how]);
    let (whole, short) = (fit("--tools=keep"), fit("--tools=shorten"));
    assert!(!whole.stderr.contains("tool"), "{}", whole.stderr);
    assert!(short.stderr.contains("tools shorter"), "{}", short.stderr);
    let wrong = fit("--tools=chose");
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("did you mean `choose`?"), "{}", wrong.stderr);
}
