//! Many requests in one call: several files, or a request on each line.

use std::borrow::Cow;
use std::convert::Infallible;
use std::path::PathBuf;

use clap::Args;
use cupel_engine::{Format, Pick, TranscriptKind};
use cupel_eval::{available_threads, try_map};

use crate::error::{Answer, Failure};
use crate::input::Input;
use crate::output;

/// Which requests.
#[derive(Debug, Args)]
pub(crate) struct BatchArguments {
    /// The request, or a transcript for its last one; stdin if it is `-` or absent; or several, one after the other
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Each line is a request of its own (JSON lines)
    ///
    /// Answers come in the same order, a line each. A line that fails is told on stderr by its
    /// number and does not stop the rest.
    #[arg(long)]
    pub(crate) lines: bool,
}

/// One of many requests.
pub(crate) struct Job {
    /// Name in messages: a file, or a file and a line.
    pub(crate) name: String,
    /// The file it is; `None` for a line, and for the standard input.
    pub(crate) path: Option<PathBuf>,
    /// The request.
    pub(crate) text: String,
    /// Kind of the file, if it is no request.
    pub(crate) transcript: Option<TranscriptKind>,
}

impl BatchArguments {
    /// Returns true if there is one request only.
    pub(crate) fn is_single(&self) -> bool {
        self.files.len() < 2 && !self.lines
    }

    /// The only request.
    pub(crate) fn single(&self, format: Option<Format>) -> Result<Input, Failure> {
        Input::read_request(self.files.first().map(PathBuf::as_path), format)
    }

    /// All requests in order. What cannot be read is an answer of its own.
    pub(crate) fn jobs(&self, format: Option<Format>) -> Vec<Result<Job, Failure>> {
        let stdin = [PathBuf::from("-")];
        let files = if self.files.is_empty() { &stdin[..] } else { &self.files };
        let read = |file: &PathBuf| {
            if self.lines {
                Input::read(Some(file))
            } else {
                Input::read_request(Some(file), format)
            }
        };
        files.iter().flat_map(|file| self.jobs_of(read(file))).collect()
    }

    fn jobs_of(&self, input: Result<Input, Failure>) -> Vec<Result<Job, Failure>> {
        let input = match input {
            Ok(input) => input,
            Err(failure) => return vec![Err(failure)],
        };
        let name = input.name();
        if !self.lines {
            let Input { path, text, transcript } = input;
            return vec![Ok(Job { name, path, text, transcript })];
        }
        let job = |(name, text): (String, Cow<'_, str>)| {
            Ok(Job { name, path: None, text: text.into_owned(), transcript: None })
        };
        requests_of_lines(&input).map(job).collect()
    }
}

/// The request on each line, with a name; of a line of a batch file, the request that it wraps.
pub(crate) fn requests_of_lines(input: &Input) -> impl Iterator<Item = (String, Cow<'_, str>)> {
    let lines = input.text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let name = input.name();
    lines.map(move |(at, line)| {
        let is_wrapped = TranscriptKind::detect(line) == Some(TranscriptKind::Batch);
        let imported = is_wrapped.then(|| TranscriptKind::Batch.import(line, &Pick::Last).ok());
        let text = imported.flatten().map_or(Cow::Borrowed(line), |import| Cow::Owned(import.text));
        (format!("{name}:{}", at + 1), text)
    })
}

/// Exit code of a batch: that of its worst request.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    cannot: usize,
    refused: usize,
    done: usize,
}

impl Tally {
    /// Takes note of one result, and tells what went wrong.
    pub(crate) fn note<T>(&mut self, result: Result<T, Failure>) -> Result<Option<T>, Failure> {
        let text = match result {
            Ok(value) => {
                self.done += 1;
                return Ok(Some(value));
            }
            Err(Failure::ClosedPipe) => return Err(Failure::ClosedPipe),
            Err(Failure::Refused(text)) => {
                self.refused += 1;
                text
            }
            Err(Failure::CannotRun(text)) => {
                self.cannot += 1;
                text
            }
        };
        output::say(&format!("cupel: {text}"));
        Ok(None)
    }

    /// Exit code of the batch.
    pub(crate) fn finish(self) -> Result<Answer, Failure> {
        let failed = self.cannot + self.refused;
        if failed == 0 {
            return Ok(Answer::Yes);
        }
        let text = format!("{failed} of {} requests failed", failed + self.done);
        Err(if self.cannot > 0 { Failure::CannotRun(text) } else { Failure::Refused(text) })
    }
}

/// Answers of `answer` for each job, in order, on all cores.
pub(crate) fn answers<T: Send>(
    jobs: Vec<Result<Job, Failure>>,
    answer: impl Fn(&Job) -> Result<T, Failure> + Sync,
) -> Vec<(Option<Job>, Result<T, Failure>)> {
    let work = |at: usize| Ok::<_, Infallible>(jobs[at].as_ref().ok().map(&answer));
    let Ok(done) = try_map(available_threads(), jobs.len(), work);
    let answered = |(job, done): (Result<Job, Failure>, Option<_>)| match job {
        Err(failure) => Some((None, Err(failure))),
        Ok(job) => done.map(|answer| (Some(job), answer)),
    };
    jobs.into_iter().zip(done).filter_map(answered).collect()
}
