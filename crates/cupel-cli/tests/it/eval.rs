//! `cupel eval`: figures, differences, files that are read and written.

use crate::support::{Folder, Run, assert_cannot_run, assert_snapshot, cupel, root, run, run_with};

const SETS: [&str; 4] = [
    "examples/eval/friends.jsonl",
    "examples/eval/meeting.jsonl",
    "examples/eval/agent.jsonl",
    "examples/eval/code.jsonl",
];
const MEETING: &str = SETS[1];
const TALK: &str = "crates/cupel-cli/tests/data/talk.jsonl";

/// Runs `cupel eval` and expects it to succeed.
#[track_caller]
fn eval(arguments: &[&str]) -> Run {
    let run = run(&[&["eval"], arguments].concat());
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    run
}

#[track_caller]
fn json(arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&eval(&[arguments, &["--json"]].concat()).stdout).unwrap()
}

/// The value of a field in the rows of whole sets.
fn of_sets<'v>(rows: &'v serde_json::Value, field: &str) -> Vec<&'v serde_json::Value> {
    let rows = rows.as_array().unwrap().iter();
    rows.filter(|row| row["category"].is_null()).map(|row| &row[field]).collect()
}

#[test]
fn the_sets_of_the_repository_are_measured() {
    let policies = ["--policy", "auto", "--policy", "chat", "--budget", "250,500"];
    assert_snapshot("eval", &[&["eval"], &SETS[..], &policies].concat());
}

#[test]
fn categories_are_shown_when_asked_for() {
    let arguments = ["--policy=chat", "--baseline=newest", "--budget=500", "--by", "category"];
    assert_snapshot("eval-by-category", &[&["eval", MEETING], &arguments[..]].concat());
}

#[test]
fn everything_is_there_as_json() {
    let arguments = ["--policy=chat", "--baseline=oracle", "--budget=20", "--json"];
    assert_snapshot("eval-json", &[&["eval", TALK], &arguments[..]].concat());
}

#[test]
fn budgets_are_1000_2000_and_4000_where_nobody_names_any() {
    let budgets = json(&[TALK])["budgets"].clone();
    assert_eq!(budgets, serde_json::json!([1_000, 2_000, 4_000]));
}

#[test]
fn a_budget_at_which_everything_fits_is_pointed_out() {
    let text = eval(&[TALK, "--budget", "43,42"]).stdout;
    assert!(text.contains("at 43 tokens all candidates fit at 100.0 % of the queries"), "{text}");
    assert!(!text.contains("at 42 tokens all"), "{text}");
}

