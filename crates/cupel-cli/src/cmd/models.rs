//! `cupel models`: the table of models.

use clap::Args;
use cupel_engine::{ModelList, models};

use super::Context;
use crate::error::{Answer, Failure};
use crate::output;
use crate::render::number::grouped;
use crate::render::table::{Cell, Side, Table};
use crate::render::{json, text};
use crate::style::{self, Palette};

/// Lists the models that are known by name
///
/// A name with a date, as in gpt-4o-2024-08-06, is found too.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<Answer, Failure> {
    let list = models();
    let text =
        if arguments.json { json::pretty(&list)? } else { table(&list, context.palette) };
    output::print(&text)?;
    Ok(Answer::Yes)
}

fn table(list: &ModelList, palette: Palette) -> String {
    let mut table = Table::new(vec![
        ("name", Side::Left),
        ("provider", Side::Left),
        ("window", Side::Right),
        ("output", Side::Right),
        ("tokenizer", Side::Left),
    ]);
    for row in &list.models {
        table.push(vec![
            Cell::styled(row.name.as_str(), style::strong()),
            row.provider.as_str().into(),
            grouped(row.context_window).into(),
            grouped(row.max_output).into(),
            row.tokenizer.as_str().into(),
        ]);
    }
    table.render(text::screen_width(), palette)
}
