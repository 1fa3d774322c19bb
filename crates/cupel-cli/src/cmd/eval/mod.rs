//! `cupel eval`: how much of the evidence policies keep.

mod chart;
mod methods;
mod report;

use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use cupel_eval::{
    Baseline, Budgets, DataError, DataSet, Evaluation, Evaluator, Method, ReadOptions,
    RecordedSelections, available_threads, compare, summarize, write_selections,
};
use cupel_tokens::nearest_name;

use super::Context;
use crate::error::{Answer, Failure};
use crate::output::Destination;
use crate::progress::Progress;
use crate::render::{json, text};
use crate::style::Palette;
use crate::output;
use report::Report;

const EXAMPLES: &str = "\
Examples:
  cupel eval examples/eval/*.jsonl --policy auto --policy chat --budget 250,500
  cupel eval talks.jsonl.gz --policy mine.toml --baseline newest --baseline oracle --by category
  cupel eval talks.jsonl.gz --selections theirs.jsonl --json
  cupel eval talks.jsonl.gz --policy mine.toml --svg recall.svg --write mine.jsonl

The format of the data is in examples/eval/README.md.";

/// Measures how much of the evidence policies keep
///
/// The data has questions whose evidence is known. Each method answers each question with a
/// selection of the candidates; shown is how much of the evidence is in it: recall (the share that
/// is kept), full (how often all is) and coverage (the share of facts that are stated at least
/// once). Then methods are compared question by question: one is better or worse than another if the
/// 95 % interval of their difference leaves out 0 and at least six questions differ; if not, it is
/// unclear, as chance may do as much.
///
/// A method is called by the word by which it is asked for. Time stands still at each question's
/// newest candidate, so the same data give the same figures at any hour, on any number of threads.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Files of JSON lines, plain or gzip; a single `-` is stdin
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,

    /// A policy to measure: a preset or a TOML or JSON file (repeatable)
    #[arg(long = "policy", value_name = "FILE|PRESET", default_value = cupel_engine::DEFAULT_POLICY)]
    policies: Vec<String>,

    /// A baseline to measure beside them: newest, random or oracle (repeatable)
    ///
    /// `newest` keeps the newest candidates, `random` any; `oracle` knows the evidence and is the
    /// best that anybody can reach.
    #[arg(long = "baseline", value_name = "NAME")]
    baselines: Vec<Baseline>,

    /// A file with another program's selections to measure (repeatable)
    #[arg(long = "selections", value_name = "FILE")]
    selections: Vec<PathBuf>,

    /// The budgets, as in `250,500` or `1k,2k`
    ///
    /// If absent, those of the selections, or else 1000, 2000 and 4000 tokens.
    #[arg(long = "budget", alias = "budgets", value_name = "TOKENS", value_delimiter = ',')]
    #[arg(value_parser = cupel_engine::parse_tokens)]
    budgets: Vec<i64>,

    /// A set whose evidence is weighed by tokens where the data do not say how (repeatable)
    ///
    /// If absent, `qmsum`.
    #[arg(long, value_name = "SET")]
    by_tokens: Vec<String>,

    /// The method that the others are compared with; the first if absent
    #[arg(long, value_name = "METHOD")]
    reference: Option<String>,

    /// How finely to show figures: set or category
    #[arg(long, value_enum, value_name = "WHAT", default_value = "set")]
    #[arg(hide_possible_values = true)]
    by: Detail,

    /// How many threads to use; as many as there are cores if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// Print JSON, with all categories
    #[arg(long)]
    json: bool,

    /// Draw recall over budgets into this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Write what the first policy selects into this file, as --selections reads it
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
}

/// How finely figures are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Detail {
    /// For each set.
    Set,
    /// For each set and each of its categories.
    Category,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<Answer, Failure> {
    let policies = methods::policies(&arguments.policies)?;
    let data = read(arguments)?;
    let selections = methods::selections(&arguments.selections, &data)?;
    let budgets = budgets(&arguments.budgets, &selections)?;
    let methods = methods::all(&policies, &arguments.baselines, selections)?;
    let reference = reference(arguments.reference.as_deref(), &methods)?;

    let threads = arguments.threads.and_then(|count| NonZeroUsize::new(usize::from(count)));
    let threads = threads.unwrap_or_else(available_threads);
    let evaluation = evaluate(&Evaluator::new(budgets).threads(threads), &data, &methods)?;
    let report = Report {
        summary: summarize(&evaluation),
        reference: methods[reference].name(),
        differences: compare(&evaluation, reference, threads),
    };
    show(arguments, &evaluation, &report, context.palette)?;
    Ok(Answer::Yes)
}

fn read(arguments: &Arguments) -> Result<DataSet, Failure> {
    let mut options = ReadOptions::default();
    if !arguments.by_tokens.is_empty() {
        options.by_tokens.clone_from(&arguments.by_tokens);
    }
    let data = match arguments.data.as_slice() {
        [only] if only == Path::new("-") => DataSet::read("stdin", io::stdin().lock(), &options),
        files => DataSet::read_files(files, &options),
    };
    data.map_err(|error: DataError| Failure::cannot(error))
}

fn budgets(
    named: &[i64],
    selections: &[(String, RecordedSelections<'_>)],
) -> Result<Budgets, Failure> {
    let recorded = selections.iter().flat_map(|(_, selections)| selections.budgets());
    let budgets = match (named, selections) {
        ([], []) => Ok(Budgets::default()),
        ([], _) => Budgets::new(recorded),
        (named, _) => Budgets::new(named.iter().copied()),
    };
    budgets.map_err(|error| Failure::cannot(format!("--budget: {error}")))
}

/// The position of the method that the others are compared with.
fn reference(named: Option<&str>, methods: &[Method<'_>]) -> Result<usize, Failure> {
    let Some(name) = named else { return Ok(0) };
    methods.iter().position(|method| method.name() == name).ok_or_else(|| {
        let names = methods.iter().map(Method::name);
        let hint = match nearest_name(name, names.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("measured are {}", names.collect::<Vec<_>>().join(", ")),
        };
        Failure::cannot(format!("--reference: no method is called `{name}`; {hint}"))
    })
}

fn evaluate<'d>(
    evaluator: &Evaluator,
    data: &'d DataSet,
    methods: &[Method<'_>],
) -> Result<Evaluation<'d>, Failure> {
    let steps = data.query_count().saturating_mul(methods.len());
    let progress = Progress::of_steps("answers", steps);
    let evaluation = evaluator.run_with_progress(data, methods, |_| progress.advance(1));
    progress.finish();
    evaluation.map_err(Failure::cannot)
}

/// Writes the files that were asked for, and prints what is left to say.
fn show(
    arguments: &Arguments,
    evaluation: &Evaluation<'_>,
    report: &Report<'_>,
    palette: Palette,
) -> Result<(), Failure> {
    if let Some(path) = &arguments.write {
        destination(path, arguments)?.write(&written(evaluation)?)?;
    }
    if let Some(path) = &arguments.svg {
        destination(path, arguments)?.write(&chart::render(&report.summary))?;
    }
    if arguments.json {
        output::print(&json::pretty(report)?)
    } else if arguments.svg.is_none() {
        let is_by_category = arguments.by == Detail::Category;
        output::print(&report.render(is_by_category, text::screen_width(), palette))
    } else {
        Ok(())
    }
}

/// A file that is none of those that were read.
fn destination(path: &Path, arguments: &Arguments) -> Result<Destination, Failure> {
    let existing = path.canonicalize().ok();
    let is_it = |input: &PathBuf| existing.is_some() && input.canonicalize().ok() == existing;
    if arguments.data.iter().chain(&arguments.selections).any(is_it) {
        let text = format!("{}: is one of the inputs; name another file", path.display());
        return Err(Failure::CannotRun(text));
    }
    Destination::new(Some(path), None)
}

/// The selections of the first policy, which is the first method.
fn written(evaluation: &Evaluation<'_>) -> Result<String, Failure> {
    let mut lines = Vec::new();
    let written = write_selections(evaluation, 0, &mut lines);
    written.map_err(|error| Failure::writing("selections", &error))?;
    String::from_utf8(lines).map_err(Failure::cannot)
}
