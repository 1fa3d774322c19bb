//! `cupel tools`: which tools does a request define, and what do they cost?

use clap::Args;
use cupel_engine::{
    DEFAULT_POLICY, Engine, FittedTool, NamedPolicy, Options, ToolFate, ToolList, ToolMode,
    parse_tokens,
};

use super::Context;
use crate::batch::{self, BatchArguments, Job, Tally};
use crate::cli::{BudgetArguments, QueryArguments, RequestArguments, engine};
use crate::error::{Answer, Failure};
use crate::output;
use crate::render::number::grouped;
use crate::render::table::{Cell, Side, Table};
use crate::render::{json, text};
use crate::style::{self, Palette};

const EXAMPLES: &str = "\
Examples:
  cupel tools request.json
  cupel tools request.json --within 50%
  cupel tools requests.jsonl --lines --json
  cupel tools request.json --json | jq '.tools[] | select(.calls == 0) | .name'";

/// Lists the tools of a request, with what they cost and how often they are called
///
/// `short` is what a definition costs without what it only says to its reader: all but the first
/// sentence of its description, and descriptions, titles, examples and defaults in its schema.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    batch: BatchArguments,

    #[command(flatten)]
    request: RequestArguments,

    /// Tell what would become of each if all together may cost so much: tokens, or a share as in `50%`
    ///
    /// As where they take too much of a window; see --tools of `cupel select`.
    #[arg(long, value_name = "TOKENS", value_parser = parse_allowance)]
    within: Option<Allowance>,

    /// Let them make room with --within in this way: keep, shorten or choose; `choose` if absent
    #[arg(long, value_name = "HOW", requires = "within")]
    tools: Option<ToolMode>,

    /// Question that the tools are for with --within; if absent, what the user said last
    #[arg(long, value_name = "TEXT", requires = "within")]
    query: Option<String>,

    /// Print JSON; of many requests, a line each
    #[arg(long)]
    json: bool,
}

/// Tokens that all tools together may cost.
#[derive(Debug, Clone, Copy)]
enum Allowance {
    Tokens(i64),
    /// Of what they cost whole.
    Percent(i64),
}

fn parse_allowance(text: &str) -> Result<Allowance, String> {
    let Some(percent) = text.trim().strip_suffix('%') else {
        return parse_tokens(text).map(Allowance::Tokens);
    };
    let percent = percent.trim().parse().ok().filter(|percent| (0..=100).contains(percent));
    let wrong = || "not a share from 0% to 100%; write it as 50%".to_owned();
    percent.map(Allowance::Percent).ok_or_else(wrong)
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<Answer, Failure> {
    let policy = NamedPolicy::find(DEFAULT_POLICY).map_err(|error| Failure::of_settings(&error))?;
    let (budget, query) = (BudgetArguments::default(), QueryArguments::default());
    let engine = engine(context, &arguments.request, &budget, &query, policy)?;
    if !arguments.batch.is_single() {
        return many(arguments, context.palette, &engine);
    }
    let input = arguments.batch.single(arguments.request.format)?;
    let list = listed(arguments, &engine, &input.name(), &input.text)?;
    output::print(&if arguments.json {
        json::pretty(&list)?
    } else {
        render(&list, context.palette)
    })?;
    Ok(Answer::Yes)
}

fn many(arguments: &Arguments, palette: Palette, engine: &Engine) -> Result<Answer, Failure> {
    let list = |job: &Job| listed(arguments, engine, &job.name, &job.text);
    let mut tally = Tally::default();
    for (job, listed) in batch::answers(arguments.batch.jobs(arguments.request.format), list) {
        let text = match (tally.note(listed)?, job) {
            (Some(list), _) if arguments.json => json::line(&list)?,
            (Some(list), Some(job)) => {
                format!("{}\n{}\n", palette.strong(&job.name), render(&list, palette))
            }
            _ if arguments.json => "null\n".to_owned(),
            _ => continue,
        };
        output::print(&text)?;
    }
    tally.finish()
}

fn listed(
    arguments: &Arguments,
    engine: &Engine,
    name: &str,
    text: &str,
) -> Result<ToolList, Failure> {
    let mut options = Options::new();
    if let Some(query) = &arguments.query {
        options = options.query(query.as_str());
    }
    let mode = arguments.tools.unwrap_or(ToolMode::Choose);
    let prepared = engine.prepare(text, &options.tools(ToolMode::Keep));
    let prepared = prepared.map_err(|error| Failure::of(name, &error))?;
    Ok(match arguments.within {
        None => prepared.tools(),
        Some(Allowance::Tokens(tokens)) => prepared.tools_within(mode, tokens),
        Some(Allowance::Percent(percent)) => {
            let all = i128::from(prepared.tools().total_tokens) * i128::from(percent) / 100;
            prepared.tools_within(mode, i64::try_from(all).unwrap_or(i64::MAX))
        }
    })
}

fn render(list: &ToolList, palette: Palette) -> String {
    if list.tools.is_empty() {
        return "the request defines no tools\n".to_owned();
    }
    if !list.fitted.is_empty() {
        return render_fitted(list, palette);
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

fn render_fitted(list: &ToolList, palette: Palette) -> String {
    let mut table = fitted(&list.fitted);
    let now = list.fitted.iter().fold(list.shared_tokens, |sum, tool| sum + tool.tokens_after);
    let strong = |tokens: i64| Cell::styled(grouped(tokens), style::strong());
    let count = |fate: ToolFate| list.fitted.iter().filter(|tool| tool.fate == fate).count();
    let (shorter, out) = (count(ToolFate::Shortened), count(ToolFate::LeftOut));
    let all = format!("{} tools, {shorter} shorter, {out} left out", list.tools.len());
    table.push(vec![strong(list.total_tokens), strong(now), "".into(), "".into(), all.into()]);
    table.render(text::screen_width(), palette)
}

/// Fates of tools, one by one.
pub(crate) fn fitted(tools: &[FittedTool]) -> Table {
    let numbers = [("whole", Side::Right), ("now", Side::Right)];
    let texts = [("how", Side::Left), ("why", Side::Left), ("tool", Side::Left)];
    let mut table = Table::new([&numbers[..], &texts].concat());
    for tool in tools {
        let how = match (tool.fate, &tool.step) {
            (ToolFate::LeftOut, _) => "left out",
            (_, Some(step)) => step,
            (_, None) => "whole",
        };
        table.push(vec![
            grouped(tool.tokens_before).into(),
            grouped(tool.tokens_after).into(),
            how.into(),
            tool.why.as_str().into(),
            tool.name.as_str().into(),
        ]);
    }
    table
}
