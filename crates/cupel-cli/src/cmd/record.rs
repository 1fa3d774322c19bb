//! `cupel record`: writes down what policies decide on the requests of a log.

use std::path::PathBuf;

use clap::Args;
use cupel_replay::{Record, RecordHead, RecordedRequest, RequestOutcome, RowOutcome, Settings};

use super::Context;
use super::replay::run::{self, ReplayArguments, Replayed};
use crate::cli::Repairing;
use crate::error::{Answer, Failure};
use crate::output::{self, Destination};
use crate::render::number::counted;

const EXAMPLES: &str = "\
Examples:
  cupel record examples/logs/langfuse.json --max 500 --output desk.record
  cupel check desk.record
  cupel check desk.record --policy new.toml --coverage 1% --cost 5% --windows 10% --junit check.xml";

/// Writes down what policies decide on the requests of a log, for `cupel check`
///
/// A line for each request: what tells it again, the messages that stay, tokens, scores, and how much of
/// what was used is there. No texts, so it can stand beside the code; the same input gives the same bytes.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    replay: ReplayArguments,

    /// The file to write; stdout if absent
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<Answer, Failure> {
    let logs = arguments.replay.files()?;
    run::check_outputs(&logs, &arguments.output)?;
    let settings = arguments.replay.settings(context)?;
    let (record, mut replayed) = record(&arguments.replay, logs, context, settings, |_| ())?;
    if !replayed.summary.is_complete || replayed.summary.rows.requests == 0 {
        return replayed.answer();
    }
    let destination = Destination::new(arguments.output.as_deref(), None)?;
    destination.write(&record.to_text())?;
    let requests = counted(record.requests.len(), "request");
    output::say(&format!("cupel: recorded what was decided on {requests}"));
    replayed.answer()
}

/// Makes a record, and hands each request on.
pub(crate) fn record(
    arguments: &ReplayArguments,
    logs: Vec<PathBuf>,
    context: &Context,
    mut settings: Settings,
    mut each: impl FnMut(&RequestOutcome),
) -> Result<(Record, Replayed), Failure> {
    settings.details = true;
    let named = arguments.logs.iter().map(|path| path.display().to_string()).collect();
    let mut requests = Vec::new();
    let replayed = run::replay_with(logs, settings, arguments.conduct(), |outcomes| {
        for outcome in outcomes {
            if let RowOutcome::Request(request) = outcome {
                each(request);
                requests.push(RecordedRequest::of(request));
            }
        }
        Ok(())
    })?;
    let head = RecordHead {
        tokenizer: arguments.tokenizer.clone(),
        columns: arguments.columns.as_ref().map(ToString::to_string),
        repair: arguments.repair.is_some(),
        repair_drops: arguments.repair == Some(Repairing::Drop),
        settings: context.settings.recorded(),
        ..RecordHead::new(&replayed.settings, named)
    };
    Ok((Record { head, requests }, replayed))
}
