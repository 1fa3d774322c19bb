//! `cupel compare`: what swings between policies.

use clap::Args;
use cupel_engine::Comparison;

use super::{Context, explain, select};
use crate::cli::{BudgetArguments, FileArgument, QueryArguments, RequestArguments, engine};
use crate::error::{Answer, Failure};
use crate::render::number::{counted, grouped};
use crate::render::table::{Cell, Side, Table};
use crate::render::{json, text};
use crate::style::{self, Palette};
use crate::{output, policy};

const EXAMPLES: &str = "\
Example:
  cupel compare request.json --max 8000 --policy chat --policy tool-use";

/// Shows what two or more policies keep differently
///
/// Exits with 1 if they differ, as `diff` does.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    input: FileArgument,

    #[command(flatten)]
    request: RequestArguments,

    #[command(flatten)]
    budget: BudgetArguments,

    /// A policy: a preset or a TOML or JSON file (give two or more)
    #[arg(long = "policy", value_name = "FILE|PRESET", required = true)]
    policies: Vec<String>,

    #[command(flatten)]
    query: QueryArguments,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<Answer, Failure> {
    let policies = arguments.policies.iter().map(|name| policy::load(name));
    let policies = policies.collect::<Result<Vec<_>, _>>()?;
    let [first, _, ..] = policies.as_slice() else {
        return Err(Failure::cannot("compare needs two policies or more; repeat --policy"));
    };
    let Arguments { request, budget, query, .. } = arguments;
    let engine = engine(context, request, budget, query, first.clone())?;
    let input = arguments.input.read(request)?;
    let name = input.name();
    let comparison = engine.compare(input.text, &policies, &budget.scaled(query.options()?));
    let comparison = comparison.map_err(|error| Failure::of(&name, &error))?;
    let text = if arguments.json {
        json::pretty(&comparison)?
    } else {
        render(&comparison, context.palette)
    };
    output::print(&text)?;
    Ok(Answer::of(comparison.swings.is_empty()))
}

fn render(comparison: &Comparison, palette: Palette) -> String {
    let mut table = Table::new(vec![("policy", Side::Left), ("result", Side::Left)]);
    for summary in &comparison.policies {
        let name = Cell::styled(summary.policy.as_str(), style::strong());
        table.push(vec![name, select::summary(summary).into()]);
    }
    let screen = text::screen_width();
    let kept = table.render(screen, palette);
    if comparison.swings.is_empty() {
        return format!("{kept}\nthey keep the same\n");
    }
    let swings = counted(comparison.swings.len(), "swing");
    let heading = palette.strong(&format!("{swings} by policy"));
    format!("{kept}\n{heading}\n{}", table_of_swings(comparison).render(screen, palette))
}

fn table_of_swings(comparison: &Comparison) -> Table {
    let policies = comparison.policies.iter().map(|kept| (kept.policy.clone(), Side::Left));
    let mut columns = vec![("tokens".to_owned(), Side::Right)];
    columns.extend(policies);
    columns.push(("what".to_owned(), Side::Left));
    let mut table = Table::new(columns);
    for swing in &comparison.swings {
        let mut row: Vec<Cell> = vec![grouped(swing.part.tokens).into()];
        row.extend(swing.is_kept.iter().map(|is_kept| {
            if *is_kept { Cell::styled("in", style::strong()) } else { "out".into() }
        }));
        row.push(explain::what(&swing.part).into());
        table.push(row);
    }
    table
}
