//! `cupel conformance`: runs a conformance suite.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use cupel_conformance::{
    Implementation, LibraryImplementation, Options, Program, Summary, load, run_one,
};

use super::Context;
use crate::error::{Answer, Failure};
use crate::output;
use crate::progress::Progress;

/// Runs a conformance suite on this library, or on a program of yours
///
/// Exits with 1 if a vector fails.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  cupel conformance conformance --program \"python3 conformance/program.py\""
)]
pub(crate) struct Arguments {
    /// Folders with vectors, or single files
    #[arg(value_name = "DIR", required = true)]
    paths: Vec<PathBuf>,

    /// Judge a program that speaks the JSON lines protocol
    #[arg(long, value_name = "CMD")]
    program: Option<String>,

    /// Longest time for one answer of the program
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = Program::parse_timeout)]
    timeout: Duration,

    /// Unknown fields and broken rules of the suite are failures
    #[arg(long)]
    strict: bool,

    /// A vector that is not run, since the program cannot do it, is a failure
    #[arg(long)]
    no_skips: bool,

    /// Only vectors whose name contains this (repeatable)
    #[arg(long, value_name = "TEXT")]
    filter: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments, _: &Context) -> Result<Answer, Failure> {
    let mut files = load(&arguments.paths).map_err(Failure::cannot)?;
    let options = Options { filters: arguments.filter.clone(), ..Options::default() };
    files.retain(|file| options.wants(file));
    if files.is_empty() {
        let filters = arguments.filter.join("`, `");
        return Err(Failure::cannot(format!("--filter `{filters}` matches no vector")));
    }
    let mut implementation = implementation(arguments)?;
    let progress = Progress::of_steps("vectors", files.len());
    let mut summary = Summary::default();
    for file in &files {
        summary.outcomes.push(run_one(file, &mut *implementation, arguments.strict));
        progress.advance(1);
    }
    progress.finish();
    if arguments.no_skips {
        summary.forbid_skips();
    }
    output::print(&summary.to_string())?;
    Ok(Answer::of(summary.is_success()))
}

fn implementation(arguments: &Arguments) -> Result<Box<dyn Implementation>, Failure> {
    let Some(program) = &arguments.program else {
        return Ok(Box::new(LibraryImplementation));
    };
    let program = Program::parse(program, arguments.timeout).map_err(Failure::cannot)?;
    Ok(Box::new(program))
}
