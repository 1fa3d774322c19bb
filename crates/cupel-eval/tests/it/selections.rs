//! Selections as files.

use cupel_eval::{
    Baseline, Budgets, DataSet, Evaluator, Method, ReadOptions, RecordedSelections, summarize,
    write_selections,
};
use serde_json::json;

use crate::{data, example, pool};

fn small() -> DataSet {
    data(&[pool(&json!([
        {"id": "a", "query": "?", "evidence": [1]},
        {"id": "b", "query": "?", "evidence": [2]},
    ]))])
}

fn error(text: &str) -> String {
    RecordedSelections::read("s.jsonl", text.as_bytes(), &small()).unwrap_err().to_string()
}

#[test]
fn what_is_written_reads_back_to_the_same_figures() {
    let data = DataSet::read_files(&[example("agent.jsonl")], &ReadOptions::default()).unwrap();
    let evaluator = Evaluator::new(Budgets::new([250, 500]).unwrap());
    let written = |methods: &[Method<'_>]| {
        let evaluation = evaluator.run(&data, methods).unwrap();
        let mut bytes = Vec::new();
        write_selections(&evaluation, 0, &mut bytes).unwrap();
        (bytes, summarize(&evaluation))
    };
    let (bytes, ours) = written(&[Method::new("m", Baseline::Random { seed: 3 })]);
    let recorded = RecordedSelections::read("s.jsonl", &bytes[..], &data).unwrap();
    assert_eq!(recorded.budgets(), [250, 500]);
    let (again, read_back) = written(&[Method::new("m", recorded)]);
    assert_eq!(ours, read_back);
    assert_eq!(bytes, again);
}

#[test]
fn a_line_has_pool_query_budget_and_indices() {
    let data = small();
    let evaluation = Evaluator::new(Budgets::new([60]).unwrap())
        .run(&data, &[Method::new("newest", Baseline::Newest)])
        .unwrap();
    let mut bytes = Vec::new();
    write_selections(&evaluation, 0, &mut bytes).unwrap();
    assert_eq!(
        String::from_utf8(bytes).unwrap(),
        "{\"pool\":\"set/one\",\"query\":\"a\",\"budget\":60,\"selected\":[5]}\n\
         {\"pool\":\"set/one\",\"query\":\"b\",\"budget\":60,\"selected\":[5]}\n"
    );
}

#[test]
fn what_is_missing_over_budget_or_no_candidate_is_counted() {
    let data = small();
    let text = r#"{"pool": "set/one", "query": "a", "budget": 10, "selected": [2]}
{"pool": "other/pool", "query": "a", "budget": 10, "selected": [2]}
{"pool": "set/one", "query": "a", "budget": 20, "selected": [77]}
"#;
    let recorded = RecordedSelections::read("s.jsonl", text.as_bytes(), &data).unwrap();
    assert_eq!(recorded.skipped(), 1);
    let budgets = Budgets::new(recorded.budgets()).unwrap();
    let methods = [Method::new("file", recorded)];
    let evaluation = Evaluator::new(budgets).run(&data, &methods).unwrap();
    let summary = summarize(&evaluation);
    let faults = summary.rows.iter().map(|row| row.faults);
    let faults: Vec<_> =
        faults.map(|faults| [faults.missing, faults.not_a_candidate, faults.over_budget]).collect();
    assert_eq!(faults, [[1, 0, 1], [1, 1, 0]]);
}

#[test]
fn lines_that_break_a_rule_are_refused() {
    let row = r#"{"pool": "set/one", "query": "a", "budget": 10, "selected": [2]}"#;
    assert_eq!(
        error(&format!("{row}\n{row}\n")),
        "s.jsonl:2: second selection for query `a` of pool `set/one` at budget 10; keep one"
    );
    assert_eq!(
        error(&row.replace("\"a\"", "\"z\"")),
        "s.jsonl:1: query: pool `set/one` has no query `z`"
    );
    assert_eq!(
        error(&row.replace("10", "0")),
        "s.jsonl:1: budget: must be a whole number above 0, got 0"
    );
    assert_eq!(
        error(&row.replace("[2]", "[2, -1]")),
        "s.jsonl:1: selected[1]: must be an index, a whole number from 0, got -1"
    );
    assert_eq!(error(&row.replace("budget", "max")), "s.jsonl:1: budget: is required");
    let none =
        "s.jsonl: has no selection for a pool of the data; each line needs the name of a pool";
    assert_eq!(error(""), none);
    assert_eq!(error(&row.replace("set/one", "set/two")), none);
}
