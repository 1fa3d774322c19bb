//! `cupel select`: request in, request out.

use std::path::{Path, PathBuf};

use clap::Args;
use cupel_engine::{
    Engine, FittedTool, MarkRule, NewAccount, Options, Outdated, RepairDone, SessionSettings, SessionStep, Step, Summary,
    ToolFate, TranscriptKind, UnusedRendering,
};

use super::Context;
use crate::batch::{self, BatchArguments, Job, Tally};
use crate::cli::SelectionArguments;
use crate::error::{Answer, Failure};
use crate::input::Input;
use crate::output::{self, Destination};
use crate::render::json;
use crate::render::number::{counted, grouped, grouped_count};
use crate::session::{SessionArguments, SessionFile};

const EXAMPLES: &str = "\
Examples:
  cupel select request.json --max 8000 > shorter.json
  cupel select --model gpt-4o --policy tool-use < request.json | jq .messages
  cupel select request.json --max 8000 --report why.json -o shorter.json
  cupel select requests.jsonl --lines --max 8000 > shorter.jsonl
  cupel select history.json --max 8000 --session run.session > next.json
  cupel select request.json --max 2000 --shorten all > shorter.json

What is kept is kept as it was written: the same JSON text, in the same order. A tool call and its
results stay or go together. With --shorten, results may be shorter than they were. If what must be
kept does not fit, the exit code is 1 and nothing is written; with --lines, such a line becomes
`null`.";

/// Gives back the best request that fits
///
/// Reads a request and writes it in the same format, without the messages that do not fit.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    batch: BatchArguments,

    #[command(flatten)]
    selection: SelectionArguments,

    #[command(flatten)]
    step: StepArguments,

    /// Write to this file, in one step, instead of stdout; of several files, into this folder
    #[arg(long, short, value_name = "FILE", conflicts_with = "in_place")]
    output: Option<PathBuf>,

    /// Replace the input file, or each of several
    #[arg(long, requires = "files", conflicts_with_all = ["lines", "session"])]
    in_place: bool,

    /// Write what was left out, and why, into this file: what `explain --json` prints
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Print no summary
    #[arg(long, short)]
    quiet: bool,
}

/// What becomes of a step of a session.
#[derive(Debug, Args)]
struct StepArguments {
    #[command(flatten)]
    session: SessionArguments,

    /// Answer as the next step of the session, and leave the session as it is
    ///
    /// For a call that may fail: run the same again without it once the provider has answered, and
    /// give both the same --at.
    #[arg(long, requires = "session")]
    propose: bool,

    /// Mark for Anthropic where its cache begins to pay: `cache_control` on four blocks at most
    ///
    /// Marks that are there count and stay. Requests of other formats stay as they are.
    #[arg(long, requires = "session")]
    cache_marks: bool,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<Answer, Failure> {
    let engine = arguments.selection.engine(context)?;
    let options = arguments.selection.options()?;
    if arguments.batch.is_single() {
        let input = arguments.batch.single(arguments.selection.request.format)?;
        let single = Single::new(arguments, &engine, &options, &input)?;
        return match single.session_file()? {
            Some(file) => single.step(&file),
            None => single.select(),
        };
    }
    if arguments.step.session.session.is_some() {
        return Err(Failure::cannot("--session is for one request; give its steps one by one"));
    }
    if arguments.report.is_some() {
        return Err(Failure::cannot("--report is for one request; use `explain` for each of many"));
    }
    if !arguments.batch.lines && !arguments.in_place && arguments.output.is_none() {
        let text = "several files need --in-place, or --output FOLDER to write them into";
        return Err(Failure::cannot(text));
    }
    many(arguments, &engine, &options)
}

/// A single request, and where the answers to it go.
struct Single<'a> {
    arguments: &'a Arguments,
    engine: &'a Engine,
    options: &'a Options,
    input: &'a Input,
    destination: Destination,
    report: Option<Destination>,
}

impl<'a> Single<'a> {
    fn new(
        arguments: &'a Arguments,
        engine: &'a Engine,
        options: &'a Options,
        input: &'a Input,
    ) -> Result<Self, Failure> {
        let path = input.path.as_deref();
        refuse_to_replace(arguments, &input.name(), input.transcript)?;
        let destination = destination(arguments, path)?;
        let report = arguments.report.as_deref();
        let report = report.map(|file| Destination::new(Some(file), path)).transpose()?;
        Ok(Self { arguments, engine, options, input, destination, report })
    }

