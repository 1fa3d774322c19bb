//! Items that the built-in baselines take.

use cupel_eval::{Baseline, Case, DataSet, Selector};
use serde_json::json;

use crate::{data, item, pool};

fn selected(baseline: Baseline, case: Case<'_>, budget: i64) -> Vec<usize> {
    baseline.select(case, &[budget]).unwrap().remove(0).unwrap()
}

fn five_items() -> DataSet {
    data(&[pool(&json!([
        {"id": "a", "query": "?", "evidence": [5, 2, 3]},
        {"id": "b", "query": "?", "evidence": [1], "before": 4},
    ]))])
}

#[test]
fn newest_stops_at_the_first_that_does_not_fit() {
    let data = five_items();
    let case = data.cases().next().unwrap();
    assert_eq!(selected(Baseline::Newest, case, 100), [5, 4]);
    assert!(selected(Baseline::Newest, case, 49).is_empty());
    assert_eq!(selected(Baseline::Newest, data.cases().nth(1).unwrap(), 50), [3, 2]);
}

#[test]
fn newest_goes_by_time_and_takes_what_has_none_last() {
    let dated = |text: &str, time: &str| json!({"content": text, "tokens": 1, "timestamp": time});
    let items = json!([
        dated("late", "2025-01-03T00:00:00Z"),
        item("undated", 1),
        dated("early", "2025-01-01T00:00:00+00:00"),
        dated("as late", "2025-01-03T01:00:00+01:00"),
    ]);
    let queries = json!([{"id": "q", "query": "?", "evidence": [0]}]);
    let data = data(&[json!({"pool": "p", "items": items, "queries": queries})]);
    assert_eq!(selected(Baseline::Newest, data.cases().next().unwrap(), 4), [3, 0, 2, 1]);
}

#[test]
fn oracle_takes_the_evidence_smallest_first() {
    let data = five_items();
    let case = data.cases().next().unwrap();
    assert_eq!(selected(Baseline::Oracle, case, 60), [2, 3]);
    assert_eq!(selected(Baseline::Oracle, case, 1_000), [2, 3, 5]);
}

#[test]
fn random_fills_the_budget_and_depends_on_seed_and_query() {
    let items: Vec<_> = (0..50).map(|n| item(&format!("text {n}"), 1)).collect();
    let query = |id: &str| json!({"id": id, "query": "?", "evidence": [0]});
    let data = data(&[json!({"pool": "p", "items": items, "queries": [query("a"), query("b")]})]);
    let draw =
        |seed, case| selected(Baseline::Random { seed }, data.cases().nth(case).unwrap(), 10);
    assert_eq!(draw(1, 0).len(), 10);
    assert_eq!(draw(1, 0), draw(1, 0));
    assert_ne!(draw(1, 0), draw(2, 0));
    assert_ne!(draw(1, 0), draw(1, 1));
}
