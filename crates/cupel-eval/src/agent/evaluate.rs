//! Lets every method trim every request of every run, at every budget.

use std::convert::Infallible;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::AgentRuns;
use super::judge::{Judgement, StepMeasures};
use super::message::AgentMessage;
use super::run::{AgentRun, AgentStep};
use super::trimmer::{AgentMethod, AgentTask, MessageCounter, Window};
use crate::budgets::Budgets;
use crate::error::AgentError;
use crate::parallel::{available_threads, try_map};
use crate::selector::SelectorError;

/// A window that fits, and how good it is.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct JudgedWindow {
    /// The window.
    pub window: Window,
    /// Measures of the window.
    pub measures: StepMeasures,
}

/// Lets every method trim every request of every run, at every budget.
///
/// # Example
///
/// ```
/// use cupel_eval::{AgentEvaluator, AgentMethod, AgentRuns, Baseline, Budgets, summarize_agents};
///
/// let line = r#"{"run": "desk-1", "set": "desk", "messages": [
///     {"role": "system", "content": "You help."},
///     {"role": "user", "content": "Where is parcel PX-7?"},
///     {"role": "assistant", "content": "In which town do you live?"},
///     {"role": "user", "content": "In Malmö."}],
///     "steps": [{"at": 4, "values": ["PX-7", "Malmö"]}]}"#;
/// let runs = AgentRuns::read("desk.jsonl", line.replace('\n', "").as_bytes())?;
///
/// let words = |text: &str| text.split_whitespace().count() as i64;
/// let methods = [AgentMethod::new("newest", Baseline::Newest)];
/// let evaluation = AgentEvaluator::new(Budgets::new([10])?, words).run(&runs, &methods)?;
/// let summary = summarize_agents(&evaluation);
/// assert_eq!(summary.rows[0].coverage.unwrap().mean, 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct AgentEvaluator<'c> {
    budgets: Budgets,
    count: Box<dyn Fn(&str) -> i64 + Send + Sync + 'c>,
    threads: NonZeroUsize,
}

impl<'c> AgentEvaluator<'c> {
    /// Measures at these budgets, which are tokens beyond the head of a run, on all cores. A
    /// message counts as many tokens as its text, and four.
    pub fn new(budgets: Budgets, count: impl Fn(&str) -> i64 + Send + Sync + 'c) -> Self {
        Self { budgets, count: Box::new(count), threads: available_threads() }
    }

    /// On so many threads. It changes how long it takes, and nothing else.
    #[must_use]
    pub fn threads(self, threads: NonZeroUsize) -> Self {
        Self { threads, ..self }
    }

