//! Colour, width, and pipes that are closed.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::support::{cupel, run};

const SMALL: &str = "crates/cupel-cli/tests/data/chat.json";
/// Loads no vocabulary, which takes its time without optimization.
const ESTIMATE: &str = "--tokenizer=estimate";
const EXPLAIN: [&str; 4] = ["explain", SMALL, "--max=100", ESTIMATE];

#[test]
fn a_pipe_gets_no_colour_unless_it_is_asked_for() {
    assert!(!run(&EXPLAIN).stdout.contains('\u{1b}'));
    let always = run(&[&EXPLAIN[..], &["--color", "always"]].concat());
    assert!(always.stdout.contains("\u{1b}[1mkept, in order\u{1b}[0m"), "{}", always.stdout);
    assert!(always.stdout.contains('█'));
}

#[test]
fn no_color_is_honoured_and_an_explicit_wish_wins() {
    let with = |arguments: &[&str], value: &str| {
        let output = cupel(arguments).env("NO_COLOR", value).output().unwrap();
        String::from_utf8(output.stdout).unwrap().contains('\u{1b}')
    };
    assert!(!with(&EXPLAIN, "1"));
    assert!(with(&[&EXPLAIN[..], &["--color", "always"]].concat(), "1"));
}

#[test]
fn lines_fit_the_width_of_the_screen() {
    for columns in ["80", "100", "140"] {
        for arguments in
            [&EXPLAIN[..], &["count", SMALL, ESTIMATE], &["simulate", "curve", SMALL, ESTIMATE]]
        {
            let output = cupel(arguments).env("COLUMNS", columns).output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let widest = text.lines().skip(1).map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= columns.parse().unwrap(), "{arguments:?} at {columns}:\n{text}");
        }
    }
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    for arguments in [
        &["policy", "schema"] as &[&str],
        &["explain", "examples/coding-agent.json", "--max=8000", ESTIMATE, "--json"],
        &["select", "examples/coding-agent.json", "--max=8000", ESTIMATE, "--quiet"],
    ] {
        let mut command = cupel(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut reader = BufReader::with_capacity(16, child.stdout.take().unwrap());
        reader.read_line(&mut String::new()).unwrap();
        drop(reader);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{arguments:?}");
    }
}

#[test]
fn nothing_but_words_about_the_result_goes_to_stderr_of_a_pipe() {
    let run = run(&["conformance", "conformance/required/placing"]);
    assert_eq!(run.stderr, "");
}
