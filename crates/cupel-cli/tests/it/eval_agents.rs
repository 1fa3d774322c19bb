//! `cupel eval` on runs of agents.

use crate::support::{Folder, Run, assert_cannot_run, assert_snapshot, root, run, run_with};

const FERRY: &str = "examples/eval/runs/ferry.jsonl";
const CODER: &str = "examples/eval/runs/coder.jsonl";
const POOLS: &str = "examples/eval/agent.jsonl";

#[track_caller]
fn eval(arguments: &[&str]) -> Run {
    let run = run(&[&["eval"], arguments].concat());
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    run
}

#[test]
fn runs_of_agents_are_measured() {
    let policies = ["--policy", "auto", "--policy", "chat", "--baseline", "newest"];
    let budgets = ["--budget", "250,500"];
    assert_snapshot("eval-agents", &[&["eval", FERRY, CODER], &policies[..], &budgets].concat());
}

#[test]
fn figures_of_runs_are_there_as_json() {
    let arguments = ["eval", FERRY, "--policy=chat", "--baseline=newest", "--budget=250", "--json"];
    assert_snapshot("eval-agents-json", &arguments);
}

#[test]
fn windows_that_are_written_are_read_again_with_the_same_figures() {
    let folder = Folder::new();
    let file = folder.file("windows.jsonl");
    eval(&[CODER, "--budget", "150,600", "--write", &file]);
    let lines = std::fs::read_to_string(&file).unwrap();
    assert_eq!(lines.lines().count(), 24 * 2);
    let first: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["run"], &first["at"], &first["budget"]),
        (&"tide-table-rounding".into(), &2.into(), &150.into())
    );
    assert_eq!(first["messages"].as_array().unwrap().len(), 2);

    // The budgets are those of the file.
    let text = eval(&[CODER, "--selections", &file]).stdout;
    let verdicts: Vec<&str> = text.lines().filter(|line| line.contains(" 0.0 to 0.0 ")).collect();
    assert_eq!(verdicts.len(), 2, "{text}");
    assert!(verdicts.iter().all(|line| line.ends_with("equal")), "{text}");
}

#[test]
fn with_nothing_shortened_each_way_is_measured_once() {
    let told = eval(&[FERRY, "--session", "--shorten", "off", "--budget", "300"]).stdout;
    assert!(told.contains("\n  auto, shorten off "), "{told}");
    assert!(told.contains("\n  auto in a session, shorten off "), "{told}");
}

#[test]
fn every_window_is_what_select_makes_of_the_request() {
    let folder = Folder::new();
    let file = folder.file("windows.jsonl");
    let report = eval(&[FERRY, "--budget", "300", "--write", &file, "--json"]).stdout;
    assert!(report.starts_with("{\n  \"schema\": \"cupel/1\",\n"), "{report}");
    let data = std::fs::read_to_string(root().join(FERRY)).unwrap();
    let first: serde_json::Value = serde_json::from_str(data.lines().next().unwrap()).unwrap();
    let windows = std::fs::read_to_string(&file).unwrap();
    let window: serde_json::Value = serde_json::from_str(windows.lines().nth(12).unwrap()).unwrap();
    let at = usize::try_from(window["at"].as_u64().unwrap()).unwrap();
    let messages = &first["messages"].as_array().unwrap()[..at];
    let request = serde_json::json!({ "messages": messages }).to_string();
    // The head is the system message: its text and four tokens.
    let head = first["messages"][0]["content"].as_str().unwrap();
    let count = run_with(&["count", "--text", "--tokenizer", "cl100k_base", "--json"], head).stdout;
    let count: serde_json::Value = serde_json::from_str(&count).unwrap();
    let max = (count["total_tokens"].as_i64().unwrap() + 4 + 300).to_string();
    let selected = run_with(&["select", "--tokenizer", "cl100k_base", "--max", &max], &request);
    assert_eq!(selected.code, Some(0), "{}", selected.stderr);
    let selected: serde_json::Value = serde_json::from_str(&selected.stdout).unwrap();
    assert!(selected["messages"].as_array().unwrap().len() < at);
    assert_eq!(selected["messages"], window["messages"]);
}

#[test]
fn threads_and_pipes_change_nothing() {
    let arguments = ["--budget", "300", "--json", "--threads"];
    let one = eval(&[&[CODER], &arguments[..], &["1"]].concat()).stdout;
    assert_eq!(eval(&[&[CODER], &arguments[..], &["5"]].concat()).stdout, one);
    let data = std::fs::read_to_string(root().join(CODER)).unwrap();
    let piped = run_with(&[&["eval", "-"], &arguments[..], &["2"]].concat(), &data);
    assert_eq!(piped.stdout, one);
}

#[test]
fn another_tokenizer_counts_other_tokens() {
    let everything = |tokenizer: &str| {
        let run = eval(&[FERRY, "--budget", "300", "--tokenizer", tokenizer, "--json"]);
        let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        report["rows"][0]["everything_tokens"].as_i64().unwrap()
    };
    assert!(everything("estimate") != everything("cl100k_base"));
}

#[test]
fn what_trimming_costs_is_measured_beside_the_baselines() {
    let baselines = ["newest", "clear-tool-results", "everything"];
    let baselines = baselines.map(|name| ["--baseline", name]).concat();
    let arguments = [&["eval", FERRY], &baselines[..], &["--budget", "250,500"]];
    assert_snapshot("eval-agents-baselines", &arguments.concat());
}

