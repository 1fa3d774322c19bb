//! `cupel simulate curve`: what each budget keeps.

use std::path::PathBuf;

use clap::Args;
use cupel::{ContextBudget, ContextItem, CupelError, Pipeline, PlacedItem};

use crate::cli::{PolicyArguments, RequestArguments};
use crate::error::{Answer, Failure};
use crate::output::Destination;
use crate::progress::Progress;
use crate::render::curve::{Curve, Point};
use crate::render::number::{grouped, grouped_count};
use crate::render::table::{Side, Table};
use crate::render::{csv, curve, json, svg, text};
use crate::style::Palette;
use crate::work::{self, Work};
use crate::{budget, output, policy};

const EXAMPLES: &str = "\
Examples:
  cupel simulate curve request.json
  cupel simulate curve request.json --from 1000 --to 16k --steps 16 --csv
  cupel simulate curve request.json --svg curve.svg";

/// Shows what each budget keeps: tokens, messages, and the share of the score
///
/// Tries budgets with nothing reserved.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    request: RequestArguments,

    #[command(flatten)]
    policy: PolicyArguments,

    /// The smallest budget; what is pinned if absent
    #[arg(long, value_name = "TOKENS", value_parser = budget::parse_tokens)]
    from: Option<i64>,

    /// The largest budget; everything if absent
    #[arg(long, value_name = "TOKENS", value_parser = budget::parse_tokens)]
    to: Option<i64>,

    /// How many budgets to try, evenly spread
    #[arg(long, value_name = "N", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(u16).range(2..=10_000))]
    steps: u16,

    /// Print JSON
    #[arg(long, conflicts_with = "csv")]
    json: bool,

    /// Print comma-separated values
    #[arg(long)]
    csv: bool,

    /// Draw a picture into this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments, palette: Palette) -> Result<Answer, Failure> {
    let policy = policy::load(&arguments.policy.policy)?;
    let input = work::open(&arguments.request)?;
    let request = work::parse(&input, arguments.request.format)?;
    let work = Work::new(&request, &input, &arguments.request)?.asked(&arguments.policy.query);
    let budgets = budgets(arguments, &work)?;
    let curve = trace(&work, &work.pipeline(&policy)?, &budgets)?;
    if let Some(path) = &arguments.svg {
        let destination = Destination::new(Some(path), input.path.as_deref())?;
        destination.write(&svg::render(&curve))?;
    }
    let text = if arguments.json {
        json::pretty(&curve)?
    } else if arguments.csv {
        values(&curve)
    } else if arguments.svg.is_some() {
        return Ok(Answer::Yes);
    } else {
        drawing(&curve, palette)
    };
    output::print(&text)?;
    Ok(Answer::Yes)
}

/// Evenly spread, both ends included.
fn budgets(arguments: &Arguments, work: &Work<'_>) -> Result<Vec<i64>, Failure> {
    let pinned = work.candidates.items().iter().filter(|item| item.pinned());
    let pinned = pinned.fold(0_i64, |sum, item| sum.saturating_add(item.tokens().max(0)));
    let from = arguments.from.unwrap_or(pinned);
    let to = arguments.to.unwrap_or(work.candidates.total_tokens().max(from));
    if from > to {
        let text = format!("--from {from} must not exceed --to {to}");
        return Err(Failure::CannotRun(text));
    }
    let last = i128::from(arguments.steps) - 1;
    let width = i128::from(to) - i128::from(from);
    let step = |at: i128| i128::from(from) + width * at / last;
    let mut budgets: Vec<i64> = (0..=last).map(|at| step(at) as i64).collect();
    budgets.dedup();
    Ok(budgets)
}

/// Ranks once, and fills the window of each budget.
fn trace(work: &Work<'_>, pipeline: &Pipeline, budgets: &[i64]) -> Result<Curve, Failure> {
    let failed = |error| work.failed(error);
    let items = work.candidates.items();
    let ranking = pipeline.rank(items).map_err(failed)?;
    let all_scores = match budgets.last() {
        Some(largest) => all_scores(pipeline, items, *largest).map_err(failed)?,
        None => 0.0,
    };
    let progress = Progress::of_steps("budgets", budgets.len());
    let mut points = Vec::with_capacity(budgets.len());
    for budget in budgets {
        let window = plain(*budget).and_then(|budget| fits(ranking.window(&budget)));
        points.push(point(work, *budget, window.map_err(failed)?, all_scores));
        progress.advance(1);
    }
    progress.finish();
    Ok(Curve {
        total_tokens: work.candidates.total_tokens(),
        total_items: items.len(),
        total_messages: work.request.message_count(),
        points,
    })
}

fn plain(tokens: i64) -> Result<ContextBudget, CupelError> {
    ContextBudget::builder(tokens).build()
}

/// A budget that is too small for what is pinned is an answer, not an error.
fn fits<T>(result: Result<T, CupelError>) -> Result<Option<T>, CupelError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(CupelError::PinnedExceedsBudget { .. } | CupelError::Overflow { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// What all candidates score together, whether a window of this budget holds them or not.
fn all_scores(pipeline: &Pipeline, items: &[ContextItem], budget: i64) -> Result<f64, CupelError> {
    let report = fits(pipeline.dry_run(items, &plain(budget)?))?.unwrap_or_default();
    let kept = report.included.iter().map(|included| included.score);
    Ok(kept.chain(report.excluded.iter().map(|excluded| excluded.score)).sum())
}

fn point(work: &Work<'_>, budget: i64, window: Option<Vec<PlacedItem>>, all_scores: f64) -> Point {
    let fits = window.is_some();
    let window = window.unwrap_or_default();
    let kept: Vec<usize> = window.iter().map(|placed| placed.position).collect();
    let kept_scores = window.iter().fold(0.0, |sum, placed| sum + placed.score);
    Point {
        budget,
        fits,
        tokens: work.tokens_of(&kept),
        items: kept.len(),
        messages: work.candidates.message_count_of(&kept),
        score: if all_scores > 0.0 { kept_scores / all_scores } else { 0.0 },
    }
}

fn values(curve: &Curve) -> String {
    let rows: Vec<Vec<String>> = curve
        .points
        .iter()
        .map(|point| {
            vec![
                point.budget.to_string(),
                point.fits.to_string(),
                point.tokens.to_string(),
                point.items.to_string(),
                point.messages.to_string(),
                format!("{:.6}", point.score),
            ]
        })
        .collect();
    csv::rows(&["budget", "fits", "tokens", "items", "messages", "score"], &rows)
}

fn drawing(curve: &Curve, palette: Palette) -> String {
    let screen = text::screen_width();
    let mut table = Table::new(vec![
        ("budget", Side::Right),
        ("tokens", Side::Right),
        ("items", Side::Right),
        ("messages", Side::Right),
        ("score", Side::Right),
    ]);
    for point in &curve.points {
        let score = if point.fits {
            format!("{:.1} %", point.score * 100.0)
        } else {
            "does not fit".to_owned()
        };
        table.push(vec![
            grouped(point.budget).into(),
            grouped(point.tokens).into(),
            grouped_count(point.items).into(),
            grouped_count(point.messages).into(),
            score.into(),
        ]);
    }
    format!("{}\n{}", curve::render(curve, screen, palette), table.render(screen, palette))
}
