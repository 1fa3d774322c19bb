//! The crate from outside: data in, figures out.

mod agents;
mod baselines;
mod comparisons;
mod data;
mod examples;
mod measures;
mod runs;
mod selections;

use cupel_eval::{DataSet, ReadOptions};
use serde_json::{Value, json};

/// The data of some pools, one a line.
#[track_caller]
fn data(pools: &[Value]) -> DataSet {
    read(&lines(pools)).unwrap()
}

fn read(text: &str) -> Result<DataSet, String> {
    DataSet::read("t.jsonl", text.as_bytes(), &ReadOptions::default())
        .map_err(|error| error.to_string())
}

fn lines(pools: &[Value]) -> String {
    pools.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
}

/// An item of so many tokens; its text is its own.
fn item(text: &str, tokens: i64) -> Value {
    json!({"content": text, "tokens": tokens})
}

/// A pool of five items of 10, 20, 30, 40 and 50 tokens, and a pinned one before them.
fn pool(queries: &Value) -> Value {
    let mut items = vec![json!({"content": "rules", "tokens": 1000, "pinned": true})];
    items.extend((1..=5).map(|n| item(&format!("text {n}"), n * 10)));
    json!({"pool": "set/one", "items": items, "queries": queries})
}

/// The file of the same name in `examples`.
fn example(name: &str) -> String {
    format!("{}/examples/{name}", env!("CARGO_MANIFEST_DIR"))
}