#[test]
fn the_windows_of_a_session_are_written_where_there_is_one() {
    let folder = Folder::new();
    let (session, anew) = (folder.file("session.jsonl"), folder.file("anew.jsonl"));
    let report = |arguments: &[&str]| -> serde_json::Value {
        let run = eval(&[arguments, &["--budget", "500", "--json"]].concat());
        serde_json::from_str(&run.stdout).unwrap()
    };
    let measured = report(&[CODER, "--session", "--write", &session]);
    report(&[CODER, "--write", &anew]);
    let read = report(&[CODER, "--selections", &session, "--selections", &anew]);
    for figure in ["coverage", "uncached_tokens", "costs"] {
        // `auto` and `auto in a session`; `auto` and the two files.
        assert_eq!(measured["rows"][1][figure], read["rows"][1][figure], "{figure}");
        assert_eq!(measured["rows"][0][figure], read["rows"][2][figure], "{figure}");
    }
    let uncached = |row: usize| measured["rows"][row]["uncached_tokens"].as_i64().unwrap();
    assert!(uncached(1) < uncached(0));
}

#[test]
fn the_chart_of_runs_shows_coverage_over_costs() {
    let folder = Folder::new();
    let file = folder.file("coverage.svg");
    eval(&[FERRY, CODER, "--session", "--budget", "250,500", "--svg", &file]);
    let svg = std::fs::read_to_string(&file).unwrap();
    // A panel for each of two sets, with a line for each of two methods and a dot for each budget.
    assert_eq!(svg.matches("<polyline ").count(), 4);
    assert_eq!(svg.matches("<circle ").count(), 8);
    assert_eq!(svg.matches(">everything is sent<").count(), 2);
    assert!(svg.contains(">coverage ± standard error<"), "{svg}");
    assert!(svg.contains("read 0.1, write 1.25"), "{svg}");
}

#[test]
fn what_is_for_the_other_kind_of_data_is_refused() {
    assert_cannot_run(
        &["eval", FERRY, POOLS],
        "examples/eval/agent.jsonl: pools and runs of agents are measured in different ways; measure \
         each by itself",
    );
    for (arguments, remedy) in [
        (&[FERRY, "--baseline", "oracle"] as &[&str], "--baseline oracle: is for pools"),
        (&[FERRY, "--by", "category"], "--by category: is for pools"),
        (&[FERRY, "--by-tokens", "x"], "--by-tokens: is for pools"),
        (&[POOLS, "--baseline", "everything"], "--baseline everything: is for runs of agents"),
        (&[POOLS, "--session"], "--session: is for runs of agents"),
        (&[POOLS, "--tokenizer", "estimate"], "--tokenizer: the items of pools have their own"),
        (&[FERRY, "--tokenizer", "cl100k_bse"], "did you mean `cl100k_base`?"),
        (&[FERRY, "--write", FERRY], "is one of the inputs"),
    ] {
        let run = run(&[&["eval"], arguments].concat());
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{arguments:?}: {run:?}");
        assert!(run.stderr.contains(remedy), "{arguments:?}: {}", run.stderr);
    }
}

#[test]
fn a_broken_run_is_named_by_file_line_and_path() {
    let folder = Folder::new();
    let good = std::fs::read_to_string(root().join(FERRY)).unwrap();
    let bad =
        r#"{"run": "x", "set": "ferry", "messages": [{"role": "user"}], "steps": [{"at": "1"}]}"#;
    let file = folder.write("bad.jsonl", format!("{good}{bad}\n"));
    assert_cannot_run(
        &["eval", &file],
        &format!("{file}:3: steps[0].at: must be an index, a whole number from 0, got \"1\""),
    );
    let file = folder.write("twice.jsonl", format!("{good}{good}"));
    assert_cannot_run(
        &["eval", &file],
        &format!("{file}:3: run: `ferry-desk-01` is there twice; give each run its own name"),
    );
}

#[test]
fn the_row_of_a_policy_is_what_select_does() {
    let folder = Folder::new();
    let written = folder.file("windows.jsonl");
    let budget = "--budget=200";
    let evaluated = run(&["eval", FERRY, "--policy", "auto", budget, "--write", &written]);
    assert_eq!(evaluated.code, Some(0), "{evaluated:?}");
    let lines = |text: String| -> Vec<serde_json::Value> {
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let runs = lines(std::fs::read_to_string(root().join(FERRY)).unwrap());
    let windows = lines(std::fs::read_to_string(&written).unwrap());
    let count = |messages: &serde_json::Value| -> u64 {
        let flags = ["count", "--tokenizer=cl100k_base", "--format=openai-chat", "--json"];
        let counted = run_with(&flags, &messages.to_string());
        let counted: serde_json::Value = serde_json::from_str(&counted.stdout).unwrap();
        counted["total_tokens"].as_u64().unwrap()
    };
    // What is kept first does not fit as it is at some of these steps.
    for window in windows.iter().filter(|window| window["at"].as_u64() < Some(11)) {
        let run = runs.iter().find(|run| run["run"] == window["run"]).unwrap();
        let messages = run["messages"].as_array().unwrap();
        let at = window["at"].as_u64().unwrap() as usize;
        // The answer's beginning counts with the request, not with its head.
        let head = count(&serde_json::json!(messages[..1])) - 3;
        let max = format!("--max={}", head + 200);
        let flags = ["select", "--tokenizer=cl100k_base", "--format=openai-chat", "--quiet", &max];
        let request = serde_json::json!({ "messages": messages[..at] });
        let selected = run_with(&flags, &request.to_string());
        assert_eq!(selected.code, Some(0), "{selected:?}");
        let selected: serde_json::Value = serde_json::from_str(&selected.stdout).unwrap();
        assert_eq!(window["messages"], selected["messages"], "{} at {at}", window["run"]);
    }
}
