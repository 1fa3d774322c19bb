//! `cupel config`: what holds where flags say nothing.

use clap::Args;
use serde::Serialize;

use super::Context;
use crate::error::{Answer, Failure};
use crate::output;
use crate::render::table::{Cell, Side, Table};
use crate::render::{json, text};
use crate::settings;
use crate::style;

const EXAMPLE: &str = "\
Example of a cupel.toml:
  policy = \"chat\"
  max = \"8k\"
  pin = [\"role:developer\"]
  rules = [\"rules.txt\"]

A flag wins over a variable, a variable over the file. The file is the first `cupel.toml` in the
current folder or above it; paths in it are relative to it.";

/// Shows what holds where flags say nothing, and where it comes from
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What holds where flags say nothing.
#[derive(Serialize, schemars::JsonSchema)]
#[schemars(rename = "Config")]
pub(crate) struct Document<'a> {
    schema: cupel_engine::Schema,
    settings: Vec<Row<'a>>,
}

#[derive(Serialize, schemars::JsonSchema)]
#[schemars(rename = "Setting")]
struct Row<'a> {
    name: &'static str,
    variable: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<String>,
    #[serde(skip)]
    fallback: &'static str,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<Answer, Failure> {
    let row = |setting: &cupel_engine::Setting| {
        let value = context.settings.get(setting.name);
        Row {
            name: setting.name,
            variable: setting.variable(),
            value: value.map(|value| value.text.as_str()),
            origin: value.map(|value| value.origin.to_string()),
            fallback: setting.default,
        }
    };
    let settings: Vec<Row<'_>> = settings::in_file().map(row).collect();
    let text = if arguments.json {
        json::pretty(&Document { schema: cupel_engine::Schema, settings })?
    } else {
        table(&settings).render(text::screen_width(), context.palette)
    };
    output::print(&text)?;
    Ok(Answer::Yes)
}

fn table(rows: &[Row<'_>]) -> Table {
    let columns = ["setting", "variable", "value", "from"];
    let mut table = Table::new(columns.map(|title| (title, Side::Left)).into());
    for row in rows {
        let value = match row.value {
            Some(value) => Cell::from(value.replace('\n', "; ")),
            None => Cell::styled(row.fallback, style::faint()),
        };
        let origin = row.origin.clone().unwrap_or_else(|| "default".to_owned());
        let name = Cell::styled(row.name, style::strong());
        table.push(vec![name, row.variable.as_str().into(), value, origin.into()]);
    }
    table
}
