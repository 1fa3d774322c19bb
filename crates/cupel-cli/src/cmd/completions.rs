//! `cupel completions`: scripts for shells.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Context;
use crate::cli::Cli;
use crate::error::{Answer, Failure};
use crate::output;

/// Prints a script that completes arguments in a shell
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  cupel completions bash > ~/.local/share/bash-completion/completions/cupel"
)]
pub(crate) struct Arguments {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments, _: &Context) -> Result<Answer, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "cupel", &mut script);
    output::print_data(&String::from_utf8_lossy(&script), cupel_names::readable)?;
    Ok(Answer::Yes)
}
