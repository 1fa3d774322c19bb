//! An implementation in any language, as a process that speaks the protocol.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::implementation::{Implementation, Refusal};
use crate::protocol::{
    ErrorAnswer, MarginalAnswer, MarginalTask, MinBudgetAnswer, MinBudgetTask, PipelineAnswer,
    PipelineTask, PlacingAnswer, PlacingTask, Request, ScoringAnswer, ScoringTask,
    SensitivityAnswer, SensitivityTask, SlicingAnswer, SlicingTask, Task,
};

/// Last lines of stderr that are kept for the report of a failure.
const STDERR_LINES: usize = 20;
/// Characters that are shown of a line that is not JSON.
const SHOWN_CHARS: usize = 200;

/// A program that reads one request per line and writes one answer per line.
///
/// It is started when the first task comes, and anew after it broke.
#[derive(Debug)]
pub struct Program {
    command: Vec<String>,
    timeout: Duration,
    process: Option<Process>,
    next_id: u64,
}

impl Program {
    /// The program `command[0]` with the other words as its arguments.
    pub fn new<S: Into<String>>(command: impl IntoIterator<Item = S>, timeout: Duration) -> Self {
        let command = command.into_iter().map(Into::into).collect();
        Self { command, timeout, process: None, next_id: 1 }
    }

    /// The program that a command line names: words, parted at blanks.
    ///
    /// # Errors
    ///
    /// A text if there is no word.
    pub fn parse(command: &str, timeout: Duration) -> Result<Self, String> {
        if command.trim().is_empty() {
            return Err("--program is empty; give a command and its arguments".to_owned());
        }
        Ok(Self::new(command.split_whitespace(), timeout))
    }

    /// A timeout in seconds, as a command line gives it.
    ///
    /// # Errors
    ///
    /// A text if it is no number of seconds.
    pub fn parse_timeout(text: &str) -> Result<Duration, String> {
        let seconds =
            text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        seconds.ok_or_else(|| "not a number of seconds".to_owned())
    }

    /// Sends a task and reads its answer.
    fn exchange<A: DeserializeOwned>(&mut self, task: Task) -> Result<A, Refusal> {
        let request = Request { id: self.next_id, task };
        self.next_id += 1;
        let answer = self.line_for(&request).and_then(|line| read_answer(&line, request.id));
        answer.unwrap_or_else(|text| {
            // It must not answer this request when the next one is asked.
            let stderr = self.process.take().map(Process::stop).unwrap_or_default();
            Err(Refusal::Broken(format!("{text}{stderr}")))
        })
    }

    fn line_for(&mut self, request: &Request) -> Result<String, String> {
        let mut process = match self.process.take() {
            Some(process) => process,
            None => Process::start(&self.command)?,
        };
        let sent = process.send(request);
        let line = process.receive(self.timeout);
        self.process = Some(process);
        // A program that ended tells more by how it ended than by the pipe that broke.
        line.and_then(|line| sent.map(|()| line).map_err(|error| error.to_string()))
    }
}

/// Decodes a line: the outer error is nonsense, the inner one a refusal.
fn read_answer<A: DeserializeOwned>(line: &str, id: u64) -> Result<Result<A, Refusal>, String> {
    let shown: String = line.chars().take(SHOWN_CHARS).collect();
    let mut value: Value = serde_json::from_str(line)
        .map_err(|error| format!("the answer is not JSON: {error}\n{shown}"))?;
    let Some(object) = value.as_object_mut() else {
        return Err(format!("the answer is not a JSON object\n{shown}"));
    };
    if object.get("id").and_then(Value::as_u64) != Some(id) {
        return Err(format!("the answer does not repeat the id {id}\n{shown}"));
    }
    let wrong = |error: serde_json::Error| format!("the answer is wrong: {error}\n{shown}");
    if let Some(unsupported) = object.remove("unsupported") {
        let text = unsupported.as_str().map_or_else(|| unsupported.to_string(), str::to_owned);
        return Ok(Err(Refusal::Unsupported(text)));
    }
    if let Some(error) = object.remove("error") {
        let error: ErrorAnswer = serde_json::from_value(error).map_err(wrong)?;
        return Ok(Err(Refusal::Error(error)));
    }
    serde_json::from_value(value).map(Ok).map_err(wrong)
}

impl Implementation for Program {
    fn score(&mut self, task: &ScoringTask) -> Result<ScoringAnswer, Refusal> {
        self.exchange(Task::Scoring(task.clone()))
    }

