//! Many requests in one call.

use crate::support::{Folder, run, run_with};

const ESTIMATE: &str = "--tokenizer=estimate";

fn talk(words: usize) -> String {
    let long = "lorem ipsum ".repeat(words);
    format!(
        r#"[{{"role": "user", "content": "{long}"}}, {{"role": "user", "content": "Why {words}?"}}]"#
    )
}

#[test]
fn each_line_is_answered_by_a_line_and_a_bad_one_stops_nothing() {
    let lines = [talk(3), "{".to_owned(), talk(90), "[]".to_owned(), talk(5)].join("\n");
    let run = run_with(&["select", "--lines", "--max=60", "--quiet", ESTIMATE], &lines);
    let answers: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(answers.len(), 5, "{run:?}");
    assert_eq!(answers[0], talk(3));
    assert_eq!((answers[1], answers[3]), ("null", "null"));
    assert!(answers[2].contains("Why 90?") && !answers[2].contains("lorem"));
    assert_eq!(answers[4], talk(5));
    assert!(run.stderr.contains("cupel: stdin:2:1:1: "), "{}", run.stderr);
    assert!(run.stderr.contains("cupel: stdin:4:"), "{}", run.stderr);
    assert!(run.stderr.ends_with("cupel: 2 of 5 requests failed\n"), "{}", run.stderr);
    assert_eq!(run.code, Some(2));
}

#[test]
fn a_batch_that_was_read_but_does_not_fit_answers_no() {
    let lines = [talk(3), r#"[{"role":"user","content":"does not fit at all"}]"#.to_owned()];
    let run = run_with(&["select", "--lines", "--max=3", "--quiet", ESTIMATE], &lines.join("\n"));
    assert_eq!(run.code, Some(1), "{run:?}");
}

#[test]
fn several_files_are_replaced_or_written_into_a_folder() {
    let folder = Folder::new();
    let (a, b) = (folder.write("a.json", talk(90)), folder.write("b.json", talk(80)));
    let refused = run(&["select", &a, &b, "--max=60", ESTIMATE]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("several files need --in-place, or --output FOLDER"));
    std::fs::create_dir(folder.path().join("out")).unwrap();
    let out = folder.file("out");
    let written = run(&["select", &a, &b, "--max=60", "--output", &out, ESTIMATE]);
    assert_eq!(written.code, Some(0), "{written:?}");
    assert!(written.stderr.contains("a.json: kept 1 of 2 messages"), "{}", written.stderr);
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(read("out/a.json").contains("Why 90?") && read("out/b.json").contains("Why 80?"));
    assert_eq!(read("a.json"), talk(90));
    let replaced = run(&["select", &a, &b, "--max=60", "--in-place", "--quiet", ESTIMATE]);
    assert_eq!((replaced.code, replaced.stderr.as_str()), (Some(0), ""));
    assert_eq!(read("a.json"), read("out/a.json"));
}

#[test]
fn count_and_validate_take_many_too() {
    let lines = [talk(3), "7".to_owned(), talk(4)].join("\n");
    let counted = run_with(&["count", "--lines", "--json", ESTIMATE], &lines);
    let answers: Vec<serde_json::Value> =
        counted.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers[0]["schema"], "cupel/1");
    assert!(answers[1].is_null());
    assert!(answers[2]["total_tokens"].as_i64() > answers[0]["total_tokens"].as_i64());
    assert_eq!(counted.code, Some(2));

    let orphan = r#"[{"role":"tool","tool_call_id":"x","content":"?"}]"#;
    let lines = [talk(3), orphan.to_owned()].join("\n");
    let validated = run_with(&["validate", "--lines"], &lines);
    assert_eq!(validated.code, Some(1));
    assert!(validated.stdout.contains("stdin:1: a valid openai-chat request"), "{validated:?}");
    assert!(validated.stdout.contains("stdin:2: [0]: the result of `x` has no call"));
}

#[test]
fn answers_of_many_lines_come_in_their_order() {
    let lines: Vec<String> = (1..200).map(talk).collect();
    let run = run_with(&["select", "--lines", "--max=40", "-q", ESTIMATE], &lines.join("\n"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    for (at, line) in run.stdout.lines().enumerate() {
        assert!(line.contains(&format!("Why {}?", at + 1)), "{at}: {line}");
    }
    assert_eq!(run.stdout.lines().count(), 199);
}
