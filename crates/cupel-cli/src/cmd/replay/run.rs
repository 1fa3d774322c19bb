//! Reads logs and replays them: what `replay`, `record` and `check` share.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use clap::Args;
use cupel_engine::{Engine, Shorten, parse_tokens};
use cupel_eval::available_threads;
use cupel_replay::{
    Columns, LogReader, Outcomes, OutputError, PriceList, Problem, ProblemKind, Replay, ReplayedPolicy,
    ResultWriter, RowOutcome, Settings, Summary, Summing, Way, find_logs,
};

use super::super::Context;
use crate::cli::{self, BudgetArguments, QueryArguments, RequestArguments};
use crate::error::{Answer, Failure};
use crate::input::Input;
use crate::output;
use crate::policy;
use crate::progress::Progress;
use crate::render::number::{counted, grouped_count};

/// Which logs, and what is tried on them.
#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    /// Logs: files, folders or patterns; `-` is stdin
    #[arg(value_name = "LOGS", required = true)]
    pub(crate) logs: Vec<PathBuf>,

    /// A policy to try: a preset or a TOML or JSON file (repeatable); `auto` if absent
    #[arg(long = "policy", value_name = "FILE|PRESET")]
    pub(crate) policies: Vec<String>,

    /// The windows in tokens, as in `8k` or `4k,8k`; if absent, those of the models
    ///
    /// Of the runs of agents: beyond the head of the run, as in `cupel eval`.
    #[arg(long, value_name = "TOKENS", value_delimiter = ',', value_parser = window_tokens)]
    pub(crate) max: Vec<i64>,

    /// Try each policy in a session too, whose windows keep the prompt cache
    #[arg(long)]
    pub(crate) session: bool,

    /// Tool results that may go in shorter than they are: off, json or all
    #[arg(long, value_name = "WHAT")]
    pub(crate) shorten: Option<Shorten>,

    /// How tokens are counted: `o200k_base`, `cl100k_base`, `estimate`, or a `tokenizer.json`
    ///
    /// If absent, as each request's model counts; runs of agents with `cl100k_base`.
    #[arg(long, value_name = "NAME|PATH")]
    pub(crate) tokenizer: Option<String>,

    /// Which fields are what in logs of no known format, as in `request=body,response=answer`
    ///
    /// Names are request, response, conversation, model, time, user, route, tokens and tools; fields may be
    /// paths with dots, or names of attributes of OpenTelemetry.
    #[arg(long, value_name = "NAME=FIELD,…")]
    pub(crate) columns: Option<Columns>,

    /// Repair requests that their provider would refuse, instead of leaving them out
    ///
    /// Nothing is lost, unless with `drop`.
    #[arg(long, value_name = "MODE", num_args = 0..=1, require_equals = true,
        default_missing_value = "keep")]
    pub(crate) repair: Option<cli::Repairing>,

    /// Go on though our counts are far from the provider's own, which says that a log is misread
    #[arg(long)]
    pub(crate) trust: bool,

    /// Prices in US dollars for a million tokens, by model: a TOML or JSON file
    ///
    /// For each model `input`, and if it has a cache `cache_read`, `cache_write`, `cache_minutes` and
    /// `cache_least_tokens`, as in `[my-model]` `input = 2.0`. A name is of all models that begin with it.
    #[arg(long, value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,

    /// Replay about this many requests: whole conversations, and always the same ones
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) sample: Option<u64>,

    /// Number of threads; one for each core if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

impl ReplayArguments {
    /// What to replay, as the flags, the environment and the configuration say.
    pub(crate) fn settings(&self, context: &Context) -> Result<Settings, Failure> {
        let mut names = self.policies.clone();
        if names.is_empty() {
            let set = context.settings.path("policy");
            names.push(set.unwrap_or_else(|| cupel_engine::DEFAULT_POLICY.to_owned()));
        }
        let mut policies = Vec::new();
        for name in names {
            let policy = policy::load(&name)?;
            if policies.iter().any(|other: &ReplayedPolicy| other.name == name) {
                return Err(Failure::cannot(format!(
                    "policy `{name}` is named twice; name each once"
                )));
            }
            policies.push(ReplayedPolicy { name, engine: self.engine(context, policy)? });
        }
        let counter = cupel_engine::counter(self.tokenizer.as_deref().unwrap_or("cl100k_base"));
        let counter = counter.map_err(|error| Failure::of_settings(&error))?;
        let max = if self.max.is_empty() {
            context.settings.parsed("max", window_tokens)?.into_iter().collect()
        } else {
            self.max.clone()
        };
        let mut settings = Settings::new(policies, max, counter);
        settings.session = self.session;
        settings.shorten = self.shorten;
        settings.columns = self.columns.clone().unwrap_or_default();
        settings.prices = self.price_list()?;
        let threads = self.threads.and_then(|count| NonZeroUsize::new(usize::from(count)));
        settings.threads = threads.unwrap_or_else(available_threads);
        Ok(settings)
    }

