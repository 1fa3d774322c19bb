//! `cupel tools`: which tools does a request define, and what do they cost?

use clap::Args;
use cupel_engine::{DEFAULT_POLICY, NamedPolicy, Options, ToolList};

use super::Context;
use crate::cli::{BudgetArguments, FileArgument, QueryArguments, RequestArguments, engine};
use crate::error::{Answer, Failure};
use crate::output;
use crate::render::number::grouped;
use crate::render::table::{Cell, Side, Table};
use crate::render::{json, text};
use crate::style::{self, Palette};

const EXAMPLES: &str = "\
Examples:
  cupel tools request.json
  cupel tools request.json --json | jq '.tools[] | select(.calls == 0) | .name'";

/// Lists the tools of a request, with what they cost and how often they are called
///
/// `short` is what a definition costs without what it only says to its reader: all but the first
/// sentence of its description, and descriptions, titles, examples and defaults in its schema.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    file: FileArgument,

    #[command(flatten)]
    request: RequestArguments,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<Answer, Failure> {
    let policy = NamedPolicy::find(DEFAULT_POLICY).map_err(|error| Failure::of_settings(&error))?;
    let (budget, query) = (BudgetArguments::default(), QueryArguments::default());
    let engine = engine(context, &arguments.request, &budget, &query, policy)?;
    let input = arguments.file.read(&arguments.request)?;
    let name = input.name();
    let list = engine.tools(input.text, &Options::new());
    let list = list.map_err(|error| Failure::of(&name, &error))?;
    output::print(&if arguments.json {
        json::pretty(&list)?
    } else {
        render(&list, context.palette)
    })?;
    Ok(Answer::Yes)
}

fn render(list: &ToolList, palette: Palette) -> String {
    if list.tools.is_empty() {
        return "the request defines no tools\n".to_owned();
    }
    let columns = [("tokens", Side::Right), ("short", Side::Right), ("called", Side::Right)];
    let mut table = Table::new([&columns[..], &[("tool", Side::Left)]].concat());
    for tool in &list.tools {
        let called = if tool.calls == 0 { String::new() } else { tool.calls.to_string() };
        let (tokens, short) = (grouped(tool.tokens), grouped(tool.short_tokens));
        table.push(vec![tokens.into(), short.into(), called.into(), tool.name.as_str().into()]);
    }
    if list.shared_tokens > 0 {
        let shared = grouped(list.shared_tokens);
        table.push(vec![shared.clone().into(), shared.into(), "".into(), "(once for all)".into()]);
    }
    let share = 100.0 * list.total_tokens as f64 / list.request_tokens.max(1) as f64;
    let estimated = if list.is_estimate { " (estimated)" } else { "" };
    let strong = |tokens: i64| Cell::styled(grouped(tokens), style::strong());
    let never = list.tools.iter().filter(|tool| tool.calls == 0).count();
    let all = format!(
        "{} tools, {never} never called: {share:.0} % of the request{estimated}",
        list.tools.len()
    );
    table.push(vec![strong(list.total_tokens), strong(list.short_tokens), "".into(), all.into()]);
    table.render(text::screen_width(), palette)
}
