//! The first command of the repository's README shows what it really prints.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{Folder, Run, cupel, root};

#[test]
fn the_first_command_prints_what_the_readme_shows() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let (_, rest) = readme.split_once("cargo run -p cupel-cli -- ").unwrap();
    let (command, rest) = rest.split_once('\n').unwrap();
    let arguments: Vec<&str> = command.split('#').next().unwrap().split_whitespace().collect();
    let (_, rest) = rest.split_once("```text\n").unwrap();
    let (shown, _) = rest.split_once("```").unwrap();
    // As the README's readers run it: no width is known where the output is not a terminal.
    let output = cupel(&arguments).env_remove("COLUMNS").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    snapbox::assert_data_eq!(String::from_utf8(output.stdout).unwrap(), shown.to_owned());
}

/// What stands between fences, with the word behind the first: `sh`, `text`.
fn fenced(page: &str) -> Vec<(&str, &str)> {
    let blocks = page.split("```").skip(1).step_by(2);
    blocks.map(|block| block.split_once('\n').unwrap()).collect()
}

/// Line by line in a shell, each with the lines that it shows on stderr below.
#[cfg(unix)]
#[test]
fn the_session_of_the_commands_page_runs_as_shown() {
    assert!(runs_as_shown("Sessions") > 0, "nothing is shown");
}

#[cfg(unix)]
#[test]
fn the_shorter_results_of_the_commands_page_run() {
    runs_as_shown("Shorter results");
}

/// Runs a section of the page in a folder of its own, and says how many outputs it shows.
#[cfg(unix)]
fn runs_as_shown(heading: &str) -> usize {
    let page = fs::read_to_string(root().join("crates/cupel-cli/README.md")).unwrap();
    let (_, section) = page.split_once(&format!("\n## {heading}\n")).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let (folder, root) = (Folder::new(), root().canonicalize().unwrap());
    std::os::unix::fs::symlink(root.join("examples"), folder.path().join("examples")).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_cupel")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut stderr = String::new();
    let mut shown = 0;
    for (kind, text) in fenced(section) {
        if kind == "sh" {
            let mut shell = Command::new("sh");
            shell.args(["-e", "-c", text]).current_dir(folder.path()).env("PATH", &path);
            let run: Run = shell.output().unwrap().into();
            assert_eq!(run.code, Some(0), "{text}{run:?}");
            stderr = run.stderr;
        } else {
            snapbox::assert_data_eq!(std::mem::take(&mut stderr), text.to_owned());
            shown += 1;
        }
    }
    shown
}
