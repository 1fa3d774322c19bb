//! Policies over whole data sets.

use std::num::NonZeroUsize;
use std::sync::Mutex;

use cupel::{
    ChronologicalPlacer, ContextItem, GreedySlice, KnapsackSlice, Pipeline, RecencyScorer, Scorer,
};
use cupel_eval::{
    Baseline, Budgets, DataSet, Evaluator, Method, PolicySelector, ReadOptions, compare, summarize,
    write_selections,
};
use serde_json::json;

use crate::{data, example, item, pool};

fn recency() -> Pipeline {
    Pipeline::builder()
        .scorer(RecencyScorer)
        .slicer(GreedySlice)
        .placer(ChronologicalPlacer)
        .build()
        .unwrap()
}

/// Number of words of the query an item has.
struct SharedWords(Vec<String>);

impl Scorer for SharedWords {
    fn score(&self, item: &ContextItem, _: &[ContextItem]) -> f64 {
        let text = item.content().to_lowercase();
        self.0.iter().filter(|word| text.contains(word.as_str())).count() as f64
    }
}

fn shared_words<'p>() -> PolicySelector<'p> {
    PolicySelector::new(|query, _| {
        let words = query.to_lowercase().split_whitespace().map(str::to_owned).collect();
        Ok(Pipeline::builder()
            .scorer(SharedWords(words))
            .slicer(KnapsackSlice::new(1)?)
            .placer(ChronologicalPlacer)
            .build()?)
    })
}

fn budgets(tokens: &[i64]) -> Budgets {
    Budgets::new(tokens.iter().copied()).unwrap()
}

fn all_examples() -> DataSet {
    let files =
        ["friends", "meeting", "agent", "code"].map(|name| example(&format!("{name}.jsonl")));
    DataSet::read_files(&files, &ReadOptions::default()).unwrap()
}

#[test]
fn the_same_bytes_come_out_on_1_2_and_5_threads() {
    let data = all_examples();
    let methods = [
        Method::new("newest", Baseline::Newest),
        Method::new("random", Baseline::Random { seed: 1 }),
        Method::new("words", shared_words()),
    ];
    let bytes = |threads: usize| {
        let threads = NonZeroUsize::new(threads).unwrap();
        let evaluator = Evaluator::new(budgets(&[250, 500])).threads(threads);
        let evaluation = evaluator.run(&data, &methods).unwrap();
        let differences = compare(&evaluation, 0, threads);
        let mut out = serde_json::to_vec(&(summarize(&evaluation), differences)).unwrap();
        write_selections(&evaluation, 2, &mut out).unwrap();
        out
    };
    let one = bytes(1);
    assert!(one == bytes(2));
    assert!(one == bytes(5));
}

#[test]
fn a_policy_sees_the_query_and_keeps_within_every_budget() {
    let data = all_examples();
    let methods = [
        Method::new("words", shared_words()),
        Method::new("recency", PolicySelector::from(recency())),
    ];
    let evaluation = Evaluator::new(budgets(&[100, 250, 500])).run(&data, &methods).unwrap();
    let summary = summarize(&evaluation);
    assert!(summary.rows.iter().all(|row| row.faults.total() == 0));
    let recall = |method: &str| -> Vec<f64> {
        let rows = summary.rows.iter();
        rows.filter(|row| row.method == method && row.set == "friends" && row.category.is_none())
            .map(|row| row.recall.mean)
            .collect()
    };
    assert!(recall("words").iter().zip(recall("recency")).all(|(words, recency)| *words > recency));
}

#[test]
fn a_policy_may_know_the_pool_and_the_query_by_name() {
    let data = data(&[pool(&json!([{"id": "q7", "query": "which?", "evidence": [1]}]))]);
    let seen = Mutex::new(Vec::new());
    let selector = PolicySelector::for_cases(|case| {
        seen.lock().unwrap().push((case.pool.name().to_owned(), case.query.id().to_owned()));
        Ok(recency())
    });
    Evaluator::new(budgets(&[50])).run(&data, &[Method::new("p", selector)]).unwrap();
    assert_eq!(seen.into_inner().unwrap(), [("set/one".to_owned(), "q7".to_owned())]);
}

#[test]
fn only_candidates_are_handed_to_a_policy() {
    let data =
        data(&[pool(&json!([{"id": "q", "query": "which?", "evidence": [1], "before": 4}]))]);
    let seen = Mutex::new(Vec::new());
    let selector = PolicySelector::new(|query, candidates: &[ContextItem]| {
        let texts: Vec<_> = candidates.iter().map(|item| item.content().to_owned()).collect();
        seen.lock().unwrap().push((query.to_owned(), texts));
        Ok(recency())
    });
    let methods = [Method::new("spy", selector)];
    Evaluator::new(budgets(&[10, 20])).run(&data, &methods).unwrap();
    let texts = ["text 1", "text 2", "text 3"].map(str::to_owned).to_vec();
    assert_eq!(*seen.lock().unwrap(), [("which?".to_owned(), texts)]);
}

#[test]
fn equal_texts_are_two_items_unless_the_policy_drops_one() {
    let items = json!([item("same", 5), item("other", 5), item("same", 5)]);
    let queries = json!([{"id": "q", "query": "?", "evidence": [0, 2]}]);
    let data = data(&[json!({"pool": "p", "items": items, "queries": queries})]);
    let with = |deduplication| {
        let pipeline = Pipeline::builder()
            .scorer(RecencyScorer)
            .slicer(GreedySlice)
            .placer(ChronologicalPlacer)
            .deduplication(deduplication)
            .build()
            .unwrap();
        let methods = [Method::new("m", PolicySelector::from(pipeline))];
        let evaluation = Evaluator::new(budgets(&[100])).run(&data, &methods).unwrap();
        evaluation.answers(0, 0)[0].selected.clone().unwrap()
    };
    assert_eq!(with(false), [0, 1, 2]);
    assert_eq!(with(true), [0, 1]);
}

#[test]
fn the_first_query_that_fails_is_named_on_any_number_of_threads() {
    let data = all_examples();
    for threads in [1, 2, 5] {
        let failing = PolicySelector::new(|query, _| {
            if query.contains("vet") { Err("no such scorer".into()) } else { Ok(recency()) }
        });
        let methods = [Method::new("newest", Baseline::Newest), Method::new("broken", failing)];
        let evaluator =
            Evaluator::new(budgets(&[100])).threads(NonZeroUsize::new(threads).unwrap());
        assert_eq!(
            evaluator.run(&data, &methods).unwrap_err().to_string(),
            "broken: pool `friends/lena-and-tom`, query `q03`: no such scorer"
        );
    }
}

#[test]
fn progress_counts_every_query_of_every_method_once() {
    let data = all_examples();
    let methods = [Baseline::Newest, Baseline::Oracle].map(|b| Method::new(b.name(), b));
    let counted = Mutex::new(Vec::new());
    Evaluator::new(budgets(&[100]))
        .run_with_progress(&data, &methods, |done| counted.lock().unwrap().push(done))
        .unwrap();
    let mut counted = counted.into_inner().unwrap();
    counted.sort_unstable();
    assert_eq!(counted, (1..=2 * data.query_count()).collect::<Vec<_>>());
}
