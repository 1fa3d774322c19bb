//! `cupel simulate curve`: what each budget keeps.

use std::path::PathBuf;

use clap::Args;
use cupel_engine::{Curve, CurveRange, ErrorCode, parse_tokens};

use crate::cli::{BudgetArguments, FileArgument, PolicyArguments, RequestArguments, engine};
use crate::cmd::Context;
use crate::error::{Answer, Failure};
use crate::output::{self, Destination};
use crate::policy;
use crate::render::number::{grouped, grouped_count};
use crate::render::table::{Side, Table};
use crate::render::{csv, curve, json, svg, text};
use crate::style::Palette;

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
    input: FileArgument,

    #[command(flatten)]
    request: RequestArguments,

    #[command(flatten)]
    policy: PolicyArguments,

    /// The smallest budget; what is pinned if absent
    #[arg(long, value_name = "TOKENS", value_parser = parse_tokens)]
    from: Option<i64>,

    /// The largest budget; everything if absent
    #[arg(long, value_name = "TOKENS", value_parser = parse_tokens)]
    to: Option<i64>,

    /// Number of budgets to try, evenly spread
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

pub(super) fn run(arguments: &Arguments, context: &Context) -> Result<Answer, Failure> {
    let policy = policy::chosen(arguments.policy.policy.as_deref(), &context.settings)?;
    let (budget, query) = (BudgetArguments::default(), &arguments.policy.query);
    let engine = engine(context, &arguments.request, &budget, query, policy)?;
    let input = arguments.input.read(&arguments.request)?;
    let (name, path) = (input.name(), input.path.clone());
    let range = CurveRange::of_steps(arguments.steps).from(arguments.from).to(arguments.to);
    let curve = engine.curve(input.text, range, &query.options()?);
    let curve = curve.map_err(|error| match (error.code(), Failure::of(&name, &error)) {
        (ErrorCode::InvalidArgument, Failure::CannotRun(text)) => {
            Failure::CannotRun(format!("{text}; mend --from or --to"))
        }
        (_, failure) => failure,
    })?;
    if let Some(file) = &arguments.svg {
        let destination = Destination::new(Some(file), path.as_deref())?;
        destination.write(&svg::render(&curve))?;
    }
    let text = if arguments.json {
        json::pretty(&curve)?
    } else if arguments.csv {
        values(&curve)
    } else if arguments.svg.is_some() {
        return Ok(Answer::Yes);
    } else {
        drawing(&curve, context.palette)
    };
    output::print(&text)?;
    Ok(Answer::Yes)
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
    let falls = curve.points.windows(2).any(|pair| pair[1].score < pair[0].score);
    let why = if falls {
        "\nwhere the score falls, something larger took the place of several that score more together\n"
    } else {
        ""
    };
    let estimated = if curve.is_estimate { "\ntokens are estimates\n" } else { "" };
    let drawn = curve::render(curve, screen, palette);
    format!("{drawn}\n{}{why}{estimated}", table.render(screen, palette))
}
