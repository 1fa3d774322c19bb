//! `cupel simulate min-budget`: the smallest budget for an item.

use clap::Args;
use serde::Serialize;

use crate::cli::{PolicyArguments, RequestArguments};
use crate::error::{Answer, Failure};
use crate::render::json;
use crate::render::number::grouped;
use crate::shortfall::Simulation;
use crate::work::{self, Work};
use crate::{output, policy};

/// Finds the smallest budget that keeps a message
///
/// Tries budgets with nothing reserved: add what you reserve. Exits with 1 if no budget keeps it.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cupel simulate min-budget request.json --item 12")]
pub(super) struct Arguments {
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

pub(super) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let policy = policy::load(&arguments.policy.policy)?;
    let input = work::open(&arguments.request)?;
    let request = work::parse(&input, arguments.request.format)?;
    let work = Work::new(&request, &input, &arguments.request)?.asked(&arguments.policy.query);
    let position = position(&work, arguments.item)?;
    let pipeline = work.pipeline(&policy)?;
    let smallest = Simulation::new(&pipeline, work.candidates.items())
        .and_then(|simulation| simulation.min_budget(position))
        .map_err(|error| work.failed(error))?;
    let bundle = work.candidates.bundle(position);
    let text = if arguments.json {
        json::pretty(&Smallest {
            path: bundle.path(),
            label: bundle.label(),
            tokens: work.candidates.items()[position].tokens(),
            min_budget: smallest,
        })?
    } else {
        words(&bundle.label(), smallest, work.candidates.total_tokens())
    };
    output::print(&text)?;
    Ok(Answer::of(smallest.is_some()))
}

fn words(label: &str, smallest: Option<i64>, all: i64) -> String {
    if let Some(tokens) = smallest {
        format!("{label}: in from {} tokens on\n", grouped(tokens))
    } else {
        format!("{label}: no budget up to all {} tokens keeps it\n", grouped(all))
    }
}

#[derive(Serialize)]
struct Smallest<'a> {
    path: &'a str,
    label: String,
    tokens: i64,
    min_budget: Option<i64>,
}

/// The candidate that holds the message.
fn position(work: &Work<'_>, message: usize) -> Result<usize, Failure> {
    let holds = |at: &usize| work.candidates.bundle(*at).message_indices().contains(&message);
    (0..work.candidates.items().len()).find(holds).ok_or_else(|| {
        let count = work.request.message_count();
        Failure::cannot(format!(
            "--item {message}: {} has only {count} messages, counted from 0",
            work.name
        ))
    })
}