    fn slice(&mut self, task: &SlicingTask) -> Result<SlicingAnswer, Refusal> {
        self.exchange(Task::Slicing(task.clone()))
    }

    fn place(&mut self, task: &PlacingTask) -> Result<PlacingAnswer, Refusal> {
        self.exchange(Task::Placing(task.clone()))
    }

    fn run(&mut self, task: &PipelineTask) -> Result<PipelineAnswer, Refusal> {
        self.exchange(Task::Pipeline(task.clone()))
    }

    fn get_marginal_items(&mut self, task: &MarginalTask) -> Result<MarginalAnswer, Refusal> {
        self.exchange(Task::GetMarginalItems(task.clone()))
    }

    fn find_min_budget_for(&mut self, task: &MinBudgetTask) -> Result<MinBudgetAnswer, Refusal> {
        self.exchange(Task::FindMinBudgetFor(task.clone()))
    }

    fn policy_sensitivity(&mut self, task: &SensitivityTask) -> Result<SensitivityAnswer, Refusal> {
        self.exchange(Task::PolicySensitivity(task.clone()))
    }
}

/// A running program.
#[derive(Debug)]
struct Process {
    child: Child,
    /// `None` once the program was told to end.
    stdin: Option<ChildStdin>,
    stdout: Receiver<io::Result<String>>,
    stderr: Arc<Mutex<VecDeque<String>>>,
    stderr_reader: Option<JoinHandle<()>>,
}

impl Process {
    fn start(command: &[String]) -> Result<Self, String> {
        let [program, arguments @ ..] = command else {
            return Err("no program was named".to_owned());
        };
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start `{program}`: {error}"))?;
        let (sender, stdout) = mpsc::channel();
        if let Some(output) = child.stdout.take() {
            thread::spawn(move || {
                BufReader::new(output).lines().try_for_each(|line| sender.send(line))
            });
        }
        let stderr = Arc::new(Mutex::new(VecDeque::new()));
        let stderr_reader = child.stderr.take().map(|output| {
            let kept = Arc::clone(&stderr);
            thread::spawn(move || keep_last_lines(BufReader::new(output), &kept))
        });
        let stdin = child.stdin.take();
        Ok(Self { child, stdin, stdout, stderr, stderr_reader })
    }

    fn send(&mut self, request: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_string(request)?;
        line.push('\n');
        match &mut self.stdin {
            Some(stdin) => stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush()),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn receive(&mut self, timeout: Duration) -> Result<String, String> {
        match self.stdout.recv_timeout(timeout) {
            Ok(Ok(line)) => Ok(line),
            Ok(Err(error)) => Err(format!("the program's output cannot be read: {error}")),
            Err(RecvTimeoutError::Timeout) => {
                Err(format!("the program did not answer within {} s", timeout.as_secs_f64()))
            }
            Err(RecvTimeoutError::Disconnected) => {
                let status = self.wait_briefly().map(|status| format!(" ({status})"));
                Err(format!("the program ended without an answer{}", status.unwrap_or_default()))
            }
        }
    }

    /// The exit status, if the program ends within a second.
    fn wait_briefly(&mut self) -> Option<ExitStatus> {
        briefly(|| self.child.try_wait().ok().flatten())
    }

    /// Ends the program and returns what it last wrote to stderr.
    fn stop(mut self) -> String {
        self.end();
        let mut text = String::new();
        for line in self.stderr.lock().iter().flat_map(|lines| lines.iter()) {
            text.push_str("\nstderr: ");
            text.push_str(line);
        }
        text
    }

    /// Most programs end when their input does; the others are killed.
    fn end(&mut self) {
        self.stdin = None;
        if self.wait_briefly().is_none() && self.child.kill().is_ok() {
            let _ = self.child.wait();
        }
        // A grandchild may hold stderr open, so nobody waits for its end.
        if let Some(reader) = self.stderr_reader.take() {
            briefly(|| reader.is_finished().then_some(()));
        }
    }
}

/// Asks again and again, for a second at most.
fn briefly<T>(mut question: impl FnMut() -> Option<T>) -> Option<T> {
    for _ in 0..100 {
        if let Some(answer) = question() {
            return Some(answer);
        }
        thread::sleep(Duration::from_millis(10));
    }
    None
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

fn keep_last_lines(output: impl BufRead, kept: &Mutex<VecDeque<String>>) {
    for line in output.lines().map_while(Result::ok) {
        if let Ok(mut kept) = kept.lock() {
            if kept.len() == STDERR_LINES {
                kept.pop_front();
            }
            kept.push_back(line);
        }
    }
}