    fn price_list(&self) -> Result<PriceList, Failure> {
        let Some(path) = &self.prices else { return Ok(PriceList::default()) };
        let input = Input::read(Some(path))?;
        let read = if input.text.trim_start().starts_with('{') {
            serde_json::from_str(&input.text).map_err(|error| error.to_string())
        } else {
            toml::from_str(&input.text).map_err(|error: toml::de::Error| error.message().to_owned())
        };
        let list: PriceList = read.map_err(|error| {
            Failure::cannot(format!("{}: {error}; for each model write `input = DOLLARS`", input.name()))
        })?;
        match list.problem() {
            Some(problem) => Err(Failure::cannot(format!("{}: {problem}", input.name()))),
            None => Ok(list),
        }
    }

    /// How the replay itself is run.
    pub(crate) fn conduct(&self) -> Conduct {
        Conduct { trust: self.trust, sample: self.sample }
    }

    fn engine(
        &self,
        context: &Context,
        policy: cupel_engine::NamedPolicy,
    ) -> Result<Engine, Failure> {
        let request = RequestArguments {
            format: None,
            tokenizer: self.tokenizer.clone(),
            model: None,
            pin: Vec::new(),
            rules: Vec::new(),
            repair: self.repair,
            alternate: false,
            turns: cli::Turns::default(),
            handles: false,
        };
        let query = QueryArguments { shorten: self.shorten, ..QueryArguments::default() };
        cli::quiet_engine(context, &request, &BudgetArguments::default(), &query, policy)
    }

    /// The files that are meant.
    pub(crate) fn files(&self) -> Result<Vec<PathBuf>, Failure> {
        find_logs(&self.logs).map_err(Failure::cannot)
    }

}

/// A file that is written must be none of those that are read, and no other one that is written; it is
/// tried before the work is done.
pub(crate) fn check_outputs<'p>(
    logs: &[PathBuf],
    outputs: impl IntoIterator<Item = &'p PathBuf>,
) -> Result<(), Failure> {
    let mut before: Vec<&Path> = Vec::new();
    for path in outputs {
        let is_it = |other: &Path| output::is_same_file(other, path);
        let what = if logs.iter().any(|log| is_it(log)) {
            "is one of the logs"
        } else if before.iter().any(|other| is_it(other)) {
            "is to hold two things"
        } else {
            output::check_writable(path)?;
            before.push(path);
            continue;
        };
        return Err(Failure::CannotRun(format!("{}: {what}; name another file", path.display())));
    }
    Ok(())
}

/// The size of a window.
fn window_tokens(text: &str) -> Result<i64, String> {
    let tokens = parse_tokens(text)?;
    if tokens > 0 { Ok(tokens) } else { Err("nothing fits into it; give more than 0".to_owned()) }
}

/// What is no matter of policies: whether a log is trusted, and how much of it is taken.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Conduct {
    pub(crate) trust: bool,
    pub(crate) sample: Option<u64>,
}

/// What was replayed.
pub(crate) struct Replayed {
    pub(crate) summary: Summary,
    pub(crate) summing: Summing,
    pub(crate) ways: Vec<Way>,
    /// The engines, by policy.
    pub(crate) settings: Settings,
    /// Why results could not be written, though the figures are there.
    pub(crate) unwritten: Option<Failure>,
}