#[test]
fn more_budgets_than_the_screen_is_wide_for_go_to_a_second_table() {
    let text = eval(&[TALK, "--budget", "5,10,15,20,25,30,35,40"]).stdout;
    let headings: Vec<&str> =
        text.lines().filter(|line| line.trim_start().starts_with("method")).collect();
    assert_eq!(headings.len(), 2, "{text}");
    assert!(headings[1].trim_end().ends_with("40"), "{text}");
    assert!(text.lines().skip(2).all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn lines_fit_a_terminal_of_80_columns() {
    let arguments = [&["eval"], &SETS[..], &["--baseline", "newest"]].concat();
    let output = cupel(&arguments).env("COLUMNS", "80").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= 80, "{text}");
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let with = |threads| {
        let arguments = ["--baseline", "random", "--budget", "250", "--json", "--threads", threads];
        eval(&[&SETS[..], &arguments].concat()).stdout
    };
    let one = with("1");
    assert_eq!(with("2"), one);
    assert_eq!(with("7"), one);
}

#[test]
fn the_reference_is_the_first_method_unless_another_is_named() {
    let arguments = [TALK, "--budget=20", "--policy=chat", "--baseline=oracle"];
    let first = json(&arguments);
    assert_eq!(first["reference"], "chat");
    assert_eq!(of_sets(&first["differences"], "method"), ["oracle"; 3]);
    let named = json(&[&arguments[..], &["--reference", "oracle"]].concat());
    assert_eq!(named["reference"], "oracle");
    assert_eq!(of_sets(&named["differences"], "method"), ["chat"; 3]);
    let mean = |report: &serde_json::Value| report["differences"][0]["mean"].as_f64().unwrap();
    assert_eq!(mean(&named), -mean(&first));
}

#[test]
fn what_is_written_is_read_again_with_the_same_figures() {
    let folder = Folder::new();
    let file = folder.file("selections.jsonl");
    let arguments = [MEETING, "--policy", "rag", "--budget", "250,500"];
    eval(&[&arguments[..], &["--write", &file]].concat());
    let lines = std::fs::read_to_string(&file).unwrap();
    assert_eq!(lines.lines().count(), 16 * 2);
    assert!(lines.starts_with(r#"{"pool":"meeting/"#), "{lines}");

    // The budgets are those of the file.
    let text = eval(&[MEETING, "--policy", "rag", "--selections", &file]).stdout;
    let verdicts: Vec<&str> = text.lines().filter(|line| line.contains(" 0.0 to 0.0 ")).collect();
    assert_eq!(verdicts.len(), 4, "{text}");
    assert!(verdicts.iter().all(|line| line.ends_with("equal")), "{text}");
}

#[test]
fn vectors_of_pools_join_what_is_measured() {
    let folder = Folder::new();
    // The vector of the question points where none of its words do.
    let vectors = r#"{"pool": "talk/1", "items": {"1": [0, 1], "5": [1, 0]}, "queries": {"bread": [1, 0]}}
{"pool": "elsewhere/1", "queries": {"q": [1, 0]}}
"#;
    let file = folder.write("vectors.jsonl", vectors);
    let kept = |arguments: &[&str]| {
        let written = folder.file("selections.jsonl");
        let run = eval(&[&[TALK, "--budget=10", "--write", &written], arguments].concat());
        (std::fs::read_to_string(&written).unwrap(), run.stderr)
    };
    let (by_words, _) = kept(&[]);
    let (by_both, told) = kept(&["--vectors", &file]);
    let line = |lines: &str, query: &str| {
        lines.lines().find(|line| line.contains(query)).map(str::to_owned).unwrap()
    };
    assert!(line(&by_words, "bread").contains("\"selected\":[4]"), "{by_words}");
    assert!(line(&by_both, "bread").contains("\"selected\":[5]"), "{by_both}");
    assert_eq!(line(&by_both, "key"), line(&by_words, "key"), "it has no vector");
    assert_eq!(told, format!("{file}: passed over 1 line for pools that are not in the data\n"));
}

#[test]
fn the_vectors_of_the_readme_belong_to_its_pool() {
    let readme = std::fs::read_to_string(root().join("examples/eval/README.md")).unwrap();
    let block = |start: &str| {
        let blocks = readme.split("```json\n").skip(1);
        let mut blocks = blocks.map(|block| block.split("```").next().unwrap());
        blocks.find(|block| block.contains(start)).unwrap().replace('\n', " ")
    };
    let folder = Folder::new();
    let pool = folder.write("pool.jsonl", block("\"evidence\": [1]"));
    let vectors = folder.write("vectors.jsonl", block("\"queries\": {\"q1\""));
    let run = eval(&[&pool, "--vectors", &vectors, "--budget=10"]);
    assert_eq!(run.stderr, "");
}

#[test]
fn vectors_that_do_not_belong_to_the_data_are_refused() {
    let folder = Folder::new();
    let beyond = folder.write("beyond.jsonl", r#"{"pool": "talk/1", "items": {"6": [1, 0]}}"#);
    let message =
        format!("{beyond}: pool `talk/1`: items[6]: must be one of the 6 items of the request");
    assert_cannot_run(&["eval", TALK, "--vectors", &beyond], &message);
    let nobodys = folder.write("nobodys.jsonl", r#"{"items": [[1, 0]]}"#);
    let run = run(&["eval", TALK, "--vectors", &nobodys]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    let runs = "examples/eval/runs/ferry.jsonl";
    let message = "--vectors: is for pools, the data are runs of agents; leave it out";
    assert_cannot_run(&["eval", runs, "--vectors", &nobodys], message);
}

#[test]
fn selections_that_count_as_0_are_counted() {
    let folder = Folder::new();
    let file = folder.write(
        "theirs.jsonl",
        r#"{"pool": "talk/1", "query": "key", "budget": 20, "selected": [1, 3, 5]}
{"pool": "talk/1", "query": "pot", "budget": 20, "selected": [99]}
{"pool": "elsewhere/1", "query": "q", "budget": 20, "selected": []}
"#,
    );
    let run = eval(&[TALK, "--selections", &file]);
    let note = format!(
        "{file} at 20 tokens, counted as 0: 1 missing, 1 over budget, 1 with an item that is no candidate"
    );
    assert!(run.stdout.contains(&note), "{}", run.stdout);
    assert_eq!(
        run.stderr,
        format!("{file}: passed over 1 line for pools that are not in the data\n")
    );
}

#[test]
fn the_chart_has_a_panel_for_each_set_and_a_line_for_each_method() {
    let folder = Folder::new();
    let file = folder.file("recall.svg");
    let arguments = ["--baseline", "newest", "--budget", "250,500,1000", "--svg", &file];
    let run = eval(&[&SETS[..], &arguments].concat());
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
    let svg = std::fs::read_to_string(&file).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert_eq!(svg.matches("<polyline ").count(), SETS.len() * 2);
    assert_eq!(svg.matches("<circle ").count(), SETS.len() * 2 * 3);
    for name in [">friends<", ">meeting<", ">agent<", ">code<", ">auto<", ">newest<"] {
        assert_eq!(svg.matches(name).count(), 1, "{name}");
    }
    assert_eq!(svg.matches(">budget in tokens<").count(), SETS.len());
}

#[test]
fn data_can_come_from_a_pipe() {
    let data = std::fs::read_to_string(root().join(TALK)).unwrap();
    let from_pipe = run_with(&["eval", "-", "--budget", "20"], &data);
    assert_eq!(from_pipe.stdout, eval(&[TALK, "--budget", "20"]).stdout);
}

#[test]
fn a_broken_line_is_named_by_file_line_and_path() {
    let folder = Folder::new();
    let good = std::fs::read_to_string(root().join(TALK)).unwrap();
    let bad = r#"{"pool": "talk/2", "items": [{"content": "a", "tokens": "x"}], "queries": []}"#;
    let file = folder.write("bad.jsonl", format!("{good}{bad}\n"));
    assert_cannot_run(
        &["eval", &file],
        &format!("{file}:2: items[0].tokens: must be a whole number, got \"x\""),
    );
    let file = folder.write("cut.jsonl", &good[..good.len() / 2]);
    let cut = run(&["eval", &file]);
    assert_eq!((cut.code, cut.stdout.as_str()), (Some(2), ""));
    assert!(cut.stderr.starts_with(&format!("cupel: {file}:1:")), "{}", cut.stderr);
    let missing = folder.file("missing.jsonl");
    assert_cannot_run(
        &["eval", &missing],
        &format!("{missing}: cannot read: no such file or directory"),
    );
    let file = folder.write("theirs.jsonl", r#"{"pool": "talk/1", "query": "key", "budget": 9}"#);
    let theirs = run(&["eval", TALK, "--selections", &file]);
    assert_eq!(theirs.code, Some(2));
    assert!(
        theirs.stderr.starts_with(&format!("cupel: {file}:1: selected: ")),
        "{}",
        theirs.stderr
    );
}

#[test]
fn wrong_names_and_numbers_get_a_remedy() {
    for (arguments, remedy) in [
        (&["--policy", "chatt"] as &[&str], "did you mean `chat`?"),
        (&["--baseline", "newst"], "known are newest, random, oracle"),
        (&["--baseline", "newest", "--reference", "newst"], "did you mean `newest`?"),
        (&["--reference", "xyzzy"], "known are auto"),
        (&["--policy", "chat", "--policy", "chat"], "method `chat` is named twice"),
        (&["--budget", "250,0"], "whole number of tokens above 0"),
        (&["--budget", "lots"], "write it as 8000 or 8k"),
        (&["--threads", "0"], "0 is not in 1..=1024"),
        (&["--by", "pool"], "[possible values: set, category]"),
        (&["--write", TALK], "is one of the inputs"),
    ] {
        let run = run(&[&["eval", TALK], arguments].concat());
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{arguments:?}: {run:?}");
        assert!(run.stderr.contains(remedy), "{arguments:?}: {}", run.stderr);
    }
    assert_eq!(run(&["eval"]).code, Some(2));
}
