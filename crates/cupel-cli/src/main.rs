//! The command `cupel`: pipe a request through it, get back the best one that fits.

mod budget;
mod cli;
mod cmd;

mod error;
mod input;
mod output;
mod policy;
mod progress;
mod render;
mod shortfall;
mod style;
mod tokenizer;
mod work;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};
use error::{Answer, Failure};
use style::Palette;

fn main() -> ExitCode {
    error::finish(run(&Cli::parse()))
}

fn run(cli: &Cli) -> Result<Answer, Failure> {
    let palette = Palette::of_stdout(cli.color);
    match &cli.command {
        Command::Select(arguments) => cmd::select::run(arguments),
        Command::Explain(arguments) => cmd::explain::run(arguments, palette),
        Command::Simulate(arguments) => cmd::simulate::run(arguments, palette),
        Command::Compare(arguments) => cmd::compare::run(arguments, palette),
        Command::Eval(arguments) => cmd::eval::run(arguments, palette),
        Command::Count(arguments) => cmd::count::run(arguments, palette),
        Command::Validate(arguments) => cmd::validate::run(arguments),
        Command::Policy(arguments) => cmd::policy::run(arguments, palette),
        Command::Models(arguments) => cmd::models::run(arguments, palette),
        Command::Conformance(arguments) => cmd::conformance::run(arguments),
        Command::ServeProtocol => cmd::serve_protocol::run(),
        Command::Completions(arguments) => cmd::completions::run(arguments),
        Command::Man(arguments) => cmd::man::run(arguments),
    }
}
