//! The manual and the completions name every command.

use std::fs;

use crate::help::COMMANDS;
use crate::support::{Folder, run};

#[test]
fn the_manual_names_every_command_exit_codes_and_environment() {
    let page = run(&["man"]).stdout;
    let page = page.replace('\\', "");
    for command in COMMANDS.iter().filter(|names| names.len() == 1) {
        assert!(page.contains(&format!("cupel-{}(1)", command[0])), "{command:?}");
    }
    for text in [".TH cupel 1", "Exit codes:", "NO_COLOR"] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn every_command_has_a_page_of_its_own() {
    let folder = Folder::new();
    let run = run(&["man", "--output", folder.path().to_str().unwrap()]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{run:?}");
    let mut expected: Vec<String> =
        COMMANDS.iter().map(|names| format!("cupel-{}.1", names.join("-"))).collect();
    expected.push("cupel.1".to_owned());
    expected.sort();
    assert_eq!(folder.names(), expected);
    let page = fs::read_to_string(folder.path().join("cupel-policy-show.1")).unwrap();
    assert!(page.contains("cupel policy show") || page.contains("cupel\\-policy\\-show"), "{page}");
}

#[test]
fn every_shell_gets_a_script_that_names_every_command() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = run(&["completions", shell]);
        assert_eq!(script.code, Some(0));
        for command in COMMANDS {
            let name = command.last().unwrap();
            assert!(script.stdout.contains(name), "{shell}: {name}");
        }
    }
}
