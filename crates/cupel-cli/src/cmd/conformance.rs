//! `cupel conformance`: runs a conformance suite.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use cupel_conformance::{
    Implementation, LibraryImplementation, Program, Summary, VectorFile, load, run_one,
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

    /// How long the program may think about one answer
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = parse_seconds)]
    timeout: Duration,

    /// Unknown fields and broken rules of the suite are failures
    #[arg(long)]
    strict: bool,

    /// Only vectors whose name contains this (repeatable)
    #[arg(long, value_name = "TEXT")]
    filter: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments, _: &Context) -> Result<Answer, Failure> {
    let mut files = load(&arguments.paths).map_err(Failure::cannot)?;
    files.retain(|file| is_wanted(file, &arguments.filter));
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
    output::print(&summary.to_string())?;
    Ok(Answer::of(summary.is_success()))
}

fn is_wanted(file: &VectorFile, filters: &[String]) -> bool {
    filters.is_empty() || filters.iter().any(|filter| file.name.contains(filter))
}

fn implementation(arguments: &Arguments) -> Result<Box<dyn Implementation>, Failure> {
    let Some(program) = &arguments.program else {
        return Ok(Box::new(LibraryImplementation));
    };
    let words: Vec<&str> = program.split_whitespace().collect();
    if words.is_empty() {
        return Err(Failure::cannot("--program is empty; give a command and its arguments"));
    }
    Ok(Box::new(Program::new(words, arguments.timeout)))
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| "not a number of seconds".to_owned())
}
