//! `cupel simulate`: what other budgets would do.

mod curve;
mod marginal;
mod min_budget;

use clap::{Args, Subcommand};

use super::Context;
use crate::error::{Answer, Failure};

/// Tries other budgets on a request
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    question: Question,
}

#[derive(Debug, Subcommand)]
enum Question {
    Marginal(marginal::Arguments),
    MinBudget(min_budget::Arguments),
    Curve(curve::Arguments),
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<Answer, Failure> {
    match &arguments.question {
        Question::Marginal(arguments) => marginal::run(arguments, context),
        Question::MinBudget(arguments) => min_budget::run(arguments, context),
        Question::Curve(arguments) => curve::run(arguments, context),
    }
}
