//! The binary's last line and exit codes.

use std::process::{Command, Output};

fn runner(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cupel-conformance"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(arguments)
        .output()
        .unwrap()
}

/// Exit code and last line.
fn outcome(arguments: &[&str]) -> (i32, String) {
    let output = runner(arguments);
    let text = String::from_utf8(output.stdout).unwrap();
    (output.status.code().unwrap(), text.lines().last().unwrap_or_default().to_owned())
}

#[test]
fn success_is_zero_and_the_last_line_counts() {
    let (code, line) = outcome(&["--strict", "conformance/required/placing"]);
    assert_eq!(code, 0);
    let passed: usize = line.split(' ').next().unwrap().parse().unwrap();
    assert!(passed > 0);
    assert_eq!(line, format!("{passed} passed, 0 failed, 0 skipped"));
}

#[test]
fn a_failure_is_one() {
    let program = "sh -c exit"; // ends at once
    let arguments = ["--program", program, "--filter", "u-shaped-ties", "conformance"];
    assert_eq!(outcome(&arguments), (1, "0 passed, 1 failed, 0 skipped".to_owned()));
}

#[test]
fn a_skip_needs_a_reason_and_a_vector() {
    let name = "required/placing/u-shaped-ties";
    let skip = format!("{name}=because");
    let arguments = ["--skip", &skip, "--filter", name, "conformance"];
    assert_eq!(outcome(&arguments), (0, "0 passed, 0 failed, 1 skipped".to_owned()));
    let complete = ["--no-skips", "--skip", &skip, "--filter", name, "conformance"];
    assert_eq!(outcome(&complete), (1, "0 passed, 0 failed, 1 skipped".to_owned()));
    assert_eq!(outcome(&["--skip", "nobody=because", "conformance/required/placing"]).0, 1);
    assert_eq!(outcome(&["--skip", name, "conformance"]).0, 2);
}

#[test]
fn finding_nothing_cannot_be_success() {
    assert_eq!(outcome(&["crates/cupel-conformance/src"]).0, 2);
    assert_eq!(outcome(&["no/such/folder"]).0, 2);
    assert_eq!(outcome(&["--filter", "nothing is called this", "conformance"]).0, 1);
    assert_eq!(outcome(&[]).0, 2);
}

#[test]
fn help_shows_an_example() {
    let output = runner(&["--help"]);
    assert!(output.status.success());
    assert!(String::from_utf8(output.stdout).unwrap().contains("example: cupel-conformance"));
}
