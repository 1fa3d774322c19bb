//! `cupel simulate marginal`: what the last tokens buy.

use clap::Args;
use serde::Serialize;

use crate::cli::SelectionArguments;
use crate::error::{Answer, Failure};
use crate::render::number::{counted, grouped};
use crate::render::table::{Side, Table};
use crate::render::{json, text};
use crate::style::Palette;
use crate::work::{self, Work};
use crate::{budget, output, policy};

/// Shows what the last tokens of the budget buy
///
/// These are in the window, but would not be in one that is so much smaller.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cupel simulate marginal request.json --max 8000 --slack 1000")]
pub(super) struct Arguments {
    #[command(flatten)]
    selection: SelectionArguments,

    /// How many tokens less the smaller budget has
    #[arg(long, value_name = "TOKENS", value_parser = budget::parse_tokens)]
    slack: i64,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, palette: Palette) -> Result<Answer, Failure> {
    let selection = &arguments.selection;
    let policy = policy::load(&selection.policy.policy)?;
    let input = work::open(&selection.request)?;
    let request = work::parse(&input, selection.request.format)?;
    let work = Work::new(&request, &input, &selection.request)?.asked(&selection.policy.query);
    let budget = work.budget(&selection.budget, &policy)?;
    let slack = i32::try_from(arguments.slack).unwrap_or(i32::MAX);
    let pipeline = work.pipeline(&policy)?;
    let bought = pipeline
        .get_marginal_items(work.candidates.items(), &budget, slack)
        .map_err(|error| work.failed(error))?;
    let bought = work.candidates.positions(&bought);
    let text = if arguments.json {
        json::pretty(&Marginal::new(&work, arguments.slack, &bought))?
    } else {
        words(&work, arguments.slack, &bought, palette)
    };
    output::print(&text)?;
    Ok(Answer::Yes)
}

#[derive(Serialize)]
struct Marginal<'a> {
    slack_tokens: i64,
    tokens: i64,
    items: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    path: &'a str,
    label: String,
    tokens: i64,
}

impl<'a> Marginal<'a> {
    fn new(work: &'a Work<'_>, slack_tokens: i64, bought: &[usize]) -> Self {
        let row = |at: &usize| {
            let bundle = work.candidates.bundle(*at);
            let tokens = work.candidates.items()[*at].tokens();
            Row { path: bundle.path(), label: bundle.label(), tokens }
        };
        let items = bought.iter().map(row).collect();
        Self { slack_tokens, tokens: work.tokens_of(bought), items }
    }
}

fn words(work: &Work<'_>, slack: i64, bought: &[usize], palette: Palette) -> String {
    let slack = grouped(slack);
    if bought.is_empty() {
        return format!("the last {slack} tokens buy nothing\n");
    }
    let mut table = Table::new(vec![("tokens", Side::Right), ("what", Side::Left)]);
    for at in bought {
        let tokens = work.candidates.items()[*at].tokens();
        table.push(vec![grouped(tokens).into(), work.what(*at).into()]);
    }
    format!(
        "the last {slack} tokens buy {} of {} tokens\n\n{}",
        counted(bought.len(), "item"),
        grouped(work.tokens_of(bought)),
        table.render(text::screen_width(), palette),
    )
}
