//! The command `cupel`, to be called from a program: pipe a request through it, get back the best
//! one that fits.
//!
//! All rules about requests, models, budgets and policies are in `cupel-engine`; here flags are
//! read and answers shown.

#[cfg(feature = "gateway")]
mod agents;
mod batch;
mod cli;
mod cmd;
mod error;
mod input;
mod offered;
mod output;
mod page;
mod policy;
mod progress;
mod render;
mod rules;
mod session;
mod settings;
mod style;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use cli::Cli;
use cmd::Context;
use settings::Settings;
use style::Palette;

/// Runs the command with these arguments, the first of which is its own name.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    ExitCode::from(exit_code(arguments))
}

/// As [`run`], with the exit code as a number, for callers that are no Rust program.
pub fn exit_code(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(told) => {
            // Help and versions go to stdout, mistakes to stderr; nobody may be there to read them.
            let plain = told.to_string();
            if told.use_stderr() && cupel_names::readable(&plain) != plain {
                // It quotes an argument that would act on a terminal.
                output::say(plain.trim_end());
            } else {
                let _ = told.print();
            }
            return if told.use_stderr() { 2 } else { 0 };
        }
    };
    let palette = Palette::of_stdout(cli.color);
    let ran = Settings::find().and_then(|settings| cli.command.run(&Context { palette, settings }));
    error::finish(ran)
}
