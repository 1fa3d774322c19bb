//! Shorter results, as the command makes and shows them.

use serde_json::{Value, json};

use crate::support::{Folder, run_with};

/// A call with thirty records, and a question about them.
fn request() -> String {
    let record = |at: usize| {
        json!({"id": format!("R-{:05}", at * 37), "city": "Lund", "open": true,
        "remark": "nothing to be said about this one that matters"})
    };
    let records: Vec<Value> = (0..30).map(record).collect();
    json!({"messages": [
        {"role": "user", "content": "List the records."},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "list", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": serde_json::to_string_pretty(&records).unwrap()},
        {"role": "assistant", "content": "There are thirty."},
        {"role": "user", "content": "Which is R-00037?"}
    ]})
    .to_string()
}

#[test]
fn what_is_shortened_is_said_and_explained() {
    let args = ["select", "--max=400", "--shorten=json"];
    let selected = run_with(&args, &request());
    assert_eq!(selected.code, Some(0), "{selected:?}");
    assert!(selected.stderr.contains("; 1 text shortened"), "{}", selected.stderr);
    assert!(selected.stdout.contains("R-00037"), "{}", selected.stdout);
    let explained = run_with(&["explain", "--max=400", "--shorten=json"], &request());
    assert!(explained.stdout.contains("shortened from "), "{}", explained.stdout);
    assert!(explained.stdout.contains(" values · whole at "), "{}", explained.stdout);
    let off = run_with(&["select", "--max=400"], &request());
    assert!(!off.stderr.contains("shortened"), "{}", off.stderr);
}

#[test]
fn unknown_ways_to_shorten_are_refused() {
    let run = run_with(&["select", "--max=400", "--shorten=jsno"], &request());
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("did you mean `json`?"), "{}", run.stderr);
}

#[test]
fn a_handle_gives_the_whole_back() {
    let listed = run_with(&["show", "-", "--json"], &request());
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let of_tool = listed["texts"].as_array().unwrap().iter().find(|text| text["tool"] == "list");
    let handle = of_tool.unwrap()["handle"].as_str().unwrap().to_owned();
    let selected = run_with(&["select", "--max=80", "--shorten=json", "--quiet"], &request());
    assert!(selected.stdout.contains(&handle), "the stub names it: {}", selected.stdout);
    let shown = run_with(&["show", "-", &handle], &request());
    let parsed: Value = serde_json::from_str(&request()).unwrap();
    assert_eq!(Some(shown.stdout.as_str()), parsed["messages"][2]["content"].as_str());
    let unknown = run_with(&["show", "-", "cupel:0000000000000000"], &request());
    assert_eq!(unknown.code, Some(1));
    assert!(unknown.stderr.contains("no text has the handle"), "{}", unknown.stderr);
    let table = run_with(&["show", "-"], &request());
    assert!(table.stdout.contains(&handle) && table.stdout.contains("assistant"), "{table:?}");
}

#[test]
fn summaries_come_from_a_file_and_stale_ones_are_told() {
    let folder = Folder::new();
    let listed = run_with(&["show", "-", "--json"], &request());
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let hash = &listed["texts"][0]["handle"];
    let summaries = json!([
        {"call": "c1", "hash": hash, "content": "Thirty open records in Lund, R-00000 to R-01073.", "share": 0.9},
        {"message": 3, "hash": "cupel:0000000000000000", "content": "30."}
    ]);
    let file = folder.write("summaries.json", summaries.to_string());
    let file = format!("--renderings={file}");
    let selected = run_with(&["select", "--max=120", &file], &request());
    assert_eq!(selected.code, Some(0), "{selected:?}");
    assert!(selected.stdout.contains("Thirty open records"), "{}", selected.stdout);
    assert!(
        selected.stderr.contains(
            "the rendering of message 3 is not used: the text was changed since it was made"
        ),
        "{}",
        selected.stderr
    );
    let wrong = folder.write("wrong.json", r#"[{"call": "c1", "hash": "h", "content": ""}]"#);
    let run = run_with(&["select", "--max=120", &format!("--renderings={wrong}")], &request());
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("wrong.json: [0].content: must be non-empty"), "{}", run.stderr);
}