impl Replayed {
    /// How it ends: what could not be read was named, and the exit code says so.
    pub(crate) fn answer(&mut self) -> Result<Answer, Failure> {
        if let Some(failure) = self.unwritten.take() {
            return Err(failure);
        }
        let rows = &self.summary.rows;
        let failed = rows.broken + rows.unreadable;
        if failed == 0 && self.summary.is_complete {
            if rows.requests > 0 {
                return Ok(Answer::Yes);
            }
            return Err(Failure::Refused(nothing(&self.summary)));
        }
        let is_failed = |problem: &&Problem| problem.kind != ProblemKind::InvalidInLog;
        let named: Vec<&Problem> = self.summary.problems.iter().filter(is_failed).collect();
        for problem in &named {
            output::say(&format!("cupel: {}: {}", problem.place, problem.rule));
        }
        if failed > named.len() {
            output::say(&format!("cupel: … and {} more", grouped_count(failed - named.len())));
        }
        if !self.summary.is_complete {
            return Err(Failure::cannot(
                "stopped before the end; the figures are those of what was replayed",
            ));
        }
        let mut parts = Vec::new();
        if rows.broken > 0 {
            let all = rows.broken + rows.requests + rows.invalid_in_log + rows.others;
            parts.push(format!("{} of {}", grouped_count(rows.broken), counted(all, "row")));
        }
        if rows.unreadable > 0 {
            let part = if rows.unreadable == 1 { "a part of it" } else { "parts of them" };
            parts.push(format!("{} or {part}", counted(rows.unreadable, "file")));
        }
        let rest = if self.is_empty() { "nothing was replayed" } else { "the rest was replayed" };
        Err(Failure::cannot(format!("{} could not be read; {rest}", parts.join(" and "))))
    }

    /// Whether no request was found.
    pub(crate) fn is_empty(&self) -> bool {
        self.summary.rows.requests + self.summary.rows.invalid_in_log == 0
    }
}

/// Replays these logs, and writes what became of each request.
pub(crate) fn replay(
    logs: Vec<PathBuf>,
    settings: Settings,
    conduct: Conduct,
    results: Option<&Path>,
) -> Result<Replayed, Failure> {
    let mut writer = None;
    if let Some(path) = results {
        let made = ResultWriter::create(path, &settings.ways());
        writer =
            Some(made.map_err(|error| Failure::cannot(format!("{}: {error}", path.display())))?);
    }
    let failed = |error: OutputError| {
        Failure::cannot(format!("{}: {error}; the figures are there, the results are not", shown(results)))
    };
    let mut unwritten = None;
    let mut replayed = replay_with(logs, settings, conduct, |outcomes| {
        // A full disk costs the results, and not the figures.
        if let Some(Err(error)) = writer.as_mut().map(|writer| writer.write(outcomes)) {
            unwritten = Some(failed(error));
            writer = None;
        }
        Ok(())
    })?;
    if let Some(Err(error)) = writer.map(ResultWriter::finish) {
        unwritten = Some(failed(error));
    }
    replayed.unwritten = unwritten;
    Ok(replayed)
}

fn shown(path: Option<&Path>) -> String {
    path.map(|path| path.display().to_string()).unwrap_or_default()
}

/// How often we look whether somebody wants to stop.
const TICK: Duration = Duration::from_millis(50);
/// Who wants to stop waits so long for the rows that were begun; then they are left.
const PATIENCE: Duration = Duration::from_millis(500);

/// What became of a batch.
struct Done {
    outcomes: Outcomes,
    bytes_read: u64,
    forgotten_conversations: usize,
    reordered_rows: usize,
}

/// Replays these logs, and hands outcomes on in order.
pub(crate) fn replay_with(
    logs: Vec<PathBuf>,
    mut settings: Settings,
    conduct: Conduct,
    mut each: impl FnMut(&[RowOutcome]) -> Result<(), Failure>,
) -> Result<Replayed, Failure> {
    let bytes: u64 = logs.iter().filter_map(|file| Some(file.metadata().ok()?.len())).sum();
    let progress = Progress::of_bytes("replayed", usize::try_from(bytes).unwrap_or(usize::MAX));
    let stop = stop_flag()?;
    settings.stop = Some(stop.clone());
    let replay = Replay::new(settings);
    let (ways, settings) = (replay.ways().to_vec(), replay.settings().clone());
    let mut summing = Summing::new(&ways, settings.worst);
    let (mut is_complete, mut read, mut forgotten, mut reordered) = (true, 0, 0, 0);
    let mut stopped_at = None;
    let (worker, batches) = in_background(logs, replay, conduct);
    loop {
        match batches.recv_timeout(TICK) {
            Ok(done) => {
                summing.add(&done.outcomes);
                each(&done.outcomes.rows)?;
                progress
                    .advance(usize::try_from(done.bytes_read.saturating_sub(read)).unwrap_or(0));
                (read, forgotten) = (done.bytes_read.max(read), done.forgotten_conversations);
                reordered = done.reordered_rows;
                is_complete = done.outcomes.is_whole;
            }
            Err(RecvTimeoutError::Timeout) => {
                let is_late = |since: Instant| since.elapsed() > PATIENCE;
                is_complete = !stopped_at.is_some_and(is_late);
            }
            Err(RecvTimeoutError::Disconnected) => {
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                break;
            }
        }
        if !is_complete {
            break;
        }
        if stop.load(Ordering::Relaxed) {
            stopped_at.get_or_insert_with(Instant::now);
        }
    }
    progress.finish();
    let mut summary = summing.summary(is_complete, forgotten);
    summary.reordered_rows = reordered;
    refuse_nothing(&summary)?;
    if !conduct.trust {
        refuse_misread(&summary)?;
    }
    Ok(Replayed { summary, summing, ways, settings, unwritten: None })
}

