//! Rows in, outcomes out, in order.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use cupel_chat::{MessageView, Request};
use cupel_eval::try_map;

use crate::conversations::{Conversations, Track};
use crate::judge::{self, Judged};
use crate::outcome::{ProblemKind, RowOutcome, RowProblem};
use crate::place::Place;
use crate::read::{Entry, LoggedRequest, RowError, read_shared_row};
use crate::settings::{Settings, Way};
use crate::used::fingerprint;
use crate::{runs, sessions};

/// A row of a log, and where it is.
#[derive(Debug, Clone)]
pub struct LogRow {
    /// Where it is.
    pub place: Place,
    /// The row, as JSON.
    pub text: Arc<str>,
}

/// Replays the rows of a log, batch by batch, in their order.
///
/// Whatever the batches and the threads, the same rows give the same outcomes.
///
/// ```
/// use std::sync::Arc;
/// use cupel_engine::Engine;
/// use cupel_replay::{LogRow, Place, Replay, ReplayedPolicy, RowOutcome, Settings};
/// use cupel_tokens::EstimateCounter;
///
/// let engine = Engine::builder().tokenizer("estimate").build()?;
/// let policy = ReplayedPolicy { name: "auto".to_owned(), engine };
/// let settings = Settings::new(vec![policy], vec![40], Arc::new(EstimateCounter::default()));
/// let mut replay = Replay::new(settings);
///
/// let row = r#"{"request": {"messages": [
///         {"role": "user", "content": "The deploy key is on card B-77."},
///         {"role": "assistant", "content": "Noted."},
///         {"role": "user", "content": "Lunch is at noon, soup again, and the printer is out of paper."},
///         {"role": "user", "content": "Where is the deploy key?"}]},
///     "response": {"role": "assistant", "content": "On card B-77."}}"#;
/// let rows = vec![LogRow { place: Place::line("calls.jsonl", 1), text: row.into() }];
/// let outcomes = replay.push(rows);
/// let RowOutcome::Request(request) = &outcomes.rows[0] else { panic!("a request") };
/// assert_eq!(request.windows[0].coverage.as_ref().map(|coverage| coverage.share), Some(1.0));
/// assert!(request.windows[0].is_changed);
/// # Ok::<(), cupel_engine::EngineError>(())
/// ```
#[derive(Debug)]
pub struct Replay {
    settings: Settings,
    ways: Vec<Way>,
    conversations: Conversations,
}

/// Outcomes of a batch of rows.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Outcomes {
    /// In the order of the rows.
    pub rows: Vec<RowOutcome>,
    /// Things that are no call of a model, each by what it is.
    pub skipped: Vec<String>,
    /// Kind of each row.
    pub kinds: Vec<&'static str>,
    /// True if these are all; `false` if it was [stopped](Settings::stop) before, and the rest was left.
    pub is_whole: bool,
}

/// A row after it was looked at by itself.
enum Looked {
    Request(Box<Judged>),
    Done(Vec<RowOutcome>),
}

/// Content of a row.
#[derive(Default)]
struct LookedRow {
    kind: &'static str,
    skipped: Vec<String>,
    looked: Vec<Looked>,
}

impl Replay {
    /// Replays as the settings say. Budgets are taken in rising order, each once.
    pub fn new(mut settings: Settings) -> Self {
        settings.budgets.sort_unstable();
        settings.budgets.dedup();
        let ways = settings.ways();
        Self { settings, ways, conversations: Conversations::default() }
    }

    /// The ways in which requests are trimmed: each request has a window for each of them.
    pub fn ways(&self) -> &[Way] {
        &self.ways
    }

    /// Settings of the replay.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Takes a share of the conversations from now on, all of each.
    pub fn sample(&mut self, share: f64) {
        self.settings.sample = Some(share);
    }

    /// Number of conversations that are remembered.
    pub fn open_conversations(&self) -> usize {
        self.conversations.len()
    }

    /// Number of conversations that were forgotten, since all were too much to remember: what comes of them
    /// later counts as a new one.
    pub fn forgotten_conversations(&self) -> usize {
        self.conversations.forgotten
    }

    /// Outcomes of the next rows.
    pub fn push(&mut self, rows: Vec<LogRow>) -> Outcomes {
        self.push_read(rows.into_iter().map(Ok).collect())
    }

