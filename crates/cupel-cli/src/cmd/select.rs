//! `cupel select`: request in, request out.

use std::path::{Path, PathBuf};

use clap::Args;
use cupel_engine::{Engine, Options, Selection, Summary};

use super::Context;
use crate::batch::{self, BatchArguments, Job, Tally};
use crate::cli::SelectionArguments;
use crate::error::{Answer, Failure};
use crate::output::{self, Destination};
use crate::render::json;
use crate::render::number::{counted, grouped, grouped_count};

const EXAMPLES: &str = "\
Examples:
  cupel select request.json --max 8000 > shorter.json
  cupel select --model gpt-4o --policy tool-use < request.json | jq .messages
  cupel select request.json --max 8000 --report why.json -o shorter.json
  cupel select requests.jsonl --lines --max 8000 > shorter.jsonl

What is kept is kept as it was written: the same JSON text, in the same order. A tool call and its
results stay or go together. If what must be kept does not fit, the exit code is 1 and nothing is
written; with --lines, such a line becomes `null`.";

/// Gives back the best request that fits
///
/// Reads a request and writes it in the same format, without the messages that do not fit.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    batch: BatchArguments,

    #[command(flatten)]
    selection: SelectionArguments,

    /// Write to this file, in one step, instead of stdout; of several files, into this folder
    #[arg(long, short, value_name = "FILE", conflicts_with = "in_place")]
    output: Option<PathBuf>,

    /// Replace the input file, or each of several
    #[arg(long, requires = "files", conflicts_with = "lines")]
    in_place: bool,

    /// Write what was left out, and why, into this file: what `explain --json` prints
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Print no summary
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<Answer, Failure> {
    let engine = arguments.selection.engine(context)?;
    let options = arguments.selection.options()?;
    if arguments.batch.is_single() {
        return one(arguments, &engine, &options);
    }
    if arguments.report.is_some() {
        return Err(Failure::cannot("--report is for one request; use `explain` for each of many"));
    }
    if !arguments.batch.lines && !arguments.in_place && arguments.output.is_none() {
        let text = "several files need --in-place, or --output FOLDER to write them into";
        return Err(Failure::cannot(text));
    }
    many(arguments, &engine, &options)
}

fn one(arguments: &Arguments, engine: &Engine, options: &Options) -> Result<Answer, Failure> {
    let input = arguments.batch.single()?;
    let (name, path) = (input.name(), input.path.clone());
    let destination = destination(arguments, path.as_deref())?;
    let report = arguments.report.as_deref();
    let report = report.map(|file| Destination::new(Some(file), path.as_deref())).transpose()?;
    let failed = |error| Failure::of(&name, &error);
    let prepared = engine.prepare(input.text, options).map_err(failed)?;
    let selection = prepared.select().map_err(failed)?;
    if let Some(report) = report {
        report.write(&json::pretty(&prepared.explain(usize::MAX).map_err(failed)?)?)?;
    }
    destination.write(&selection.text)?;
    tell(&name, &selection);
    if !arguments.quiet {
        output::say(&summary(&selection.summary));
    }
    Ok(Answer::Yes)
}

/// Says what was repaired, and what was dropped as superseded.
fn tell(name: &str, selection: &Selection) {
    for repair in &selection.repairs {
        output::say(&format!("{name}: {repair}"));
    }
    for outdated in &selection.superseded {
        output::say(&format!("{name}: {outdated}"));
    }
}

/// `kept 41 of 212 messages, 7,934 of 8,000 tokens, from 61,203`.
pub(crate) fn summary(summary: &Summary) -> String {
    let what = if summary.format.starts_with("items") { "item" } else { "message" };
    let margin = match summary.budget.margin_percent {
        percent if percent > 0.0 => format!(", {percent:.0} % kept free for errors"),
        _ => String::new(),
    };
    format!(
        "kept {} of {}, {} of {} tokens, from {}{}",
        grouped_count(summary.messages_after),
        counted(summary.messages_before, what),
        grouped(summary.tokens_after),
        grouped(summary.budget.target_tokens),
        grouped(summary.tokens_before),
        if summary.is_estimate { format!(" (estimated{margin})") } else { String::new() },
    )
}

fn destination(arguments: &Arguments, input: Option<&Path>) -> Result<Destination, Failure> {
    match (input, arguments.in_place) {
        (Some(path), true) => Ok(Destination::File(path.to_path_buf())),
        (None, true) => Err(Failure::cannot("--in-place needs a file, not stdin")),
        (path, false) => Destination::new(arguments.output.as_deref(), path),
    }
}

fn many(arguments: &Arguments, engine: &Engine, options: &Options) -> Result<Answer, Failure> {
    let select = |job: &Job| {
        let selected = engine.select_with(job.text.as_str(), options);
        selected.map_err(|error| Failure::of(&job.name, &error))
    };
    let mut tally = Tally::default();
    let mut lines = String::new();
    let answers = batch::answers(arguments.batch.jobs(), select);
    for (job, selected) in answers {
        let selection = tally.note(selected)?;
        if let (Some(job), Some(selection)) = (&job, &selection) {
            tell(&job.name, selection);
            if !arguments.quiet {
                output::say(&format!("{}: {}", job.name, summary(&selection.summary)));
            }
        }
        if arguments.batch.lines {
            lines.push_str(selection.as_ref().map_or("null", |selection| &selection.text));
            lines.push('\n');
        } else if let (Some(job), Some(selection)) = (job, selection) {
            let written = place(arguments, &job)?.write(&selection.text);
            tally.note(written)?;
        }
    }
    if arguments.batch.lines {
        destination(arguments, None)?.write(&lines)?;
    }
    tally.finish()
}

/// Where one of several files goes.
fn place(arguments: &Arguments, job: &Job) -> Result<Destination, Failure> {
    let Some(path) = &job.path else {
        return Err(Failure::cannot("stdin cannot be one of several files"));
    };
    match &arguments.output {
        None => Ok(Destination::File(path.clone())),
        Some(folder) => {
            let name = path.file_name().unwrap_or_default();
            Destination::new(Some(&folder.join(name)), Some(path))
        }
    }
}
