//! The README of the suite says what the code does.

use std::fs;
use std::path::PathBuf;

use cupel_conformance::protocol::{Report, Scorer, Slicer};
use cupel_conformance::{OracleImplementation, serve};

fn readme() -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("conformance/README.md");
    fs::read_to_string(path).unwrap()
}

/// The contents of the fenced blocks in this language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    let parts = text.split(&fence).skip(1);
    parts.map(|part| part.split("```").next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn strategies_and_the_report_are_valid() {
    let json = blocks(&readme(), "json");
    let [strategies, report] = json.as_slice() else { panic!("{} blocks", json.len()) };
    for line in strategies.lines() {
        let is_scorer = serde_json::from_str::<Scorer>(line).is_ok();
        assert!(is_scorer || serde_json::from_str::<Slicer>(line).is_ok(), "{line}");
    }
    let parsed: Report = serde_json::from_str(report).unwrap();
    assert_eq!(
        serde_json::to_value(parsed).unwrap(),
        serde_json::from_str::<serde_json::Value>(report).unwrap()
    );
}

#[test]
fn the_exchange_happens_as_shown() {
    let readme = readme();
    let lines = |arrow: &str| -> Vec<serde_json::Value> {
        let lines = readme.lines().filter_map(|line| line.strip_prefix(arrow));
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let (requests, answers) = (lines("→ "), lines("← "));
    assert!(requests.len() == answers.len() && !requests.is_empty());
    for (request, mut expected) in requests.into_iter().zip(answers) {
        let mut output = Vec::new();
        serve(&mut OracleImplementation, request.to_string().as_bytes(), &mut output).unwrap();
        let mut answer: serde_json::Value = serde_json::from_slice(&output).unwrap();
        // Texts of errors are everybody's own.
        for value in [&mut answer, &mut expected] {
            value.as_object_mut().unwrap().entry("error").and_modify(|error| {
                error.as_object_mut().unwrap().remove("message");
            });
        }
        assert_eq!(answer, expected);
    }
}

#[test]
fn every_option_of_the_runner_is_listed() {
    let readme = readme();
    for option in [
        "--oracle",
        "--library",
        "--program",
        "--timeout",
        "--strict",
        "--filter",
        "--skip",
        "--skip-list",
        "--serve",
    ] {
        assert!(readme.contains(&format!("| `{option}")), "{option}");
    }
}
