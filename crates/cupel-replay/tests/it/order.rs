//! Rows are replayed in the order of their times, whatever the order of the log.

use serde_json::{Value, json};

use crate::support::{Folder, replay, settings};

/// Two conversations of six requests, each with its time.
fn rows() -> Vec<Value> {
    let mut rows = Vec::new();
    for step in 0..6 {
        for talk in 0..2 {
            let mut messages = vec![
                json!({"role": "user", "content": format!("Talk {talk}: find PX-{talk}{step} and tell me of it at length.")}),
            ];
            for before in 0..step {
                messages.push(json!({"role": "assistant", "content": format!("PX-{talk}{before} is in depot {before}.")}));
                messages.push(json!({"role": "user", "content": format!("And where is QX-{talk}{before}? I have to know before noon.")}));
            }
            rows.push(json!({
                "timestamp": format!("2026-11-18T10:{step:02}:{:02}Z", 10 * talk),
                "conversation_id": talk.to_string(),
                "request": {"messages": messages},
                "response": {"role": "assistant", "content": format!("PX-{talk}{step} is in depot {step}.")},
            }));
        }
    }
    rows
}

fn lines(rows: &[Value]) -> String {
    rows.iter().fold(String::new(), |text, row| text + &row.to_string() + "\n")
}

#[test]
fn reversed_rows_give_the_same_figures() {
    let folder = Folder::new();
    let mut all = rows();
    let path = folder.write("log.jsonl", lines(&all));
    let figures = |settings| {
        let summary = replay(std::slice::from_ref(&path), settings).summary;
        (summary.logged, summary.ways, summary.repeated_after_loss)
    };
    let forward = figures(settings(150));
    all.reverse();
    folder.write("log.jsonl", lines(&all));
    let backward = figures(settings(150));
    assert_eq!(forward.0, backward.0);
    for (one, other) in forward.1.iter().zip(&backward.1) {
        assert_eq!((one.coverage, one.sent), (other.coverage, other.sent));
    }
    assert_eq!(forward.2, backward.2);
}

#[test]
fn how_many_rows_were_late_is_told() {
    let folder = Folder::new();
    let mut all = rows();
    let path = folder.write("log.jsonl", lines(&all));
    let late = || {
        let mut reader =
            cupel_replay::LogReader::new(vec![path.clone()], &cupel_replay::Columns::default());
        let rows = reader.by_ref().map(|batch| batch.rows.len()).sum::<usize>();
        (rows, reader.counted_rows(), reader.reordered_rows())
    };
    assert_eq!(late(), (12, 12, 0));
    all.swap(2, 9);
    folder.write("log.jsonl", lines(&all));
    assert_eq!(late(), (12, 12, 7), "the six between, and the one that is early");
}

/// An hour later nothing is in the cache, so all of it costs the full price of writing.
#[test]
fn a_cache_is_cold_after_its_lifetime() {
    let long =
        "The parcel is described at great length, with every shelf and corridor. ".repeat(120);
    let row = |minute: u32, step: usize| {
        let mut messages = vec![json!({"role": "user", "content": long})];
        for _ in 0..step {
            messages.push(json!({"role": "assistant", "content": "Go on."}));
            messages.push(json!({"role": "user", "content": "And then?"}));
        }
        json!({"timestamp": format!("2026-11-18T{:02}:{:02}:00Z", 10 + minute / 60, minute % 60), "request": {"model": "gpt-4.1", "messages": messages}, "response": "Yes."})
    };
    let cost = |gap: u32| {
        let folder = Folder::new();
        let path = folder.write("log.jsonl", lines(&[row(0, 0), row(gap, 1)]));
        replay(&[path], settings(100_000)).summary.logged
    };
    let (warm, cold) = (cost(2), cost(60));
    assert_eq!((warm.tokens, warm.uncached_tokens), (cold.tokens, cold.uncached_tokens));
    assert_eq!(cold.full_price_tokens, cold.tokens);
    assert!(warm.full_price_tokens < cold.full_price_tokens * 3 / 4, "{warm:?} {cold:?}");
    assert!((cold.dollars - cold.dollars_without_cache).abs() < 1e-12);
    // Dollars are tokens at full price, times the price.
    assert!((warm.dollars - 2.0 * warm.full_price_tokens as f64 / 1e6).abs() < 1e-5);
}

/// Servers list the newest first, page by page.
#[test]
fn pages_of_an_answer_are_put_in_order_too() {
    let folder = Folder::new();
    let mut all = rows();
    all.reverse();
    for (number, page) in all.chunks(5).enumerate() {
        let page =
            serde_json::to_string_pretty(&json!({"data": page, "meta": {"page": number}})).unwrap();
        folder.write(&format!("page-{number}.json"), page);
    }
    let pages = replay(std::slice::from_ref(&folder.0), settings(150)).summary;
    let other = Folder::new();
    let path = other.write("log.jsonl", lines(&rows()));
    let plain = replay(&[path], settings(150)).summary;
    assert_eq!((pages.rows.requests, pages.logged), (12, plain.logged));
    assert_eq!(pages.ways[0].coverage, plain.ways[0].coverage);
}
