//! Every `--json` is of the form that `cupel schema` prints, and the forms are kept as snapshots.

use serde_json::Value;

use crate::support::{assert_snapshot, run};

const SMALL: &str = "crates/cupel-cli/tests/data/chat.json";
const POOLS: &str = "examples/eval/friends.jsonl";
const RUNS: &str = "examples/eval/runs/ferry.jsonl";

#[test]
fn every_answer_as_json_is_of_its_schema() {
    let budget = ["--max=100", "--tokenizer=estimate"];
    let cases: [(&str, &[&str]); 15] = [
        ("Explanation", &["explain", SMALL, "--json"]),
        ("SelectionReport", &["explain", SMALL, "--json=report"]),
        ("Marginal", &["simulate", "marginal", SMALL, "--slack=20", "--json"]),
        ("MinBudget", &["simulate", "min-budget", SMALL, "--item=1", "--json"]),
        ("Curve", &["simulate", "curve", SMALL, "--json"]),
        ("Comparison", &["compare", SMALL, "--policy=chat", "--policy=auto", "--json"]),
        ("Count", &["count", SMALL, "--json"]),
        ("Count", &["count", "--text", "README.md", "--json"]),
        ("ToolList", &["tools", "examples/coding-agent.json", "--json"]),
        ("Validation", &["validate", SMALL, "--json"]),
        ("PolicyList", &["policy", "list", "--json"]),
        ("ModelList", &["models", "--json"]),
        ("Config", &["config", "--json"]),
        ("PoolReport", &["eval", POOLS, "--budget=250", "--baseline=newest", "--json"]),
        ("AgentReport", &["eval", RUNS, "--budget=250", "--baseline=newest", "--json"]),
    ];
    for (name, arguments) in cases {
        let takes_budget = ["explain", "marginal", "compare"];
        let is_simulated = arguments.get(1) == Some(&"marginal");
        let with_budget = takes_budget.contains(&arguments[0]) || is_simulated;
        let flags: &[&str] = if with_budget { &budget } else { &[] };
        let printed = run(&[arguments, flags].concat());
        let answer: Value = serde_json::from_str(&printed.stdout)
            .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {printed:?}"));
        assert_valid(name, &answer);
    }
}

#[cfg(feature = "replay")]
#[test]
fn a_replay_as_json_is_of_its_schema() {
    let log = "examples/logs/langfuse.json";
    let models = ["replay", log, "--json"];
    let windows =
        ["replay", log, "--max=300,400", "--policy=auto", "--policy=chat", "--session", "--json"];
    for arguments in [&models[..], &windows] {
        let answer: Value = serde_json::from_str(&run(arguments).stdout).unwrap();
        assert_valid("ReplayReport", &answer);
    }
}

/// Compares an answer with the schema of this name.
#[track_caller]
pub(crate) fn assert_valid(name: &str, answer: &Value) {
    let schema: Value = serde_json::from_str(&run(&["schema", name]).stdout).unwrap();
    let (mut compiler, mut schemas) = (boon::Compiler::new(), boon::Schemas::new());
    compiler.add_resource("answer.json", schema).unwrap();
    let compiled = compiler.compile("answer.json", &mut schemas).unwrap();
    if let Err(error) = schemas.validate(answer, compiled) {
        panic!("{name}: {error:#}");
    }
    assert!(schemas.validate(&serde_json::json!({}), compiled).is_err(), "{name}");
}

#[test]
fn schemas_are_listed_and_kept() {
    #[cfg(feature = "replay")]
    for (snapshot, arguments) in
        [("schema", &["schema"][..]), ("schema-ReplayReport", &["schema", "ReplayReport"])]
    {
        assert_snapshot(snapshot, arguments);
    }
    for name in ["PoolReport", "AgentReport", "Config"] {
        assert_snapshot(&format!("schema-{name}"), &["schema", name]);
    }
    let run = run(&["schema", "Selecton"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("unknown schema `Selecton`; did you mean `Selection`?"));
}
