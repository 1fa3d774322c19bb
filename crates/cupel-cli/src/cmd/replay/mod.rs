//! `cupel replay`: what policies would have kept of the requests in a log.

mod chart;
mod pages;
mod report;
mod request_page;
pub(crate) mod run;

use std::path::PathBuf;

use clap::Args;

use super::Context;
use crate::error::{Answer, Failure};
use crate::output::{self, Destination};
use crate::render::{json, text};
use run::ReplayArguments;

const EXAMPLES: &str = "\
Examples:
  cupel replay examples/logs/langfuse.json --max 500 --policy auto --policy chat
  cupel replay logs/ --max 4k,8k --session --html report
  cupel replay 'exports/*.parquet' --max 8k --output results.parquet
  cupel replay calls.jsonl.zst --columns request=body,response=answer --max 8k --json

The formats of logs are in docs/replay.md, with a sample of each in examples/logs.";

/// Replays the requests of a log: what policies would have kept, lost and cost
///
/// Reads requests and, where the log has them, their answers: raw requests, pairs of request and response,
/// runs of agents, exports of Langfuse and LangSmith, OpenTelemetry spans, lists of conversations; as JSON,
/// JSON lines or Parquet, plain, gzip or zstd. What the next call or answer used (ids, paths, names, quoted
/// words) and what stood in the request must still be in the window: coverage is the share that is.
///
/// A row that is broken is named and counted, and the rest goes on; then the exit code is 2. Ctrl-C ends
/// it early, with what has been replayed until then.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    replay: ReplayArguments,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Draw coverage over cost into this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Write a report into this folder, with a page for each of the worst requests
    #[arg(long, value_name = "FOLDER")]
    html: Option<PathBuf>,

    /// Write a row for each request into this file: Parquet if it is called so, otherwise JSON lines
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<Answer, Failure> {
    let mut settings = arguments.replay.settings(context)?;
    settings.details = arguments.output.is_some();
    if arguments.html.is_some() {
        settings.worst_text_bytes = pages::LARGEST_REQUEST;
    }
    let logs = arguments.replay.files()?;
    run::check_outputs(&logs, arguments.svg.iter().chain(&arguments.output))?;
    if let Some(folder) = &arguments.html {
        pages::prepare(folder)?;
    }
    let replayed = run::replay(logs, settings, arguments.output.as_deref())?;
    if let Some(path) = &arguments.svg {
        Destination::new(Some(path), None)?.write(&chart::of(&replayed.summary))?;
    }
    if let Some(folder) = &arguments.html {
        pages::write(folder, &replayed)?;
    }
    if arguments.json {
        output::print(&json::pretty(&replayed.summary)?)?;
    } else if !replayed.is_empty() {
        output::print(&report::render(&replayed.summary, text::screen_width(), context.palette))?;
    }
    replayed.answer()
}
