//! `cupel simulate min-budget`: the smallest budget for an item.

use clap::Args;
use cupel_engine::MinBudget;

use crate::cli::{BudgetArguments, FileArgument, PolicyArguments, RequestArguments, engine};
use crate::cmd::Context;
use crate::error::{Answer, Failure};
use crate::render::json;
use crate::render::number::grouped;
use crate::{output, policy};

/// Finds the smallest budget that keeps a message
///
/// Tries all budgets, with nothing reserved: add what you reserve. Exits with 1 if none keeps it.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cupel simulate min-budget request.json --item 12")]
pub(super) struct Arguments {
    #[command(flatten)]
    input: FileArgument,

    #[command(flatten)]
    request: RequestArguments,

    #[command(flatten)]
    policy: PolicyArguments,

    /// The index of the message or item, from 0
    #[arg(long, value_name = "INDEX")]
    item: usize,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, context: &Context) -> Result<Answer, Failure> {
    let policy = policy::chosen(arguments.policy.policy.as_deref(), &context.settings)?;
    let (budget, query) = (BudgetArguments::default(), &arguments.policy.query);
    let engine = engine(context, &arguments.request, &budget, query, policy)?;
    let input = arguments.input.read(&arguments.request)?;
    let name = input.name();
    let found = engine.min_budget(input.text, arguments.item, &query.options()?);
    let found = found.map_err(|error| Failure::of(&name, &error))?;
    output::print(&if arguments.json { json::pretty(&found)? } else { words(&found) })?;
    Ok(Answer::of(found.min_budget.is_some()))
}

fn words(found: &MinBudget) -> String {
    let label = found.part.label();
    let Some(tokens) = found.min_budget else {
        let all = grouped(found.total_tokens);
        return format!("{label}: no budget up to all {all} tokens keeps it\n");
    };
    let tokens = grouped(tokens);
    let from = if found.is_exact { "in from" } else { "in by" };
    let estimated = if found.is_estimate { " (estimated)" } else { "" };
    match found.out_again_at {
        None => format!("{label}: {from} {tokens} tokens on{estimated}\n"),
        Some(lost) => {
            let lost = grouped(lost);
            format!("{label}: {from} {tokens} tokens on, but out again at {lost}{estimated}\n")
        }
    }
}
