//! The data that ships with the repository.

use std::fs;

use cupel_eval::{Baseline, Budgets, DataKind, DataSet, Evaluator, Method, ReadOptions, summarize};
use serde_json::Value;

use crate::{example, read};

const NAMES: [&str; 4] = ["friends", "meeting", "agent", "code"];

fn load(name: &str) -> DataSet {
    DataSet::read_files(&[example(&format!("{name}.jsonl"))], &ReadOptions::default()).unwrap()
}

fn readme() -> String {
    fs::read_to_string(example("README.md")).unwrap()
}

#[test]
fn the_readme_tells_the_size_of_each_file() {
    let readme = readme();
    for name in NAMES {
        let row = readme.lines().find(|line| line.contains(&format!("`{name}.jsonl`"))).unwrap();
        let data = load(name);
        let size =
            format!("| {} | {} | {} |", data.pools().len(), data.item_count(), data.query_count());
        assert!(row.contains(&size), "{name}: {size}");
    }
}

#[test]
fn the_line_of_the_readme_can_be_read() {
    let readme = readme();
    let blocks: Vec<&str> = readme.split("```json\n").skip(1).collect();
    let line = blocks[0].split("```").next().unwrap().replace('\n', " ");
    let data = read(&line).unwrap();
    assert_eq!((data.item_count(), data.query_count()), (4, 2));
    let row: Value = serde_json::from_str(blocks[1].split("```").next().unwrap()).unwrap();
    assert_eq!(row["pool"], data.pools()[0].name());
}

#[test]
fn everything_that_the_format_offers_is_there() {
    let has = |name: &str, text: &str| {
        fs::read_to_string(example(&format!("{name}.jsonl"))).unwrap().contains(text)
    };
    assert!(has("meeting", r#""weigh": "tokens""#));
    assert!(has("agent", r#""before":"#) && has("agent", r#""any_of":"#));
    assert!(has("agent", r#""pinned": true"#) && has("agent", r#""call:"#));
    assert!(has("code", r#""symbol:"#) && !has("code", r#""timestamp":"#));
}

#[test]
fn newest_and_random_leave_something_to_gain() {
    let baselines = Baseline::ALL.into_iter().filter(|known| known.is_for(DataKind::Pools));
    let methods: Vec<Method<'_>> =
        baselines.map(|baseline| Method::new(baseline.name(), baseline)).collect();
    for name in NAMES {
        let data = load(name);
        let evaluator = Evaluator::new(Budgets::new([250]).unwrap());
        let summary = summarize(&evaluator.run(&data, &methods).unwrap());
        let recall: Vec<f64> = summary.rows.iter().take(3).map(|row| row.recall.mean).collect();
        assert!(recall[0] < 0.75 && recall[1] < 0.5, "{name}: {recall:?}");
        assert!(recall[2] > 0.95, "{name}: {recall:?}");
    }
}
