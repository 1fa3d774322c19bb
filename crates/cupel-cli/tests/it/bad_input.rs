//! Whatever is wrong is named, with the exit code 2, and nothing is written.

use crate::support::{Folder, assert_cannot_run, root, run, run_with};

const SMALL: &str = "crates/cupel-cli/tests/data/chat.json";

#[test]
fn truncated_json_is_named_by_line_column_and_path() {
    let text = std::fs::read_to_string(root().join(SMALL)).unwrap();
    for length in (1..text.trim_end().len()).step_by(7) {
        let cut: String = text.chars().take(length).collect();
        let run = run_with(&["select", "--max", "100"], &cut);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{length}: {run:?}");
        assert!(run.stderr.starts_with("cupel: stdin:"), "{length}: {}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1, "{length}: {}", run.stderr);
    }
}

#[test]
fn a_wrong_type_is_named_by_path() {
    let run = run_with(&["select", "--max", "100"], r#"{"messages": 3}"#);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.starts_with("cupel: stdin:1:14: messages: "), "{}", run.stderr);
}

#[test]
fn binary_data_an_empty_file_a_folder_and_a_missing_file_are_named() {
    let folder = Folder::new();
    let binary = folder.write("picture.png", [b'\n', 0x89, b'P', 0xff]);
    assert_cannot_run(
        &["select", &binary, "--max", "9"],
        &format!("{binary}:2: byte 1 (0x89) is not UTF-8; only text can be read, convert it first"),
    );
    let empty = folder.write("empty.json", "");
    assert_cannot_run(
        &["select", &empty, "--max", "9"],
        &format!("{empty}:1:1: there is nothing in it; give a request as JSON"),
    );
    let path = folder.path().to_str().unwrap();
    assert_cannot_run(
        &["select", path, "--max", "9"],
        &format!("{path}: is a folder; name a file"),
    );
    let missing = folder.file("missing.json");
    assert_cannot_run(
        &["select", &missing, "--max", "9"],
        &format!("{missing}: cannot read: no such file or directory"),
    );
}

#[test]
fn a_policy_with_a_typo_gets_the_nearest_name() {
    assert_cannot_run(
        &["select", SMALL, "--policy", "debuging"],
        "unknown policy `debuging`; did you mean `debugging`?",
    );
    let typo = "crates/cupel-cli/tests/data/typo.toml";
    let run = run(&["select", SMALL, "--max", "100", "--policy", typo]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("typo.toml: scorers[0].type: "), "{}", run.stderr);
    assert!(run.stderr.ends_with("did you mean `recency`?\n"), "{}", run.stderr);
}

#[test]
fn wrong_names_and_numbers_get_a_remedy() {
    for (arguments, remedy) in [
        (["--model", "gpt-4p"], "did you mean `gpt-4"),
        (["--tokenizer", "o200k-base"], "did you mean `o200k_base`?"),
        (["--format", "antropic"], "did you mean `anthropic`?"),
        (["--max", "lots"], "write it as 8000 or 8k"),
        (["--max", "-5"], "unexpected argument"),
        (["--pin", "99"], "give an index from 0 to 8"),
        (["--pin", "nobody"], "give an index as 3, a role as role:user"),
        (["--target", "101"], "--target `101` must not exceed --max `100`"),
        (["--colour", "never"], "--color"),
    ] {
        let max = if arguments[0] == "--max" { &[] as &[&str] } else { &["--max", "100"] };
        let run = run(&[&["select", SMALL], max, &arguments].concat());
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{arguments:?}: {run:?}");
        assert!(run.stderr.contains(remedy), "{arguments:?}: {}", run.stderr);
    }
}

#[test]
fn commands_that_need_more_say_so() {
    let run_2 = |arguments: &[&str]| {
        let run = run(arguments);
        assert_eq!(run.code, Some(2), "{run:?}");
        run.stderr
    };
    assert!(
        run_2(&["compare", SMALL, "--max", "9", "--policy", "chat"]).contains("repeat --policy")
    );
    assert!(run_2(&["simulate", "min-budget", SMALL, "--item", "9"]).contains("counted from 0"));
    assert!(
        run_2(&["simulate", "curve", SMALL, "--from", "9", "--to", "8"])
            .contains("the smallest budget 9 must not exceed the largest 8; mend --from or --to")
    );
    assert!(
        run_2(&["select", SMALL, "--max", "9", "--tokenizer", "no/tokenizer.json"])
            .contains("no/tokenizer.json: ")
    );
    assert!(run_2(&["sellect", SMALL]).contains("similar subcommand exists: 'select'"));
    assert!(run_2(&["select", "-", "--in-place"]).contains("--in-place needs a file"));
}

/// As large as a careless export of a year's chats.
#[test]
fn a_hundred_megabytes_are_read() {
    let message = format!(r#"{{"role": "user", "content": "{}"}}"#, "lorem ipsum ".repeat(800));
    let count = 100_000_000 / message.len() + 1;
    let text = format!(r#"{{"messages": [{}]}}"#, vec![message; count].join(","));
    let folder = Folder::new();
    let file = folder.write("huge.json", text);
    let run = run(&["select", &file, "--max", "9000", "--tokenizer", "estimate"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.starts_with("kept "), "{}", run.stderr);
    assert!(run.stdout.len() < 100_000);
}

#[test]
fn what_people_paste_is_named_with_what_to_do() {
    for (text, told) in [
        ("model: gpt-4o\nmessages:\n  - role: user\n", "YAML"),
        ("curl https://example.com/v1/chat -d '{}'", "curl"),
        ("{'messages': [{'role': 'user', 'content': 'Hello'}]}", "repr of Python"),
        ("{\"messages\": [{\"role\": \"user\", \"content\": \"Hello\"},]}", "a comma before"),
        ("{\"messages\": []}\n{\"messages\": []}\n", "--lines"),
    ] {
        let run = run_with(&["select", "--max=100"], text);
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(run.stderr.contains(told), "{run:?}");
    }
}

#[test]
fn a_budget_is_suggested_as_max() {
    let run = run_with(&["select", "--budget=100"], "");
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains("--max"), "{run:?}");
}

#[test]
fn lines_are_explained_one_by_one_and_counts_are_named() {
    let line =
        "{\"model\": \"gpt-4o\", \"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}]}";
    let text = format!("{line}\n{line}\n");
    let run = run_with(&["explain", "--max=100", "--lines"], &text);
    assert!(run.stdout.contains("stdin:1\n") && run.stdout.contains("stdin:2\n"), "{run:?}");
    let run = run_with(&["explain", "--max=100", "--lines", "--json"], &text);
    assert_eq!(run.stdout.lines().count(), 2, "{run:?}");
    let run = run_with(&["count", "--lines", "--json"], &text);
    assert!(run.stdout.starts_with("{\"name\":\"stdin:1\","), "{run:?}");
}

#[test]
fn completions_offer_models_policies_and_formats() {
    let run = run_with(&["completions", "bash"], "");
    for name in ["claude-opus-5", "openai-responses", "auto"] {
        assert!(run.stdout.contains(name), "{name}");
    }
}
