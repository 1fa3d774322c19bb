//! `cupel select`: request in, request out.

use std::path::PathBuf;

use clap::Args;

use crate::cli::SelectionArguments;
use crate::error::{Answer, Failure};
use crate::input::Input;
use crate::output::{self, Destination};
use crate::policy;
use crate::work::{self, Work};

const EXAMPLES: &str = "\
Examples:
  cupel select request.json --max 8000 > shorter.json
  cupel select --model gpt-4o --policy tool-use < request.json | jq .messages

What is kept is kept as it was written: the same JSON text, in the same order. A tool call and its
results stay or go together. If what must be kept does not fit, the exit code is 1 and nothing is
written.";

/// Gives back the best request that fits
///
/// Reads a request and writes it in the same format, without the messages that do not fit.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    selection: SelectionArguments,

    /// Write to this file, in one step, instead of stdout
    #[arg(long, short, value_name = "FILE", conflicts_with = "in_place")]
    output: Option<PathBuf>,

    /// Replace the input file
    #[arg(long, requires = "file")]
    in_place: bool,

    /// Print no summary
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let selection = &arguments.selection;
    let policy = policy::load(&selection.policy.policy)?;
    let input = work::open(&selection.request)?;
    let destination = destination(arguments, &input)?;
    let request = work::parse(&input, selection.request.format)?;
    let work = Work::new(&request, &input, &selection.request)?.asked(&selection.policy.query);
    let budget = work.budget(&selection.budget, &policy)?;
    let kept = work.select(&policy, &budget)?;
    destination.write(&work.candidates.render(&kept))?;
    if !arguments.quiet {
        output::say(&work.summary(&kept, &budget));
    }
    Ok(Answer::Yes)
}

fn destination(arguments: &Arguments, input: &Input) -> Result<Destination, Failure> {
    match (&input.path, arguments.in_place) {
        (Some(path), true) => Ok(Destination::File(path.clone())),
        (None, true) => Err(Failure::cannot("--in-place needs a file, not stdin")),
        (path, false) => Destination::new(arguments.output.as_deref(), path.as_deref()),
    }
}
