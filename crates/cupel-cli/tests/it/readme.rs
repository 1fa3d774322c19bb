//! The first command of the repository's README shows what it really prints.

use std::fs;

use crate::support::{cupel, root};

#[test]
fn the_first_command_prints_what_the_readme_shows() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let (_, rest) = readme.split_once("cargo run --quiet -p cupel-cli -- ").unwrap();
    let (command, rest) = rest.split_once('\n').unwrap();
    let arguments: Vec<&str> = command.split('#').next().unwrap().split_whitespace().collect();
    let (_, rest) = rest.split_once("```text\n").unwrap();
    let (shown, _) = rest.split_once("```").unwrap();
    // As the README's readers run it: no width is known where the output is not a terminal.
    let output = cupel(&arguments).env_remove("COLUMNS").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    snapbox::assert_data_eq!(String::from_utf8(output.stdout).unwrap(), shown.to_owned());
}
