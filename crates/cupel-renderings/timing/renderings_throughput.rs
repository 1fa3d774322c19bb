//! Measures the time to shorten much JSON, beside reading it with `serde_json`.
//!
//! ```sh
//! cargo run --release -p cupel-renderings --example renderings_throughput -- 100
//! ```

use std::fmt::Write;
use std::time::{Duration, Instant};

use cupel::{Original, Renderer};
use cupel_renderings::{JsonLeaves, MinifiedJson, Shorten, Shortened};

fn main() {
    let megabytes = std::env::args().nth(1).and_then(|size| size.parse().ok()).unwrap_or(100);
    println!("{:<10}{:<12}{:>8}{:>24}", "JSON", "form", "MB/s", "time by serde_json's");
    for (name, text) in [("records", records(megabytes)), ("numbers", numbers(megabytes))] {
        let original = Original::new(&text, i64::MAX);
        let (parsed, _) = time(|| serde_json::from_str::<serde_json::Value>(&text).is_ok());
        let shortened = Shortened::new(Shorten::All);
        let renderers: [(&str, &dyn Renderer); 3] =
            [("minified", &MinifiedJson), ("leaves", &JsonLeaves), ("all", &shortened)];
        for (form, renderer) in renderers {
            let (taken, drafts) = time(|| renderer.render(&original));
            let speed = text.len() as f64 / 1e6 / taken.as_secs_f64();
            let ratio = taken.as_secs_f64() / parsed.as_secs_f64();
            println!("{name:<10}{form:<12}{speed:>8.0}{ratio:>24.2}");
            assert!(!drafts.is_empty());
        }
    }
}

fn time<T>(run: impl FnOnce() -> T) -> (Duration, T) {
    let begun = Instant::now();
    let result = run();
    (begun.elapsed(), result)
}

/// A list of flights, so many megabytes long.
fn records(megabytes: usize) -> String {
    let mut text = String::from("[");
    for number in 0_u32.. {
        write!(
            text,
            r#"{{"flight_number": "HAT{number:06}", "origin": "JFK", "destination": "SEA", "departure": "06:{:02}:00", "status": "available", "seats": {{"economy": {}, "business": {}}}, "date": "2024-05-{:02}"}}"#,
            number % 60,
            number % 200,
            number % 10,
            number % 28 + 1
        )
        .expect("writing into a string does not fail");
        if text.len() >= megabytes * 1_000_000 {
            break;
        }
        text.push_str(", ");
    }
    text.push(']');
    text
}

/// A list of small numbers: as many values as can be.
fn numbers(megabytes: usize) -> String {
    let count = megabytes * 1_000_000 / 3;
    let digits: Vec<&str> = (0..count).map(|number| ["1", "2", "3"][number % 3]).collect();
    format!("[{}]", digits.join(", "))
}