    /// Outcomes of the next rows, among them those that could not be read.
    pub fn push_read(&mut self, rows: Vec<Result<LogRow, RowProblem>>) -> Outcomes {
        let (settings, ways) = (&self.settings, &self.ways[..]);
        let count = rows.len();
        let rows: Vec<Mutex<Option<Result<LogRow, RowProblem>>>> =
            rows.into_iter().map(|row| Mutex::new(Some(row))).collect();
        let looked = in_parallel(settings.threads, count, |at| {
            if settings.is_stopped() {
                return None;
            }
            let row = rows[at].lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()?;
            Some(match row {
                Ok(row) => look(settings, ways, row),
                Err(problem) => LookedRow {
                    looked: vec![Looked::Done(vec![RowOutcome::Problem(problem)])],
                    ..LookedRow::default()
                },
            })
        });
        drop(rows);
        let looked: Vec<LookedRow> = looked.into_iter().map_while(|row| row).collect();
        let mut outcomes = Outcomes { is_whole: looked.len() == count, ..Outcomes::default() };
        let mut all = Vec::new();
        for row in looked {
            outcomes.skipped.extend(row.skipped);
            outcomes.kinds.extend((!row.kind.is_empty()).then_some(row.kind));
            all.extend(row.looked);
        }
        let mut looked = all;
        let ids = self.follow(&mut looked);
        self.conversations.settle(&ids, self.settings.conversation_bytes);
        for looked in looked {
            match looked {
                Looked::Done(done) => outcomes.rows.extend(done),
                Looked::Request(judged) if judged.is_left => {
                    outcomes.is_whole = false;
                    break;
                }
                Looked::Request(judged) => {
                    outcomes.rows.push(RowOutcome::Request(Box::new(judged.outcome)));
                }
            }
        }
        outcomes
    }

    /// Adds the relation of requests to those before them in their conversation. Says which conversations there were.
    fn follow(&mut self, looked: &mut [Looked]) -> Vec<u64> {
        let mut by_conversation: BTreeMap<u64, Vec<&mut Judged>> = BTreeMap::new();
        for looked in looked {
            if let Looked::Request(judged) = looked {
                let id = self.conversations.take(judged);
                by_conversation.entry(id).or_default().push(judged);
            }
        }
        let ids: Vec<u64> = by_conversation.keys().copied().collect();
        if !self.settings.session {
            return ids;
        }
        let jobs: Vec<Mutex<(Vec<Track>, Vec<&mut Judged>)>> = by_conversation
            .into_iter()
            .map(|(id, requests)| Mutex::new((self.conversations.lend_tracks(id), requests)))
            .collect();
        let (settings, ways) = (&self.settings, &self.ways[..]);
        let tracks = in_parallel(settings.threads, jobs.len(), |at| {
            let mut job = jobs[at].lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let (tracks, requests) = &mut *job;
            sessions::judge(settings, ways, tracks, requests);
            std::mem::take(tracks)
        });
        for (id, tracks) in ids.iter().zip(tracks) {
            self.conversations.give_back(*id, tracks);
        }
        ids
    }
}

/// Reads a row, and judges what it holds by itself.
fn look(settings: &Settings, ways: &[Way], row: LogRow) -> LookedRow {
    let broken = |place: Place, rule: String| {
        Looked::Done(vec![RowOutcome::Problem(RowProblem {
            place,
            kind: ProblemKind::Broken,
            rule,
        })])
    };
    let content = match read_shared_row(&row.text, &settings.columns) {
        Ok(content) => content,
        Err(error) => {
            let looked = vec![broken(row.place, error.rule)];
            return LookedRow { looked, ..LookedRow::default() };
        }
    };
    drop(row.text);
    let mut content = content;
    content.sort_by_time();
    let several = content.entries.len() > 1;
    let is_taken = |(_, entry): &(usize, Result<Entry, RowError>)| match entry {
        Ok(Entry::Request(logged)) => settings.sample.is_none_or(|share| is_sampled(logged, share)),
        _ => true,
    };
    let entries = content.entries.into_iter().enumerate().filter(is_taken).map(|(at, entry)| {
        let part = several.then_some(at + 1);
        let place = Place { part, ..row.place.clone() };
        match entry {
            Err(error) => broken(place, error.rule),
            Ok(Entry::Run(run)) => Looked::Done(runs::judge(settings, ways, &row.place, &run)),
            Ok(Entry::Request(logged)) => match judge::judge(settings, ways, place, *logged) {
                Ok(judged) => Looked::Request(Box::new(judged)),
                Err(problem) => Looked::Done(vec![RowOutcome::Problem(problem)]),
            },
        }
    });
    LookedRow { kind: content.kind, skipped: content.skipped, looked: entries.collect() }
}

/// Returns true if a request is of a conversation that is replayed: by its name, else by the first words of the user,
/// which all requests of a conversation have.
fn is_sampled(logged: &LoggedRequest, share: f64) -> bool {
    let first = || {
        let request = Request::parse(logged.request.clone(), None).ok()?;
        let mut messages = request.messages();
        messages.find(|message| message.role() == "user").map(MessageView::text)
    };
    let name = logged.conversation.clone().or_else(first).unwrap_or_default();
    (fingerprint(&name) >> 11) as f64 / ((1_u64 << 53) as f64) < share
}

fn in_parallel<T: Send>(
    threads: NonZeroUsize,
    jobs: usize,
    work: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let Ok(done) = try_map(threads, jobs, |job| Ok::<T, Infallible>(work(job)));
    done
}
