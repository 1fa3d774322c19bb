//! The help of every command.

use crate::support::{assert_snapshot, run};

/// Every command, with the commands below it.
pub(crate) const COMMANDS: &[&[&str]] = &[
    &["select"],
    &["explain"],
    &["view"],
    &["simulate"],
    &["simulate", "marginal"],
    &["simulate", "min-budget"],
    &["simulate", "curve"],
    &["compare"],
    &["eval"],
    #[cfg(feature = "replay")]
    &["replay"],
    #[cfg(feature = "replay")]
    &["record"],
    #[cfg(feature = "replay")]
    &["check"],
    &["count"],
    &["tools"],
    &["validate"],
    &["import"],
    &["show"],
    &["policy"],
    &["policy", "list"],
    &["policy", "show"],
    &["policy", "check"],
    &["policy", "schema"],
    &["models"],
    &["config"],
    &["schema"],
    &["conformance"],
    #[cfg(feature = "gateway")]
    &["gateway"],
    #[cfg(feature = "gateway")]
    &["wrap"],
    #[cfg(feature = "gateway")]
    &["doctor"],
    #[cfg(feature = "mcp")]
    &["mcp"],
    #[cfg(feature = "mcp")]
    &["hook"],
    &["serve-protocol"],
    &["completions"],
    &["man"],
];

// As it is released.
#[cfg(all(feature = "gateway", feature = "mcp", feature = "replay"))]
#[test]
fn help_of_the_whole() {
    assert_snapshot("help", &["--help"]);
}

#[test]
fn help_of_every_command() {
    for command in COMMANDS.iter().copied() {
        let arguments = [command, &["--help"]].concat();
        assert_snapshot(&format!("help-{}", command.join("-")), &arguments);
    }
}

#[test]
fn the_list_of_commands_is_complete() {
    let listed = |arguments: &[&str]| {
        let help = run(arguments).stdout;
        let commands = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
        commands.lines().map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
    };
    let known = |above: &[&str]| -> Vec<String> {
        let below = COMMANDS.iter().filter(|names| names.len() == above.len() + 1);
        let below = below.filter(|names| names.starts_with(above));
        below.map(|names| names[above.len()].to_owned()).collect()
    };
    for above in [&[] as &[&str], &["simulate"], &["policy"]] {
        let help: Vec<String> = listed(&[above, &["-h"]].concat());
        assert_eq!(help, known(above));
    }
}

#[test]
fn exit_codes_and_environment_are_documented() {
    let help = run(&["--help"]).stdout;
    for text in ["Exit codes:", "Environment:", "CUPEL_*", "NO_COLOR", "COLUMNS"] {
        assert!(help.contains(text), "{text}");
    }
}
