//! `cupel validate`: would the provider accept this request?

use clap::Args;
use cupel_engine::{Engine, Format, RepairMode, Validation};

use super::Context;
use crate::batch::{self, BatchArguments, Job, Tally};
use crate::error::{Answer, Failure};
use crate::output;
use crate::render::json;
use crate::render::number::counted;

const EXAMPLES: &str = "\
Examples:
  cupel validate request.json
  cupel validate --repair=show request.json
  cupel validate --repair request.json > repaired.json
  cupel validate *.json";

/// Checks a request against the rules of its provider
///
/// Names each message, the rule that it breaks, and what to do. Exits with 1 if there is any.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    batch: BatchArguments,

    /// The format of the request; detected if absent
    #[arg(long, value_name = "NAME")]
    format: Option<Format>,

    /// Print what is wrong as JSON; of many requests, a line each
    #[arg(long, conflicts_with = "repair")]
    json: bool,

    /// Print the repaired request, and on stderr what was done
    ///
    /// Nothing is lost, unless with `drop`. With `show`, nothing is done: what would be, and what would be
    /// lost with `drop`, is printed.
    #[arg(long, value_name = "MODE", num_args = 0..=1, require_equals = true,
        default_missing_value = "keep", conflicts_with = "lines")]
    repair: Option<Repairing>,
}

/// What to do about a request that breaks rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Repairing {
    /// Repair it; nothing is lost
    Keep,
    /// Repair it, and drop what cannot be kept
    Drop,
    /// Say what would be done, and do nothing
    Show,
}

pub(crate) fn run(arguments: &Arguments, _: &Context) -> Result<Answer, Failure> {
    let mut builder = Engine::builder();
    if let Some(format) = arguments.format {
        builder = builder.format(format);
    }
    if arguments.repair == Some(Repairing::Drop) {
        builder = builder.repair_by(Some(RepairMode::Drop));
    }
    let engine = builder.build().map_err(|error| Failure::of_settings(&error))?;
    match (arguments.batch.is_single(), arguments.repair) {
        (true, Some(Repairing::Show)) => show(arguments, &engine),
        (true, Some(_)) => repair(arguments, &engine),
        (true, None) => one(arguments, &engine),
        (false, Some(_)) => Err(Failure::cannot("--repair is for one request; name one file")),
        (false, None) => many(arguments, &engine),
    }
}

fn one(arguments: &Arguments, engine: &Engine) -> Result<Answer, Failure> {
    let input = arguments.batch.single(arguments.format)?;
    let name = input.name();
    let validation = engine.validate(input.text).map_err(|error| Failure::of(&name, &error))?;
    let text =
        if arguments.json { json::pretty(&validation)? } else { words(&name, &validation) };
    output::print(&text)?;
    Ok(Answer::of(validation.is_valid))
}

fn many(arguments: &Arguments, engine: &Engine) -> Result<Answer, Failure> {
    let validate = |job: &Job| {
        let validation = engine.validate(job.text.as_str());
        validation.map_err(|error| Failure::of(&job.name, &error))
    };
    let mut tally = Tally::default();
    let mut are_valid = true;
    for (job, validation) in batch::answers(arguments.batch.jobs(arguments.format), validate) {
        let validation = tally.note(validation)?;
        are_valid &= validation.as_ref().is_none_or(|validation| validation.is_valid);
        let text = match (validation, job) {
            (Some(validation), _) if arguments.json => json::line(&validation)?,
            (Some(validation), Some(job)) => words(&job.name, &validation),
            _ if arguments.json => "null\n".to_owned(),
            _ => continue,
        };
        output::print(&text)?;
    }
    let answer = tally.finish()?;
    Ok(if are_valid { answer } else { Answer::No })
}

/// Prints the repaired request; what could not be repaired goes to stderr, and the answer is no.
fn repair(arguments: &Arguments, engine: &Engine) -> Result<Answer, Failure> {
    let input = arguments.batch.single(arguments.format)?;
    let name = input.name();
    let repaired = engine.repair(input.text).map_err(|error| Failure::of(&name, &error))?;
    for repair in &repaired.repairs {
        output::say(&format!("{name}: {repair}"));
    }
    for violation in &repaired.violations {
        output::say(&format!("{name}: still wrong: {violation}"));
    }
    for loss in &repaired.losses {
        output::say(&format!("{name}: with --repair=drop: {loss}"));
    }
    output::print_data(&repaired.text, cupel_names::readable_json)?;
    Ok(Answer::of(repaired.violations.is_empty()))
}

/// Prints what a repair would do.
fn show(arguments: &Arguments, engine: &Engine) -> Result<Answer, Failure> {
    let input = arguments.batch.single(arguments.format)?;
    let name = input.name();
    let repaired = engine.repair(input.text).map_err(|error| Failure::of(&name, &error))?;
    let keep = repaired.repairs.iter().map(|repair| format!("{name}: with --repair: {repair}\n"));
    let drop = repaired.losses.iter().map(|loss| format!("{name}: with --repair=drop: {loss}\n"));
    let lines: String = keep.chain(drop).collect();
    output::print(&if lines.is_empty() { format!("{name}: nothing to repair\n") } else { lines })?;
    Ok(Answer::of(repaired.violations.is_empty()))
}

fn words(name: &str, validation: &Validation) -> String {
    let Validation { format, violations, .. } = validation;
    if violations.is_empty() {
        return format!("{name}: a valid {format} request\n");
    }
    let count = counted(violations.len(), "problem");
    let total = format!("{name}: {count} in this {format} request\n");
    let lines = violations.iter().map(|violation| format!("{name}: {violation}\n"));
    lines.chain([total]).collect()
}
