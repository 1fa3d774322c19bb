//! Estimates stay near the exact count, on texts of many kinds.

use std::fs;
use std::path::Path;

use cupel_tokens::{Encoding, EstimateCounter, OpenAiCounter, TokenCounter};

/// Name and text of every sample.
fn samples() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files
        .iter()
        .map(|file| {
            let name = file.file_stem().unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(file).unwrap())
        })
        .collect()
}

#[track_caller]
fn assert_within(names: impl Fn(&str) -> bool, low: f64, high: f64) {
    let exact = OpenAiCounter::new(Encoding::O200kBase);
    let mut seen = 0;
    for (name, text) in samples().iter().filter(|(name, _)| names(name)) {
        let ratio = EstimateCounter::new().count(text) as f64 / exact.count(text) as f64;
        assert!(ratio >= low && ratio <= high, "{name}: {ratio:.3} of the exact count");
        seen += 1;
    }
    assert!(seen >= 10, "{seen} samples");
}

#[test]
fn no_sample_is_estimated_a_tenth_under_or_a_sixth_over() {
    assert_within(|_| true, 0.90, 1.16);
}

#[test]
fn what_requests_mostly_consist_of_is_at_most_a_twentieth_under() {
    const MOSTLY: [&str; 14] = [
        "arabic",
        "base64",
        "chinese",
        "csv",
        "english",
        "html",
        "japanese",
        "json",
        "json_pretty",
        "log",
        "python",
        "russian",
        "rust",
        "whitespace",
    ];
    assert_within(|name| MOSTLY.contains(&name), 0.95, 1.16);
}

#[test]
fn empty_text_is_no_tokens_and_any_other_at_least_one() {
    let counter = EstimateCounter::new();
    assert_eq!(counter.count(""), 0);
    for text in ["a", " ", "\n", ".", "7", "的", "\0", "\u{10ffff}"] {
        assert!(counter.count(text) >= 1, "{text:?}");
    }
}

#[test]
fn scaling_is_in_percent_and_rounds_up() {
    let text = "The crane lifts a boat. ".repeat(100);
    let plain = EstimateCounter::new().count(&text);
    let scaled = EstimateCounter::scaled(150).count(&text);
    assert!((plain * 3 / 2 - 2..=plain * 3 / 2 + 2).contains(&scaled), "{plain} {scaled}");
    assert_eq!(EstimateCounter::scaled(0).count(&text), 0);
    assert!(EstimateCounter::new().is_estimate());
}
