//! `cupel models`: the table of models.

use clap::Args;
use cupel_tokens::{Encoding, Model};
use serde::Serialize;

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

pub(crate) fn run(arguments: &Arguments, palette: Palette) -> Result<Answer, Failure> {
    let rows: Vec<Row> = Model::all().iter().map(Row::of).collect();
    output::print(&if arguments.json { json::pretty(&rows)? } else { table(&rows, palette) })?;
    Ok(Answer::Yes)
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    provider: &'static str,
    tokenizer: &'static str,
    context_window: i64,
    max_output: i64,
}

impl Row {
    fn of(model: &Model) -> Self {
        Self {
            name: model.name,
            provider: model.provider.name(),
            tokenizer: model.encoding.map_or("estimate", Encoding::name),
            context_window: model.context_window,
            max_output: model.max_output,
        }
    }
}

fn table(rows: &[Row], palette: Palette) -> String {
    let mut table = Table::new(vec![
        ("name", Side::Left),
        ("provider", Side::Left),
        ("window", Side::Right),
        ("output", Side::Right),
        ("tokenizer", Side::Left),
    ]);
    for row in rows {
        table.push(vec![
            Cell::styled(row.name, style::strong()),
            row.provider.into(),
            grouped(row.context_window).into(),
            grouped(row.max_output).into(),
            row.tokenizer.into(),
        ]);
    }
    table.render(text::screen_width(), palette)
}
