//! `cupel eval`: how much of what is needed policies keep.

mod agent_report;
mod agents;
pub(crate) mod chart;
mod comparison;
mod methods;
mod pool_report;
mod pools;
mod vectors;

use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use cupel_engine::Shorten;
use cupel_eval::{Baseline, Budgets, DataKind, available_threads};

use super::Context;
use crate::error::{Answer, Failure};
use crate::output::Destination;
use crate::output;

/// What messages call the standard input.
const STDIN: &str = "stdin";

const EXAMPLES: &str = "\
Examples:
  cupel eval examples/eval/*.jsonl --policy auto --policy chat --budget 250,500
  cupel eval talks.jsonl.gz --policy mine.toml --baseline newest --baseline oracle --by category
  cupel eval talks.jsonl.gz --selections theirs.jsonl --json
  cupel eval talks.jsonl.gz --policy mine.toml --svg recall.svg --write mine.jsonl
  cupel eval examples/eval/runs/*.jsonl --policy auto --policy chat --write windows.jsonl
  cupel eval examples/eval/runs/*.jsonl --session --baseline clear-tool-results --svg costs.svg

The formats of the data are in examples/eval/README.md.";

/// Measures how much of what is needed policies keep
///
/// The data are of one of two kinds, which is seen from the first line. Pools have questions whose
/// evidence is known. Each method answers each question with a selection of the candidates; shown is
/// how much of the evidence is in it: recall (the share that is kept), full (how often all is) and
/// coverage (the share of facts that are stated at least once).
///
/// Runs of agents are requests that grow. At each step each method trims the request; shown is how
/// many of the values that the next call used are still there (coverage), which windows a provider
/// would refuse, lack the newest message or exceed the budget, and how many tokens are not in the
/// provider's cache, because they stand behind the common beginning with the window before. What
/// that costs is shown by three rules of what providers ask for cached and for other tokens.
///
/// Then methods are compared question by question, or run by run: one is better or worse than
/// another if the 95 % interval of their difference leaves out 0 and at least six questions or runs
/// differ; if not, it is unclear, as chance may do as much.
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

    /// A baseline to measure beside them, as in `newest` (repeatable)
    ///
    /// For pools: `newest` keeps the newest candidates, `random` any; `oracle` knows the evidence
    /// and is the best that anybody can reach. For runs of agents: `newest`; `everything` sends all,
    /// whatever the budget; `clear-tool-results` replaces all results but the last three by a note
    /// when the budget is over, and drops the oldest messages if that is not enough.
    #[arg(long = "baseline", value_name = "NAME")]
    baselines: Vec<Baseline>,

    /// A file with another program's selections, or windows of runs, to measure (repeatable)
    #[arg(long = "selections", value_name = "FILE")]
    selections: Vec<PathBuf>,

    /// Measure each policy in a session too, whose windows keep the prompt cache
    ///
    /// For runs of agents.
    #[arg(long)]
    session: bool,

    /// Measure each policy with shorter results of tools too: json or all
    ///
    /// For runs of agents. Beside it stands the same with everything in or out as a whole.
    #[arg(long, value_name = "WHAT")]
    shorten: Option<Shorten>,

    /// The budgets, as in `250,500` or `1k,2k`
    ///
    /// If absent, those of the selections, or else 1000, 2000 and 4000 tokens. For runs of agents:
    /// beyond the head of the run, which is its system message unless the run says otherwise.
    #[arg(long = "budget", alias = "budgets", value_name = "TOKENS", value_delimiter = ',')]
    #[arg(value_parser = cupel_engine::parse_tokens)]
    budgets: Vec<i64>,

    /// A set whose evidence is weighed by tokens where the data do not say how (repeatable)
    ///
    /// If absent, `qmsum`.
    #[arg(long, value_name = "SET")]
    by_tokens: Vec<String>,

    /// How the tokens of runs are counted; `cl100k_base` if absent
    ///
    /// One of `o200k_base`, `cl100k_base`, `estimate`, or the path of a `tokenizer.json`.
    #[arg(long, value_name = "NAME|PATH")]
    tokenizer: Option<String>,

    /// Vectors of the items and questions of pools, as JSON lines
    ///
    /// `{"pool": "talk/1", "items": [[0.1, …], null, …], "queries": {"q1": […]}}`. Made by an
    /// embedding model of your choice; what has none is judged by its words.
    #[arg(long, value_name = "FILE")]
    vectors: Option<PathBuf>,

    /// The method that the others are compared with; the first if absent
    #[arg(long, value_name = "METHOD")]
    reference: Option<String>,

    /// Level of detail of the figures: set or category
    #[arg(long, value_enum, value_name = "WHAT", default_value = "set")]
    #[arg(hide_possible_values = true)]
    by: Detail,

    /// Number of threads; one for each core if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// Print JSON, with all categories
    #[arg(long)]
    json: bool,

    /// Draw recall over budgets, or coverage of runs over what they cost, into this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Write what the first policy selects, or its windows, into this file, as --selections reads it
    ///
    /// With --session its windows in a session.
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

impl Arguments {
    fn threads(&self) -> NonZeroUsize {
        let named = self.threads.and_then(|count| NonZeroUsize::new(usize::from(count)));
        named.unwrap_or_else(available_threads)
    }

    /// The budgets that are named, or those of what other programs selected.
    fn budgets(&self, recorded: Vec<i64>) -> Result<Budgets, Failure> {
        let budgets = match (&self.budgets[..], recorded.is_empty()) {
            ([], true) => Ok(Budgets::default()),
            ([], false) => Budgets::new(recorded),
            (named, _) => Budgets::new(named.iter().copied()),
        };
        budgets.map_err(|error| Failure::cannot(format!("--budget: {error}")))
    }

    /// The selections, if they are to be written.
    fn written(
        &self,
        write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
    ) -> Result<Option<String>, Failure> {
        if self.write.is_none() {
            return Ok(None);
        }
        let mut lines = Vec::new();
        write(&mut lines).map_err(|error| Failure::writing("selections", &error))?;
        String::from_utf8(lines).map(Some).map_err(Failure::cannot)
    }
}

/// Where the data are.
enum Source<'a> {
    Stdin(Vec<u8>),
    Files(&'a [PathBuf]),
}

impl Source<'_> {
    fn of(files: &[PathBuf]) -> Result<Source<'_>, Failure> {
        match files {
            [only] if only == Path::new("-") => {
                let mut bytes = Vec::new();
                let read = io::stdin().lock().read_to_end(&mut bytes);
                read.map_err(|error| Failure::cannot(format!("{STDIN}: cannot read: {error}")))?;
                Ok(Source::Stdin(bytes))
            }
            files => Ok(Source::Files(files)),
        }
    }

    /// What all files hold.
    fn kind(&self) -> Result<DataKind, Failure> {
        let files = match self {
            Self::Stdin(bytes) => return DataKind::of_bytes(STDIN, bytes).map_err(Failure::cannot),
            Self::Files(files) => files.iter(),
        };
        let kinds: Result<Vec<DataKind>, _> = files.clone().map(DataKind::of_file).collect();
        let kinds = kinds.map_err(Failure::cannot)?;
        match files.zip(&kinds).find(|(_, kind)| **kind != kinds[0]) {
            None => Ok(kinds[0]),
            Some((file, _)) => Err(Failure::cannot(format!(
                "{}: pools and runs of agents are measured in different ways; measure each by \
                 itself",
                file.display()
            ))),
        }
    }
}

/// All that may be asked for.
struct Output {
    /// What is written into a file, if one is named.
    selections: Option<String>,
    chart: String,
    json: String,
    tables: String,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<Answer, Failure> {
    let palette = context.palette;
    let source = Source::of(&arguments.data)?;
    let output = match source.kind()? {
        DataKind::AgentRuns => agents::measure(arguments, &source, palette)?,
        _ => pools::measure(arguments, &source, palette)?,
    };
    show(arguments, &output)?;
    Ok(Answer::Yes)
}

/// Writes the files that were asked for, and prints what is left to say.
fn show(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    if let (Some(path), Some(selections)) = (&arguments.write, &output.selections) {
        destination(path, arguments)?.write(selections)?;
    }
    if let Some(path) = &arguments.svg {
        destination(path, arguments)?.write(&output.chart)?;
    }
    if arguments.json {
        output::print(&output.json)
    } else if arguments.svg.is_none() {
        output::print(&output.tables)
    } else {
        Ok(())
    }
}

/// A file that is none of those that were read.
fn destination(path: &Path, arguments: &Arguments) -> Result<Destination, Failure> {
    let existing = path.canonicalize().ok();
    let is_it = |input: &PathBuf| existing.is_some() && input.canonicalize().ok() == existing;
    let inputs = arguments.data.iter().chain(&arguments.selections).chain(&arguments.vectors);
    if inputs.into_iter().any(is_it) {
        let text = format!("{}: is one of the inputs; name another file", path.display());
        return Err(Failure::CannotRun(text));
    }
    Destination::new(Some(path), None)
}
