//! Transcripts, exports and batches: as a request, and where a request is wanted.

use std::fs;

use crate::support::{Folder, assert_cannot_run, root, run, run_with};

const FOLDER: &str = "examples/transcripts";

fn example(name: &str) -> String {
    format!("{FOLDER}/{name}")
}

#[test]
fn every_sample_becomes_a_valid_request_of_its_format() {
    for (name, format) in [
        ("claude-code.jsonl", "anthropic"),
        ("codex.jsonl", "openai-responses"),
        ("batch-openai.jsonl", "openai-chat"),
        ("batch-anthropic.jsonl", "anthropic"),
        ("mcp-resources.json", "items"),
    ] {
        let imported = run(&["import", &example(name)]);
        assert_eq!(imported.code, Some(0), "{imported:?}");
        let validated = run_with(&["validate"], &imported.stdout);
        assert_eq!(validated.stdout, format!("stdin: a valid {format} request\n"), "{name}");
        let straight = run(&["validate", &example(name)]);
        assert!(straight.stdout.ends_with(&format!("a valid {format} request\n")), "{straight:?}");
    }
}

#[test]
fn the_window_of_a_transcript_is_that_of_its_last_request() {
    let name = example("claude-code.jsonl");
    let imported = run(&["import", &name]);
    let straight = run(&["select", &name, "--max", "300"]);
    let through = run_with(&["select", "--max", "300"], &imported.stdout);
    assert_eq!(straight.stdout.trim_end(), through.stdout.trim_end());
    assert!(straight.stderr.starts_with(&format!(
        "{name}: a transcript of Claude Code; this is about its last request\n"
    )));
    assert!(straight.stderr.contains("the system prompt and the tool definitions are not in"));
    for command in ["explain", "view", "count", "validate", "show"] {
        let arguments: &[&str] = match command {
            "explain" => &["explain", &name, "--max", "300"],
            "view" => continue,
            command => &[command, &name],
        };
        assert_eq!(run(arguments).code, Some(0), "{command}");
    }
}

#[test]
fn a_conversation_is_listed_and_chosen() {
    let name = example("conversations.json");
    let list = run(&["import", &name, "--list"]);
    assert!(
        list.stdout.contains("Trip to Rome") && list.stdout.contains("2 conversations"),
        "{list:?}"
    );
    let json = run(&["import", &name, "--list", "--json"]);
    assert!(json.stdout.contains("\"number\": 2"), "{json:?}");
    for pick in ["1", "trip to rome", "68f0c1aa-0000-8000-a000-000000000001"] {
        let picked = run(&["import", &name, "--pick", pick]);
        assert!(picked.stdout.contains("wheelchair"), "{pick}: {picked:?}");
        assert!(!picked.stdout.contains("Colosseum"), "a branch that is not shown: {picked:?}");
    }
    for command in [&["import", &name][..], &["explain", &name, "--max", "300"]] {
        assert_cannot_run(
            command,
            &format!(
                "{name}: there are 2 conversations; `cupel import FILE --list` lists them, and \
                 --pick chooses one"
            ),
        );
    }
    let line = run(&["import", &example("batch-openai.jsonl"), "--line", "1"]);
    assert!(line.stdout.contains("two days early"), "{line:?}");
}

#[test]
fn each_line_of_a_batch_may_be_asked_about() {
    let name = example("batch-openai.jsonl");
    let counted = run(&["count", &name, "--lines", "--json"]);
    assert_eq!(counted.stdout.lines().count(), 2, "{counted:?}");
    assert!(counted.stdout.lines().all(|line| line.contains("total_tokens")), "{counted:?}");
    let explained = run(&["explain", &name, "--lines", "--max", "100"]);
    assert_eq!(explained.code, Some(0), "{explained:?}");
}

#[test]
fn a_transcript_is_never_replaced() {
    let folder = Folder::new();
    let text = fs::read_to_string(root().join(example("claude-code.jsonl"))).unwrap();
    let path = folder.write("t.jsonl", &text);
    let other = folder.write("u.jsonl", &text);
    let one = run(&["select", &path, "--max", "300", "--in-place"]);
    assert_eq!(one.code, Some(2));
    assert!(one.stderr.contains("--in-place would destroy"), "{one:?}");
    let two = run(&["select", &path, &other, "--max", "300", "--in-place"]);
    assert_eq!(two.code, Some(2));
    let itself = run(&["import", &path, "-o", &path]);
    assert_eq!(itself.code, Some(2));
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    assert_eq!(fs::read_to_string(&other).unwrap(), text);
}

#[test]
fn what_is_no_transcript_is_named() {
    assert_cannot_run(
        &["import", "examples/dinner-chat.json"],
        "examples/dinner-chat.json: is no transcript but a request (openai-chat); the other \
         commands take it as it is",
    );
    let other = run_with(&["import"], "{\"a\": 1}");
    assert_eq!(other.code, Some(2));
    assert!(other.stderr.contains("name what it is with --kind: claude-code, codex"), "{other:?}");
    let named = run_with(&["import", "--kind", "codex"], "{\"a\": 1}");
    assert_eq!(named.code, Some(2), "{named:?}");
    let kind = run(&["import", "--kind", "claudecode", "examples/dinner-chat.json"]);
    assert!(kind.stderr.contains("did you mean `claude-code`?"), "{kind:?}");
}
