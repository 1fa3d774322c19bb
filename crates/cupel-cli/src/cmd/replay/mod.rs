//! `cupel replay`: what policies would have kept of the requests in a log.

mod chart;
mod pages;
mod recommend;
mod report;
mod request_page;
pub(crate) mod run;

use std::path::PathBuf;

use clap::Args;
use cupel_eval::{Baseline, DataKind};
use cupel_replay::Promise;

use super::Context;
use crate::error::{Answer, Failure};
use crate::output::{self, Destination};
use crate::render::{json, text};
use run::ReplayArguments;

const EXAMPLES: &str = "\
Examples:
  cupel replay examples/logs/langfuse.json --max 500 --policy auto --policy chat
  cupel replay export.json --recommend
  cupel replay logs/ --max 4k,8k --session --html report
  cupel replay 'exports/*.parquet' --max 8k --output results.parquet
  cupel replay calls.jsonl.zst --columns request=body,response=answer --max 8k --json

The formats of logs are in docs/replay.md, with a sample of each in examples/logs.";

/// Replays the requests of a log: what policies would have kept, lost and cost
///
/// Reads requests and, where the log has them, their answers: raw requests, pairs of request and response,
/// exports of Langfuse, LangSmith, LiteLLM, Helicone, MLflow and Weave, spans of OpenTelemetry and
/// OpenInference, transcripts and trajectories of agents, lists of conversations; as JSON, JSON lines or
/// Parquet, plain, gzip or zstd. A row is recognised or refused. Rows are taken in the order of their times. What the next call or answer used (ids, paths, names, quoted
/// words) and what stood in the request must still be in the window: coverage is the share that is.
///
/// A row that is broken is named and counted, and the rest goes on; then the exit code is 2. It is 1 if there
/// is no request among the rows. Ctrl-C and SIGTERM end it early, with what has been replayed until then.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    replay: ReplayArguments,

    /// A baseline to measure beside the policies: newest, everything or clear-tool-results (repeatable)
    #[arg(long = "baseline", value_name = "NAME")]
    baselines: Vec<Baseline>,

    /// Find the smallest window that is safe, and say what it saves
    ///
    /// Safe is a window at which the next conversation keeps at least 95 % of the values that it uses, with 90 %
    /// confidence. The policy is chosen on one half of the conversations, and the window confirmed on the other.
    /// Without --max ten windows below the largest request are tried, anew and in a session.
    #[arg(long)]
    recommend: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Draw coverage over cost into this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Write a report into this folder, with a page for each of the worst requests
    #[arg(long, value_name = "FOLDER")]
    html: Option<PathBuf>,

    /// Write a row for each request into this file: Parquet if it is called so, otherwise JSON lines
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<Answer, Failure> {
    let mut settings = arguments.replay.settings(context)?;
    settings.baselines = baselines(&arguments.baselines)?;
    settings.details = arguments.output.is_some();
    if arguments.html.is_some() {
        settings.worst_text_bytes = pages::LARGEST_REQUEST;
    }
    let logs = arguments.replay.files()?;
    run::check_outputs(&logs, arguments.svg.iter().chain(&arguments.output))?;
    if let Some(folder) = &arguments.html {
        pages::prepare(folder)?;
    }
    let conduct = arguments.replay.conduct();
    if arguments.recommend && settings.budgets.is_empty() {
        if logs.iter().any(|log| log.as_os_str() == "-") {
            return Err(Failure::cannot("--recommend reads logs twice; name a file instead of `-`, or give --max"));
        }
        settings.session = true;
        settings.budgets = recommend::budgets(logs.clone(), &settings, conduct)?;
    }
    let mut replayed = run::replay(logs, settings, conduct, arguments.output.as_deref())?;
    if arguments.recommend {
        match replayed.summing.recommend(Promise::default()) {
            Ok(found) => replayed.summary.recommendation = Some(found),
            Err(none) => replayed.summary.no_recommendation = Some(none),
        }
    }
    // What cannot be written is told behind the figures, which are there.
    let mut written = Ok(());
    if let Some(path) = &arguments.svg {
        let chart = chart::of(&replayed.summary);
        written = Destination::new(Some(path), None).and_then(|file| file.write(&chart));
    }
    if let Some(folder) = &arguments.html {
        let logs = arguments.replay.logs.iter().map(|log| log.display().to_string()).collect::<Vec<_>>();
        let about = pages::About { logs: &logs, tokenizer: arguments.replay.tokenizer.as_deref() };
        written = written.and(pages::write(folder, &replayed, &about));
    }
    if arguments.json {
        output::print(&json::pretty(&replayed.summary)?)?;
    } else if !replayed.is_empty() {
        output::print(&report::render(&replayed.summary, text::screen_width(), context.palette))?;
    }
    written?;
    replayed.answer()
}

/// Those that a request can be measured with.
fn baselines(named: &[Baseline]) -> Result<Vec<Baseline>, Failure> {
    if let Some(other) = named.iter().find(|baseline| !baseline.is_for(DataKind::AgentRuns)) {
        let rule = "needs candidates whose evidence is known; there are newest, everything and clear-tool-results";
        return Err(Failure::cannot(format!("--baseline {}: {rule}", other.name())));
    }
    Ok(named.to_vec())
}
