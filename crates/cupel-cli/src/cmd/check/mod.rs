//! `cupel check`: whether policies still decide as a record says.

mod report;

use std::path::PathBuf;

use clap::Args;
use cupel_engine::Shorten;
use cupel_replay::{Checking, Record, Tolerances};

use super::replay::run::{self, ReplayArguments};
use super::{Context, record};
use crate::cli::Repairing;
use crate::error::{Answer, Failure};
use crate::input::Input;
use crate::output::{self, Destination};
use crate::rules;
use crate::settings::Settings as ConfigSettings;

const EXAMPLES: &str = "\
Examples:
  cupel check desk.record
  cupel check desk.record --coverage 1% --cost 5% --windows 10%
  cupel check desk.record --policy new.toml --junit check.xml --markdown summary.md
  cupel check desk.record --rules rules.txt
  cupel check desk.record --update

Paths of logs in the record are taken from where the command runs.";

/// Runs a record again, and fails if windows, coverage or cost moved
///
/// The policies are taken as they are now: a policy file that was changed, or another one with --policy.
/// What moved is listed request by request, those that lost a value first; what is beyond a tolerance makes
/// the exit code 1. Without tolerances no window may be another, no request may lose a value, coverage may
/// not fall, and cost may not rise.
/// With --rules no window may lose a message that states a rule.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The record
    #[arg(value_name = "RECORD")]
    record: PathBuf,

    /// Logs to read instead of those that the record names
    #[arg(value_name = "LOGS")]
    logs: Vec<PathBuf>,

    /// The policy to try instead of the recorded one: a preset or a file (repeatable, in their order)
    #[arg(long = "policy", value_name = "FILE|PRESET")]
    policies: Vec<String>,

    /// Share of windows that may change, as in `10%`
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "0%")]
    windows: f64,

    /// By how many points coverage may fall, as in `1%`
    #[arg(long, value_name = "POINTS", value_parser = share, default_value = "0%")]
    coverage: f64,

    /// By how much the cost may rise, as in `5%`
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "0%")]
    cost: f64,

    /// Number of requests that may lose a value that they had
    #[arg(long, value_name = "N", default_value_t = 0)]
    losses: usize,

    /// Standing rules that no window may lose: a file with one on each line, or a rule (repeatable)
    ///
    /// Empty lines and those that begin with `#` are passed over; what is no existing file is taken as a
    /// rule, even if it looks like a path. A message of the system or the user states a rule if it has
    /// the rule's words, white space and case aside. If one that a request has is not in its window, the
    /// exit code is 1, whatever the tolerances; the rules are looked for and not pinned.
    #[arg(long, value_name = "FILE|TEXT")]
    rules: Vec<String>,

    /// Write the result as JUnit XML into this file
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Write the result as Markdown into this file, as for the summary of a pull request
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,

    /// Write the record anew as things are now, and tell what moved
    #[arg(long)]
    update: bool,

    /// Number of threads; one for each core if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

/// `5%`, or `0.05`.
fn share(text: &str) -> Result<f64, String> {
    let (digits, scale) = match text.strip_suffix('%') {
        Some(digits) => (digits, 0.01),
        None => (text, 1.0),
    };
    let number: Option<f64> = digits.trim().parse().ok();
    let number = number.map(|number| number * scale).filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "must be a share within 0 and 1, as in 5% or 0.05".to_owned())
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<Answer, Failure> {
    if arguments.update && arguments.record.as_os_str() == "-" {
        return Err(Failure::cannot("--update writes the record anew; name its file instead of `-`"));
    }
    let input = Input::read(Some(&arguments.record))?;
    let named =
        |error: &dyn std::fmt::Display| Failure::cannot(format!("{}:{error}", input.name()));
    let before = Record::from_text(&input.text).map_err(|error| named(&error))?;
    let replay = replayed_as(arguments, &before).map_err(|error| named(&format!(" {error}")))?;
    // What is set here and now is no matter of the record's.
    let recorded = ConfigSettings::of_record(&arguments.record, &before.head.settings);
    let context = &Context { palette: context.palette, settings: recorded? };
    let mut settings = replay.settings(context)?;
    settings.rules = rules::of_flags(&arguments.rules)?;
    let ways = settings.ways();
    if !before.has_ways(&ways) {
        return Err(named(
            &" has windows of more or fewer policies; give as many --policy as it has",
        ));
    }
    let logs = replay.files().map_err(|error| absent(arguments, error))?;
    let outputs = || arguments.junit.iter().chain(&arguments.markdown);
    if let Some(path) = outputs().find(|path| output::is_same_file(path, &arguments.record)) {
        let text = format!("{}: is the record; name another file", path.display());
        return Err(Failure::CannotRun(text));
    }
    run::check_outputs(&logs, outputs())?;
    let mut checking = Checking::new(&before, &ways, &settings.rules);
    let (after, mut replayed) = record::record(&replay, logs, context, settings, |request| checking.add(request))?;
    if !replayed.summary.is_complete {
        return replayed.answer();
    }
    let Arguments { windows, coverage, cost, losses, .. } = *arguments;
    let report = checking.finish(Tolerances { windows, coverage, cost, losses });
    if let Some(path) = &arguments.junit {
        Destination::new(Some(path), None)?.write(&report::junit(&report))?;
    }
    if let Some(path) = &arguments.markdown {
        Destination::new(Some(path), None)?.write(&report::markdown(&report))?;
    }
    output::print(&report::text(&report))?;
    if arguments.update {
        Destination::new(Some(&arguments.record), None)?.write(&after.to_text())?;
        output::say(&format!("cupel: {}: written anew", arguments.record.display()));
        replayed.answer()?;
        // A new record is no remedy for a rule that is lost.
        return Ok(Answer::of(report.lost_rules.is_empty()));
    }
    replayed.answer()?;
    Ok(Answer::of(report.holds()))
}

/// Logs that the record names and that are elsewhere now.
fn absent(arguments: &Arguments, failure: Failure) -> Failure {
    let Failure::CannotRun(text) = failure else { return failure };
    if !arguments.logs.is_empty() {
        return Failure::CannotRun(text);
    }
    let record = arguments.record.display();
    Failure::cannot(format!(
        "{text}; {record} names it, seen from where the command runs: run it where that was recorded, \
         or say where the logs are now: cupel check {record} LOGS"
    ))
}

/// The record's own settings, with what the flags say otherwise.
fn replayed_as(arguments: &Arguments, record: &Record) -> Result<ReplayArguments, String> {
    let head = &record.head;
    let shorten = head
        .shorten
        .as_deref()
        .map(str::parse::<Shorten>)
        .transpose()
        .map_err(|error| error.to_string())?;
    let columns = head
        .columns
        .as_deref()
        .map(str::parse)
        .transpose()
        .map_err(|error: cupel_replay::InvalidColumns| error.to_string())?;
    let logs = if arguments.logs.is_empty() {
        head.logs.iter().map(PathBuf::from).collect()
    } else {
        arguments.logs.clone()
    };
    let mut policies: Vec<String> =
        head.policies.iter().map(|policy| policy.name.clone()).collect();
    if !arguments.policies.is_empty() {
        policies.clone_from(&arguments.policies);
    }
    Ok(ReplayArguments {
        logs,
        policies,
        max: head.max.clone(),
        session: head.session,
        shorten,
        tokenizer: head.tokenizer.clone(),
        columns,
        repair: head.repair.then_some(if head.repair_drops {
            Repairing::Drop
        } else {
            Repairing::Keep
        }),
        // It was trusted when it was recorded.
        trust: true,
        prices: None,
        sample: None,
        threads: arguments.threads,
    })
}
