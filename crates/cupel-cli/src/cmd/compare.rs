//! `cupel compare`: what swings between policies.

use clap::Args;
use cupel::{Policy, policy_sensitivity};
use serde::Serialize;

use crate::cli::{BudgetArguments, QueryArguments, RequestArguments};
use crate::error::{Answer, Failure};
use crate::output;
use crate::policy::{self, NamedPolicy};
use crate::render::number::{counted, grouped};
use crate::render::table::{Cell, Side, Table};
use crate::render::{json, text};
use crate::style::{self, Palette};
use crate::work::{self, Work};

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

pub(crate) fn run(arguments: &Arguments, palette: Palette) -> Result<Answer, Failure> {
    if arguments.policies.len() < 2 {
        return Err(Failure::cannot("compare needs two policies or more; repeat --policy"));
    }
    let policies = arguments.policies.iter().map(|name| policy::load(name));
    let policies = policies.collect::<Result<Vec<_>, _>>()?;
    let input = work::open(&arguments.request)?;
    let request = work::parse(&input, arguments.request.format)?;
    let work = Work::new(&request, &input, &arguments.request)?.asked(&arguments.query);
    // All are judged by one budget: the first that any of them brings, where flags give none.
    let with_budget = policies.iter().find(|policy| policy.description.budget.is_some());
    let budget = work.budget(&arguments.budget, with_budget.unwrap_or(&policies[0]))?;

    let pipelines = policies.iter().map(|policy| work.pipeline(policy));
    let pipelines = pipelines.collect::<Result<Vec<_>, _>>()?;
    let named = policies.iter().zip(&pipelines);
    let variants: Vec<(&str, &Policy)> =
        named.map(|(policy, pipeline)| (policy.name.as_str(), pipeline.policy())).collect();
    let report = policy_sensitivity(work.candidates.items(), &budget, &variants)
        .map_err(|error| work.failed(error))?;
    let kept: Vec<Vec<usize>> = report
        .variants
        .iter()
        .map(|(_, report)| {
            work.candidates.positions(report.included.iter().map(|included| &included.item))
        })
        .collect();
    let comparison = Comparison::new(&work, &policies, &kept);
    let text = if arguments.json {
        json::pretty(&comparison)?
    } else {
        let summaries = policies.iter().zip(&kept);
        let summaries =
            summaries.map(|(named, kept)| (named.name.as_str(), work.summary(kept, &budget)));
        comparison.render(summaries.collect(), palette)
    };
    output::print(&text)?;
    Ok(Answer::of(comparison.swings.is_empty()))
}

#[derive(Serialize)]
struct Comparison<'a> {
    policies: Vec<Kept<'a>>,
    swings: Vec<Swing<'a>>,
}

/// What one policy keeps.
#[derive(Serialize)]
struct Kept<'a> {
    policy: &'a str,
    messages: usize,
    tokens: i64,
}

/// A candidate on which policies disagree.
#[derive(Serialize)]
struct Swing<'a> {
    path: &'a str,
    label: String,
    tokens: i64,
    content: &'a str,
    #[serde(skip)]
    what: String,
    /// Whether each policy keeps it, in their order.
    is_kept: Vec<bool>,
}

impl<'a> Comparison<'a> {
    fn new(work: &'a Work<'_>, policies: &'a [NamedPolicy], kept: &[Vec<usize>]) -> Self {
        let items = work.candidates.items();
        let is_kept: Vec<Vec<bool>> = kept.iter().map(|kept| marked(kept, items.len())).collect();
        let policies = policies.iter().zip(kept).map(|(named, kept)| Kept {
            policy: &named.name,
            messages: work.candidates.message_count_of(kept),
            tokens: work.tokens_of(kept),
        });
        let swing = |at: usize| {
            let bundle = work.candidates.bundle(at);
            Swing {
                path: bundle.path(),
                label: bundle.label(),
                tokens: items[at].tokens(),
                content: items[at].content(),
                what: work.what(at),
                is_kept: is_kept.iter().map(|is_kept| is_kept[at]).collect(),
            }
        };
        let swings = (0..items.len()).map(swing).filter(Swing::is_swing).collect();
        Self { policies: policies.collect(), swings }
    }

    fn render(&self, summaries: Vec<(&str, String)>, palette: Palette) -> String {
        let mut table = Table::new(vec![("policy", Side::Left), ("result", Side::Left)]);
        for (name, summary) in summaries {
            table.push(vec![Cell::styled(name, style::strong()), summary.into()]);
        }
        let screen = text::screen_width();
        let kept = table.render(screen, palette);
        if self.swings.is_empty() {
            return format!("{kept}\nthey keep the same\n");
        }
        let heading = palette.strong(&format!("{} by policy", counted(self.swings.len(), "swing")));
        format!("{kept}\n{heading}\n{}", self.swings().render(screen, palette))
    }

    fn swings(&self) -> Table {
        let policies = self.policies.iter().map(|kept| (kept.policy.to_owned(), Side::Left));
        let mut columns = vec![("tokens".to_owned(), Side::Right)];
        columns.extend(policies);
        columns.push(("what".to_owned(), Side::Left));
        let mut table = Table::new(columns);
        for swing in &self.swings {
            let mut row: Vec<Cell> = vec![grouped(swing.tokens).into()];
            row.extend(swing.is_kept.iter().map(|is_kept| {
                if *is_kept { Cell::styled("in", style::strong()) } else { "out".into() }
            }));
            row.push(swing.what.clone().into());
            table.push(row);
        }
        table
    }
}

impl Swing<'_> {
    fn is_swing(&self) -> bool {
        self.is_kept.iter().any(|is_kept| *is_kept != self.is_kept[0])
    }
}

fn marked(positions: &[usize], len: usize) -> Vec<bool> {
    let mut is_marked = vec![false; len];
    for at in positions {
        is_marked[*at] = true;
    }
    is_marked
}
