//! `cupel count`: how many tokens is this?

use std::path::PathBuf;

use clap::Args;
use cupel_engine::{Count, DEFAULT_POLICY, Engine, NamedPolicy, Options};
use serde::Serialize;

use super::Context;
use crate::batch::{self, BatchArguments, Job, Tally};
use crate::cli::{BudgetArguments, QueryArguments, RequestArguments, engine};
use crate::error::{Answer, Failure};
use crate::input::Input;
use crate::output;
use crate::render::number::grouped;
use crate::render::table::{Cell, Side, Table};
use crate::render::{json, text};
use crate::style::{self, Palette};

const EXAMPLES: &str = "\
Examples:
  cupel count request.json
  cupel count --text README.md --model gpt-4o
  cupel count requests.jsonl --lines --json";

/// Counts the tokens of a request, part by part
///
/// Each part is what can be kept or left out as a whole. Counts include what providers add for each
/// message and tool definition.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    batch: BatchArguments,

    #[command(flatten)]
    request: RequestArguments,

    /// Count plain text instead, of one file or of many
    #[arg(long, conflicts_with_all = ["format", "pin", "rules", "repair", "lines"])]
    text: bool,

    /// Print JSON; of many requests, a line each
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<Answer, Failure> {
    let policy = NamedPolicy::find(DEFAULT_POLICY).map_err(|error| Failure::of_settings(&error))?;
    let (budget, query) = (BudgetArguments::default(), QueryArguments::default());
    let engine = engine(context, &arguments.request, &budget, &query, policy)?;
    if arguments.text {
        let count = of_texts(arguments, &engine)?;
        return show(arguments, context.palette, &count);
    }
    if arguments.batch.is_single() {
        let input = arguments.batch.single(arguments.request.format)?;
        let name = input.name();
        let count = engine.count(input.text, &Options::new());
        let count = count.map_err(|error| Failure::of(&name, &error))?;
        return show(arguments, context.palette, &count);
    }
    many(arguments, context.palette, &engine)
}

fn show(arguments: &Arguments, palette: Palette, count: &Count) -> Result<Answer, Failure> {
    output::print(&if arguments.json { json::pretty(count)? } else { render(count, palette) })?;
    Ok(Answer::Yes)
}

fn many(arguments: &Arguments, palette: Palette, engine: &Engine) -> Result<Answer, Failure> {
    let count = |job: &Job| {
        let counted = engine.count(job.text.as_str(), &Options::new());
        counted.map_err(|error| Failure::of(&job.name, &error))
    };
    let mut tally = Tally::default();
    for (job, counted) in batch::answers(arguments.batch.jobs(arguments.request.format), count) {
        let count = tally.note(counted)?;
        let text = match (count, job) {
            (Some(count), Some(job)) if arguments.json => {
                json::line(&NamedCount { name: &job.name, count: &count })?
            }
            (Some(count), Some(job)) => {
                let heading = palette.strong(&job.name);
                format!("{heading}\n{}\n", render(&count, palette))
            }
            _ if arguments.json => "null\n".to_owned(),
            _ => continue,
        };
        output::print(&text)?;
    }
    tally.finish()
}

/// The count of one of many requests.
#[derive(Serialize)]
struct NamedCount<'a> {
    /// The file, or the file and the line.
    name: &'a str,
    #[serde(flatten)]
    count: &'a Count,
}

fn of_texts(arguments: &Arguments, engine: &Engine) -> Result<Count, Failure> {
    let mut inputs = vec![Input::read(arguments.batch.files.first().map(PathBuf::as_path))?];
    for path in arguments.batch.files.iter().skip(1) {
        inputs.push(Input::read(Some(path))?);
    }
    let names: Vec<String> = inputs.iter().map(Input::name).collect();
    let texts = names.iter().zip(&inputs).map(|(name, input)| (name.as_str(), input.text.as_str()));
    Ok(engine.count_texts(&texts.collect::<Vec<_>>()))
}

fn render(count: &Count, palette: Palette) -> String {
    let has_kinds = !count.parts.is_empty();
    let mut columns = vec![("tokens", Side::Right)];
    if has_kinds {
        columns.extend([("kind", Side::Left), ("pinned", Side::Left)]);
    }
    columns.push(("what", Side::Left));
    let mut table = Table::new(columns);
    for part in &count.parts {
        let pinned = if part.pinned.is_some() { "pinned" } else { "" };
        let (tokens, kind) = (grouped(part.tokens), part.kind.as_str());
        table.push(vec![tokens.into(), kind.into(), pinned.into(), part.label().into()]);
    }
    for text in &count.texts {
        table.push(vec![grouped(text.tokens).into(), text.name.as_str().into()]);
    }
    let mut total: Vec<Cell> = vec![Cell::styled(grouped(count.total_tokens), style::strong())];
    if has_kinds {
        total.extend(["".into(), "".into()]);
    }
    total.push(format!("in all, by {}{}", count.tokenizer, mark(count)).into());
    table.push(total);
    table.render(text::screen_width(), palette)
}

/// What makes an exact counter's total an estimate all the same.
fn mark(count: &Count) -> &'static str {
    let is_more_exact = count.tokenizer != "estimate";
    if count.is_estimate && is_more_exact { ", in part estimated" } else { "" }
}