    /// Lets every method trim every request.
    ///
    /// # Errors
    ///
    /// The first that a method says it cannot trim, by method and then by run.
    pub fn run<'d>(
        &self,
        data: &'d AgentRuns,
        methods: &[AgentMethod<'_>],
    ) -> Result<AgentEvaluation<'d>, AgentError> {
        self.run_with_progress(data, methods, |_| ())
    }

    /// As [`run`](Self::run), and calls back with the number of judged steps after each run, from
    /// any of the threads. In the end it is that of all steps times methods.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn run_with_progress<'d>(
        &self,
        data: &'d AgentRuns,
        methods: &[AgentMethod<'_>],
        on_run: impl Fn(usize) + Sync,
    ) -> Result<AgentEvaluation<'d>, AgentError> {
        let runs = data.runs();
        let Ok(message_tokens) = try_map::<Vec<i64>, Infallible>(self.threads, runs.len(), |at| {
            Ok(self.message_tokens(&runs[at]))
        });
        let judged = AtomicUsize::new(0);
        let answers = try_map(self.threads, runs.len() * methods.len(), |job| {
            let (method, at) = (&methods[job / runs.len()], job % runs.len());
            let answers = self.ask(method, &runs[at], &message_tokens[at])?;
            let steps = runs[at].steps().len();
            on_run(judged.fetch_add(steps, Ordering::Relaxed) + steps);
            Ok(answers)
        })?;
        let methods = methods.iter().map(|method| method.name().to_owned()).collect();
        Ok(AgentEvaluation {
            data,
            message_tokens,
            budgets: self.budgets.clone(),
            methods,
            answers,
        })
    }

    /// Tokens of each message of a run.
    pub fn message_tokens(&self, run: &AgentRun) -> Vec<i64> {
        run.messages().iter().map(|message| self.tokens(message)).collect()
    }

    /// The windows of one run, by step and then by budget, for whoever has runs one at a time;
    /// with what its [messages count for](Self::message_tokens).
    ///
    /// # Errors
    ///
    /// If the method says that it cannot trim it.
    pub fn run_one(
        &self,
        method: &AgentMethod<'_>,
        run: &AgentRun,
        message_tokens: &[i64],
    ) -> Result<Vec<Option<JudgedWindow>>, AgentError> {
        self.ask(method, run, message_tokens)
    }

    /// The windows of a run, by step and then by budget.
    fn ask(
        &self,
        method: &AgentMethod<'_>,
        run: &AgentRun,
        message_tokens: &[i64],
    ) -> Result<Vec<Option<JudgedWindow>>, AgentError> {
        let budgets = self.budgets.tokens();
        let head: i64 = message_tokens.iter().take(run.head()).sum();
        let max_tokens: Vec<i64> = budgets.iter().map(|tokens| head + tokens).collect();
        let counter = MessageCounter(&*self.count);
        let task = AgentTask { run, budgets, max_tokens: &max_tokens, message_tokens, counter };
        let failed = |at: Option<usize>| {
            let (method, run) = (method.name().to_owned(), run.name().to_owned());
            move |source| AgentError { method, run, at, source }
        };
        let mut trimmer = method.trimmer().begin(task).map_err(failed(None))?;
        let mut answers: Vec<Option<JudgedWindow>> = Vec::new();
        // For each budget, where its newest window is among the answers.
        let mut newest: Vec<Option<usize>> = vec![None; budgets.len()];
        for step in run.steps() {
            let windows = trimmer.windows(step).map_err(failed(Some(step.at())))?;
            let windows = windows.into_iter().chain(std::iter::repeat_with(|| None));
            for (at, window) in windows.take(budgets.len()).enumerate() {
                let before = newest[at].and_then(|answer| answers[answer].as_ref());
                let before = before.map(|judged| &judged.window);
                let judged = window.map(|window| self.judge(task, step, at, window, before));
                let judged = judged.transpose().map_err(failed(Some(step.at())))?;
                if judged.is_some() {
                    newest[at] = Some(answers.len());
                }
                answers.push(judged);
            }
        }
        Ok(answers)
    }

    fn judge(
        &self,
        task: AgentTask<'_>,
        step: &AgentStep,
        budget: usize,
        window: Window,
        before: Option<&Window>,
    ) -> Result<JudgedWindow, SelectorError> {
        if let Some(index) = window.kept().find(|index| *index >= step.at()) {
            return Err(format!("kept message {index}, which is not in the request").into());
        }
        let run = task.run;
        let measures = Judgement {
            run,
            step,
            max_tokens: task.max_tokens[budget],
            window: &window.messages(run),
            tokens: &window.tokens(task.message_tokens, |message| self.tokens(message)),
            before: &before.map(|before| before.messages(run)).unwrap_or_default(),
        }
        .measures();
        Ok(JudgedWindow { window, measures })
    }

    fn tokens(&self, message: &AgentMessage) -> i64 {
        MessageCounter(&*self.count).tokens(message.text())
    }
}

impl fmt::Debug for AgentEvaluator<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentEvaluator").field("budgets", &self.budgets).finish_non_exhaustive()
    }
}

/// The windows of every method at every step and budget.
#[derive(Debug, Clone)]
pub struct AgentEvaluation<'d> {
    data: &'d AgentRuns,
    message_tokens: Vec<Vec<i64>>,
    budgets: Budgets,
    methods: Vec<String>,
    /// By method and then by run; in each by step and then by budget.
    answers: Vec<Vec<Option<JudgedWindow>>>,
}

impl<'d> AgentEvaluation<'d> {
    /// Data that was trimmed.
    pub fn data(&self) -> &'d AgentRuns {
        self.data
    }

    /// The budgets, rising.
    pub fn budgets(&self) -> &Budgets {
        &self.budgets
    }

    /// The names of the methods, in the order in which they were given.
    pub fn methods(&self) -> &[String] {
        &self.methods
    }

    /// The windows of a method for a run, both by position: one for each budget, at each step;
    /// `None` where nothing fits. None at all if there is no such method or run.
    pub fn windows(
        &self,
        method: usize,
        run: usize,
    ) -> impl Iterator<Item = &[Option<JudgedWindow>]> {
        let runs = self.data.runs().len();
        let is_there = method < self.methods.len() && run < runs;
        let answers = if is_there { &self.answers[method * runs + run][..] } else { &[] };
        answers.chunks(self.budgets.tokens().len())
    }

    /// Cost of a run if everything were sent: each message once, since all that was sent
    /// before is in the provider's cache.
    pub fn everything_tokens(&self, run: usize) -> i64 {
        let Some(known) = self.data.runs().get(run) else { return 0 };
        let end = known.steps().last().map_or(0, AgentStep::at);
        self.message_tokens[run][..end].iter().sum()
    }

    /// Number of tokens a run would send if everything were sent at each step, cached or not.
    pub fn everything_sent_tokens(&self, run: usize) -> i64 {
        let Some(known) = self.data.runs().get(run) else { return 0 };
        let sent = |step: &AgentStep| self.message_tokens[run][..step.at()].iter().sum::<i64>();
        known.steps().iter().map(sent).sum()
    }
}