    fn session_file(&self) -> Result<Option<SessionFile>, Failure> {
        let Arguments { step, output, report, .. } = self.arguments;
        step.session.file(&[self.input.path.as_deref(), output.as_deref(), report.as_deref()])
    }

    fn select(&self) -> Result<Answer, Failure> {
        let name = self.input.name();
        let failed = |error| Failure::of(&name, &error);
        let prepared =
            self.engine.prepare(self.input.text.as_str(), self.options).map_err(failed)?;
        let selection = prepared.select().map_err(failed)?;
        if let Some(report) = &self.report {
            report.write(&json::pretty(&prepared.explain(usize::MAX).map_err(failed)?)?)?;
        }
        self.destination.write(&selection.text)?;
        tell(&name, &selection.repairs, &selection.superseded);
        tell_unused(&name, &selection.unused_renderings);
        if !self.arguments.quiet {
            output::say(&with_tools(
                with_shortened(summary(&selection.summary), selection.shortened.len()),
                &selection.tools,
            ));
        }
        Ok(Answer::Yes)
    }

    /// The request as the next step of a session.
    ///
    /// The answer is handed out before the state is replaced: a step that nobody received must not
    /// count. Whoever is killed in between leaves the old state, and the next step goes on from that.
    fn step(&self, file: &SessionFile) -> Result<Answer, Failure> {
        let StepArguments { session: flags, propose, cache_marks } = &self.arguments.step;
        let lock = if *propose { None } else { Some(file.lock()?) };
        let mut settings = SessionSettings::default();
        if *cache_marks {
            settings.cache_marks = MarkRule::Write;
        }
        let mut session = flags.load(file, self.engine)?.with_settings(settings);
        let step = flags.propose(&mut session, self.input, self.options)?;
        let to_write = lock.as_ref().zip(session.proposed_state());
        let replacement = to_write.map(|(lock, state)| lock.prepare(state)).transpose()?;
        if let Some(report) = &self.report {
            report.write(&json::pretty(&step)?)?;
        }
        self.destination.write(&step.text)?;
        if let Some((lock, replacement)) = lock.as_ref().zip(replacement) {
            lock.publish(replacement)?;
        }
        self.tell_step(file, &step);
        Ok(Answer::Yes)
    }

    fn tell_step(&self, file: &SessionFile, step: &Step) {
        let Arguments { step: StepArguments { propose, .. }, quiet, .. } = self.arguments;
        tell(&self.input.name(), &step.repairs, &step.superseded);
        tell_unused(&self.input.name(), &step.unused_renderings);
        tell_account(file.name(), &step.session, *quiet);
        if !quiet {
            let proposed = if *propose { "proposed: " } else { "" };
            output::say(&format!("{proposed}{}", step_summary(step)));
        }
    }
}

/// Says what was repaired, and what was dropped as superseded.
pub(crate) fn tell(name: &str, repairs: &[RepairDone], superseded: &[Outdated]) {
    for repair in repairs {
        output::say(&format!("{name}: {repair}"));
    }
    for outdated in superseded {
        output::say(&format!("{name}: {outdated}"));
    }
}

/// Says which of the caller's own renderings are of no use.
pub(crate) fn tell_unused(name: &str, unused: &[UnusedRendering]) {
    for unused in unused {
        output::say(&format!("{name}: {unused}"));
    }
}

/// `…; 3 texts shortened`.
pub(crate) fn with_shortened(summary: String, texts: usize) -> String {
    match texts {
        0 => summary,
        texts => format!("{summary}; {} shortened", counted(texts, "text")),
    }
}

/// `…; 6 tools shorter, 2 left out`.
fn with_tools(summary: String, tools: &[FittedTool]) -> String {
    let count = |fate: ToolFate| tools.iter().filter(|tool| tool.fate == fate).count();
    match (count(ToolFate::Shortened), count(ToolFate::LeftOut)) {
        (0, 0) => summary,
        (shorter, 0) => format!("{summary}; {} shorter", counted(shorter, "tool")),
        (0, out) => format!("{summary}; {} left out", counted(out, "tool")),
        (shorter, out) => {
            let out = grouped_count(out);
            format!("{summary}; {} shorter, {out} left out", counted(shorter, "tool"))
        }
    }
}

/// Says why the account of a session began anew, if it did: a wrong file is easily named.
fn tell_account(name: &str, step: &SessionStep, is_quiet: bool) {
    match step.new_account {
        None => {}
        Some(NewAccount::FirstStep) if is_quiet => {}
        Some(NewAccount::FirstStep) => output::say(&format!("{name}: a new session begins")),
        Some(_) => output::say(&format!("{name}: a new account begins: {}", new_account(step))),
    }
}

