//! `cupel simulate marginal`: what the last tokens buy.

use clap::Args;
use cupel_engine::{Marginal, parse_tokens};

use crate::cli::{FileArgument, SelectionArguments};
use crate::cmd::{Context, explain};
use crate::error::{Answer, Failure};
use crate::output;
use crate::render::number::{counted, grouped};
use crate::render::table::{Side, Table};
use crate::render::{json, text};
use crate::style::Palette;

/// Shows what the last tokens of the budget buy
///
/// These are in the window, but would not be in one that is so much smaller.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cupel simulate marginal request.json --max 8000 --slack 1000")]
pub(super) struct Arguments {
    #[command(flatten)]
    input: FileArgument,

    #[command(flatten)]
    selection: SelectionArguments,

    /// Number of tokens by which the other budget is smaller
    #[arg(long, value_name = "TOKENS", value_parser = parse_tokens)]
    slack: i64,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, context: &Context) -> Result<Answer, Failure> {
    let engine = arguments.selection.engine(context)?;
    let input = arguments.input.read(&arguments.selection.request)?;
    let name = input.name();
    let options = arguments.selection.options()?;
    let marginal = engine.marginal(input.text, arguments.slack, &options);
    let marginal = marginal.map_err(|error| Failure::of(&name, &error))?;
    let text =
        if arguments.json { json::pretty(&marginal)? } else { words(&marginal, context.palette) };
    output::print(&text)?;
    Ok(Answer::Yes)
}

fn words(marginal: &Marginal, palette: Palette) -> String {
    let slack = grouped(marginal.slack_tokens);
    if marginal.parts.is_empty() {
        return format!("the last {slack} tokens buy nothing\n");
    }
    let mut table = Table::new(vec![("tokens", Side::Right), ("what", Side::Left)]);
    for part in &marginal.parts {
        table.push(vec![grouped(part.tokens).into(), explain::what(part).into()]);
    }
    format!(
        "the last {slack} tokens buy {} of {} tokens{}\n\n{}",
        counted(marginal.parts.len(), "item"),
        grouped(marginal.tokens),
        if marginal.is_estimate { " (estimated)" } else { "" },
        table.render(text::screen_width(), palette),
    )
}
