//! Summaries and differences, worked out by hand.

use cupel_eval::{
    Budgets, Case, DataSet, Difference, Evaluation, Evaluator, Figure, Mean, Method,
    RecordedSelections, available_threads, compare, summarize,
};
use serde_json::{Value, json};

use crate::{data, lines, pool};

/// Four queries, each of which needs one item.
fn four() -> DataSet {
    let query = |id: &str, evidence: usize, category: Value| json!({"id": id, "query": "?", "evidence": [evidence], "category": category});
    data(&[pool(&json!([
        query("a", 1, "x".into()),
        query("b", 2, "y".into()),
        query("c", 3, "x".into()),
        query("d", 4, Value::Null),
    ]))])
}

/// A method that answers these queries rightly, and the others not.
fn knows<'d>(data: &'d DataSet, name: &str, right: &[&str]) -> Method<'d> {
    let row = |case: Case<'_>| {
        let (pool, query) = (case.pool.name(), case.query.id());
        let selected = if right.contains(&query) { case.query.evidence() } else { &[] };
        json!({"pool": pool, "query": query, "budget": 50, "selected": selected})
    };
    let rows = lines(&data.cases().map(row).collect::<Vec<_>>());
    Method::new(name, RecordedSelections::read("s", rows.as_bytes(), data).unwrap())
}

fn evaluate<'d>(data: &'d DataSet, methods: &[Method<'d>]) -> Evaluation<'d> {
    Evaluator::new(Budgets::new([50]).unwrap()).run(data, methods).unwrap()
}

fn recall(differences: &[Difference], category: Option<&str>) -> Difference {
    let is_meant =
        |d: &&Difference| d.figure == Figure::Recall && d.category.as_deref() == category;
    differences.iter().find(is_meant).unwrap().clone()
}

#[test]
fn means_have_the_standard_error_of_the_mean() {
    // Values 1, 1, 0, 0: variance 0.25, error √(0.25 / 4).
    let data = four();
    let summary = summarize(&evaluate(&data, &[knows(&data, "m", &["a", "c"])]));
    let recall = summary.rows[0].recall;
    assert_eq!((recall.mean, recall.error), (0.5, 0.25));
    assert_eq!(summary.rows[0].queries, 4);
    assert_eq!(Mean::of(&[]), None);
}

#[test]
fn rows_are_sets_then_their_categories_by_name() {
    let data = four();
    let summary = summarize(&evaluate(&data, &[knows(&data, "m", &["a", "c"])]));
    let rows = summary.rows.iter();
    let rows: Vec<_> =
        rows.map(|row| (row.category.as_deref(), row.queries, row.recall.mean)).collect();
    assert_eq!(rows, [(None, 4, 0.5), (Some("x"), 2, 1.0), (Some("y"), 1, 0.0)]);
}

#[test]
fn differences_count_wins_losses_and_ties() {
    let data = four();
    let methods = [knows(&data, "old", &["a"]), knows(&data, "new", &["b", "c", "d"])];
    let differences = compare(&evaluate(&data, &methods), 0, available_threads());
    let all = recall(&differences, None);
    assert_eq!((all.method.as_str(), all.reference.as_str()), ("new", "old"));
    assert_eq!((all.wins, all.losses, all.ties), (3, 1, 0));
    assert_eq!(all.mean, 0.5);
    assert!(all.low < 0.5 && 0.5 < all.high && !all.is_clear());
    let x = recall(&differences, Some("x"));
    assert_eq!((x.wins, x.losses, x.ties), (1, 1, 0));
}

#[test]
fn a_difference_at_every_query_is_clear_and_none_is_not() {
    let ids = ["a", "b", "c", "d", "e", "f"];
    let query = |id: &&str| json!({"id": id, "query": "?", "evidence": [1]});
    let data = data(&[pool(&ids.iter().map(query).collect())]);
    let methods =
        [knows(&data, "none", &[]), knows(&data, "all", &ids), knows(&data, "also none", &[])];
    let differences = compare(&evaluate(&data, &methods), 0, available_threads());
    let better = recall(&differences, None);
    assert_eq!((better.low, better.mean, better.high), (1.0, 1.0, 1.0));
    assert!(better.is_clear());
    let same = differences.iter().find(|d| d.method == "also none").unwrap();
    assert_eq!((same.low, same.high, same.ties, same.is_clear()), (0.0, 0.0, 6, false));
}

#[test]
fn figures_that_no_query_has_are_left_out() {
    let data = four();
    let methods = [knows(&data, "a", &[]), knows(&data, "b", &["a"])];
    let differences = compare(&evaluate(&data, &methods), 0, available_threads());
    assert!(differences.iter().all(|d| d.figure != Figure::Coverage));
    assert!(compare(&evaluate(&data, &methods), 7, available_threads()).is_empty());
}