/// Why the account begins anew, in words.
pub(crate) fn new_account(step: &SessionStep) -> String {
    let reason = step.new_account.map(NewAccount::text).unwrap_or_default();
    let place = step.edited_at.map(|at| format!(", from message {} on", grouped_count(at)));
    format!("{reason}{}", place.unwrap_or_default())
}

/// The same as of any selection, with what of it is in the provider's cache.
pub(crate) fn step_summary(step: &Step) -> String {
    let (cached, not) = (grouped(step.session.cached_tokens), grouped(step.session.uncached_tokens));
    let told = with_shortened(summary(&step.summary), step.shortened.len());
    let told = with_tools(told, &step.tools);
    format!("{told}; {cached} tokens cached, {not} not")
}

/// `kept 41 of 212 messages, 7,934 of 8,000 tokens, from 61,203`.
pub(crate) fn summary(summary: &Summary) -> String {
    let what = if summary.format.starts_with("items") { "item" } else { "message" };
    let margin = match summary.budget.kept_free_percent {
        percent if percent > 0.0 => format!(", {percent:.0} % kept free for errors"),
        _ => String::new(),
    };
    let like = match summary.estimated_like.as_deref() {
        Some("unknown") => ", of an unknown tokenizer".to_owned(),
        Some(family) => format!(" like {family}"),
        None => String::new(),
    };
    format!(
        "kept {} of {}, {} of {} tokens, from {}{}",
        grouped_count(summary.messages_after),
        counted(summary.messages_before, what),
        grouped(summary.tokens_after),
        grouped(summary.budget.target_tokens),
        grouped(summary.tokens_before),
        if summary.is_estimate { format!(" (estimated{like}{margin})") } else { String::new() },
    )
}

/// Keeps a transcript from being replaced by its last request.
fn refuse_to_replace(
    arguments: &Arguments,
    name: &str,
    transcript: Option<TranscriptKind>,
) -> Result<(), Failure> {
    match transcript.filter(|_| arguments.in_place) {
        None => Ok(()),
        Some(kind) => {
            let kind = kind.called();
            let text = format!("{name}: is {kind}, which --in-place would destroy; give --output");
            Err(Failure::CannotRun(text))
        }
    }
}

fn destination(arguments: &Arguments, input: Option<&Path>) -> Result<Destination, Failure> {
    match (input, arguments.in_place) {
        (Some(path), true) => Ok(Destination::File(path.to_path_buf())),
        (None, true) => Err(Failure::cannot("--in-place needs a file, not stdin")),
        (path, false) => Destination::new(arguments.output.as_deref(), path),
    }
}

fn many(arguments: &Arguments, engine: &Engine, options: &Options) -> Result<Answer, Failure> {
    let select = |job: &Job| {
        let selected = engine.select_with(job.text.as_str(), options);
        selected.map_err(|error| Failure::of(&job.name, &error))
    };
    let mut tally = Tally::default();
    let mut lines = String::new();
    let answers = batch::answers(arguments.batch.jobs(arguments.selection.request.format), select);
    for (job, selected) in answers {
        let selection = tally.note(selected)?;
        if let (Some(job), Some(selection)) = (&job, &selection) {
            tell(&job.name, &selection.repairs, &selection.superseded);
            tell_unused(&job.name, &selection.unused_renderings);
            if !arguments.quiet {
                let told = with_tools(
                with_shortened(summary(&selection.summary), selection.shortened.len()),
                &selection.tools,
            );
                output::say(&format!("{}: {told}", job.name));
            }
        }
        if arguments.batch.lines {
            lines.push_str(selection.as_ref().map_or("null", |selection| &selection.text));
            lines.push('\n');
        } else if let (Some(job), Some(selection)) = (job, selection) {
            let may_write = refuse_to_replace(arguments, &job.name, job.transcript);
            let written = match may_write {
                Ok(()) => place(arguments, &job)?.write(&selection.text),
                Err(failure) => Err(failure),
            };
            tally.note(written)?;
        }
    }
    if arguments.batch.lines {
        destination(arguments, None)?.write(&lines)?;
    }
    tally.finish()
}

/// Where one of several files goes.
fn place(arguments: &Arguments, job: &Job) -> Result<Destination, Failure> {
    let Some(path) = &job.path else {
        return Err(Failure::cannot("stdin cannot be one of several files"));
    };
    match &arguments.output {
        None => Ok(Destination::File(path.clone())),
        Some(folder) => {
            let name = path.file_name().unwrap_or_default();
            Destination::new(Some(&folder.join(name)), Some(path))
        }
    }
}