/// Reads and replays in a thread of its own, ahead of whoever takes the outcomes by one batch at most: a
/// row that takes long keeps nobody from stopping.
fn in_background(
    logs: Vec<PathBuf>,
    mut replay: Replay,
    conduct: Conduct,
) -> (JoinHandle<()>, Receiver<Done>) {
    let (sender, batches) = sync_channel(0);
    let worker = thread::spawn(move || {
        let mut reader = LogReader::new(logs, &replay.settings().columns.clone());
        let mut is_first = true;
        while let Some(batch) = reader.next() {
            if let Some(wanted) = conduct.sample.filter(|_| std::mem::take(&mut is_first)) {
                replay.sample(wanted as f64 / reader.counted_rows().max(1) as f64);
            }
            let outcomes = replay.push_read(batch.rows);
            let done = Done {
                outcomes,
                bytes_read: batch.bytes_read,
                forgotten_conversations: replay.forgotten_conversations(),
                reordered_rows: reader.reordered_rows(),
            };
            if sender.send(done).is_err() {
                return;
            }
        }
    });
    (worker, batches)
}

/// Logs without any row are not what was meant.
fn refuse_nothing(summary: &Summary) -> Result<(), Failure> {
    let rows = &summary.rows;
    let all = rows.requests + rows.invalid_in_log + rows.broken + rows.unreadable + rows.others;
    if !summary.is_complete || all > 0 {
        return Ok(());
    }
    Err(Failure::cannot("there is no request in the logs; see docs/replay.md for what is read"))
}

/// What there is where no request could be replayed.
fn nothing(summary: &Summary) -> String {
    let mut parts: Vec<String> = summary
        .skipped
        .iter()
        .map(|skipped| format!("{} {}", grouped_count(skipped.count), skipped.what))
        .collect();
    if summary.rows.invalid_in_log > 0 {
        let invalid = counted(summary.rows.invalid_in_log, "request");
        parts.push(format!("{invalid} that the provider refuses"));
    }
    let first = summary.problems.first();
    let first = first.map(|first| format!("; the first: {}: {}", first.place, first.rule));
    format!(
        "there is no request in the logs that could be replayed, there are {}{}; see docs/replay.md for what is read",
        parts.join(", "),
        first.unwrap_or_default()
    )
}

/// Where our counts are far from the provider's own, a log is misread, and its figures are wrong.
fn refuse_misread(summary: &Summary) -> Result<(), Failure> {
    let Some(counted_tokens) = summary.counted.filter(cupel_replay::CountedTokens::is_far_off) else {
        return Ok(());
    };
    let kinds: Vec<String> = summary
        .kinds
        .iter()
        .map(|kind| format!("{} rows as {}", grouped_count(kind.count), kind.what))
        .collect();
    Err(Failure::cannot(format!(
        "this log is probably misread: we count {:.2} times the tokens that the provider counted, by the median of {}; \
         read were {}. Say what its fields are with --columns, or go on with --trust",
        counted_tokens.median_ratio.unwrap_or_default(),
        counted(counted_tokens.requests, "request"),
        kinds.join(", ")
    )))
}

/// A flag that Ctrl-C and SIGTERM raise; a second one ends the process as ever.
fn stop_flag() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let raised = stop.clone();
    let handler = move || {
        if raised.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    };
    match ctrlc::set_handler(handler) {
        Ok(()) | Err(ctrlc::Error::MultipleHandlers) => Ok(stop),
        Err(error) => Err(Failure::cannot(format!("cannot listen for Ctrl-C: {error}"))),
    }
}
