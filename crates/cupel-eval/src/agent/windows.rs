//! Windows as files, so that any program's can be judged, and ours by any program.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::AgentRuns;
use super::evaluate::AgentEvaluation;
use super::message::AgentMessage;
use super::run::{AgentRun, AgentStep};
use super::trimmer::{AgentTask, RunTrimmer, Trimmer, Window};
use crate::error::{DataError, Problem};
use crate::lines::JsonLines;
use crate::record::{Record, each, index, positive, text};
use crate::selector::SelectorError;

/// Windows that were read from a file: JSON lines, one for each step and budget of a run, plain or
/// gzip.
///
/// ```json
/// {"run": "desk-1", "at": 4, "budget": 1000, "messages": [{"role": "user", "content": "Hello"}]}
/// ```
///
/// `messages` is null where nothing fits. Messages may be shortened or new.
#[derive(Debug, Clone)]
pub struct RecordedWindows<'d> {
    rows: HashMap<(&'d str, usize, i64), Option<Window>>,
    skipped: usize,
}

/// A run as a reader of windows needs it.
struct Known<'d> {
    run: &'d AgentRun,
    by_json: HashMap<String, usize>,
}

impl<'d> RecordedWindows<'d> {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read), and if the file cannot be read.
    pub fn read_file(path: impl AsRef<Path>, data: &'d AgentRuns) -> Result<Self, DataError> {
        Self::take(JsonLines::open(path.as_ref())?, data)
    }

    /// Reads whatever can be read. Errors call it by the name.
    ///
    /// # Errors
    ///
    /// By file, line and path: a line that is not JSON, a field that is missing or of the wrong
    /// type, a step that its run does not have, a second window for a step and budget, no window for
    /// any run of the data.
    pub fn read(name: &str, source: impl Read, data: &'d AgentRuns) -> Result<Self, DataError> {
        Self::take(JsonLines::new(name, source)?, data)
    }

    /// The budgets that the file has windows for, rising.
    pub fn budgets(&self) -> Vec<i64> {
        let budgets: BTreeSet<i64> = self.rows.keys().map(|(_, _, budget)| *budget).collect();
        budgets.into_iter().collect()
    }

    /// Number of lines that were for runs that are not in the data.
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    fn take(mut lines: JsonLines<'_>, data: &'d AgentRuns) -> Result<Self, DataError> {
        let known = data.runs().iter();
        let known: HashMap<&str, Known<'d>> =
            known.map(|run| (run.name(), Known { run, by_json: run.by_json() })).collect();
        let mut read = Self { rows: HashMap::new(), skipped: 0 };
        while let Some(value) = lines.next() {
            read.add(value?, &known).map_err(|problem| lines.blame(problem))?;
        }
        if read.rows.is_empty() {
            let rule = "has no window for a run of the data; each line needs the name of a run";
            return Err(DataError::in_file(lines.name(), rule));
        }
        Ok(read)
    }

    fn add(&mut self, value: Value, known: &HashMap<&str, Known<'d>>) -> Result<(), Problem> {
        let mut fields = Record::of(value, &["run", "at", "budget", "messages"])?;
        let name = fields.required("run", text)?;
        let at = fields.required("at", index)?;
        let budget = fields.required("budget", positive)?;
        let Some(Known { run, by_json }) = known.get(name.as_str()) else {
            self.skipped += 1;
            return Ok(());
        };
        if !run.steps().iter().any(|step| step.at() == at) {
            return Err(Problem::at("at", format!("run `{name}` has no step at {at}")));
        }
        let messages = fields.optional("messages", each(|json| message(json, by_json, at)))?;
        let window = messages.map(Window::of_messages);
        if self.rows.insert((run.name(), at, budget), window).is_some() {
            return Err(Problem::new(format!(
                "second window for step {at} of run `{name}` at budget {budget}; keep one"
            )));
        }
        Ok(())
    }
}

/// A message of the run that the request has, or another one.
fn message(
    json: Value,
    by_json: &HashMap<String, usize>,
    at: usize,
) -> Result<Result<usize, Arc<AgentMessage>>, Problem> {
    match by_json.get(&json.to_string()).filter(|index| **index < at) {
        Some(index) => Ok(Ok(*index)),
        None => AgentMessage::read(json).map(|message| Err(Arc::new(message))),
    }
}

impl Trimmer for RecordedWindows<'_> {
    fn begin<'t>(&'t self, task: AgentTask<'t>) -> Result<Box<dyn RunTrimmer + 't>, SelectorError> {
        Ok(Box::new(Recorded { windows: self, task }))
    }
}

struct Recorded<'t> {
    windows: &'t RecordedWindows<'t>,
    task: AgentTask<'t>,
}

impl RunTrimmer for Recorded<'_> {
    fn windows(&mut self, step: &AgentStep) -> Result<Vec<Option<Window>>, SelectorError> {
        let row = |budget: &i64| {
            let row = self.windows.rows.get(&(self.task.run.name(), step.at(), *budget));
            row.cloned().flatten()
        };
        Ok(self.task.budgets.iter().map(row).collect())
    }
}

/// One line of the file.
#[derive(Serialize)]
struct Line<'a> {
    run: &'a str,
    at: usize,
    budget: i64,
    messages: Option<Vec<&'a Value>>,
}

/// Writes the windows of a method, by its position among the methods, in the form that
/// [`RecordedWindows`] reads: a line for each step and budget. A method that is not there has none.
///
/// # Errors
///
/// If the output cannot be written.
pub fn write_windows(
    evaluation: &AgentEvaluation<'_>,
    method: usize,
    mut output: impl Write,
) -> io::Result<()> {
    for (at, run) in evaluation.data().runs().iter().enumerate() {
        for (step, windows) in run.steps().iter().zip(evaluation.windows(method, at)) {
            for (budget, judged) in evaluation.budgets().tokens().iter().zip(windows) {
                let messages = judged.as_ref().map(|judged| judged.window.json(run));
                let line = Line { run: run.name(), at: step.at(), budget: *budget, messages };
                serde_json::to_writer(&mut output, &line)?;
                output.write_all(b"\n")?;
            }
        }
    }
    output.flush()
}
