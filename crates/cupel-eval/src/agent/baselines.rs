//! Baselines that every trimmer of agents' requests is to be compared with.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::message::AgentMessage;
use super::run::{AgentRun, AgentStep};
use super::trimmer::{AgentTask, RunTrimmer, Trimmer, Window};
use crate::baseline::Baseline;
use crate::kind::DataKind;
use crate::selector::SelectorError;

/// Number of last results that `clear-tool-results` leaves alone.
const UNCLEARED: usize = 3;

/// Text that it puts into the place of the others.
const NOTE: &str = "[cleared]";

impl Trimmer for Baseline {
    /// All but `random` and `oracle`, which need candidates whose evidence is known.
    fn begin<'t>(&'t self, task: AgentTask<'t>) -> Result<Box<dyn RunTrimmer + 't>, SelectorError> {
        match self {
            Self::Newest => Ok(Box::new(Newest(task))),
            Self::Everything => Ok(Box::new(Everything(task))),
            Self::ClearToolResults => {
                let clearing = |_: &i64| Clearing { from: task.run.head(), cleared: Vec::new() };
                let budgets = task.budgets.iter().map(clearing).collect();
                let note_tokens = task.tokens(NOTE);
                let notes = Notes { tokens: note_tokens, by_message: HashMap::new() };
                Ok(Box::new(ClearToolResults { task, notes, budgets }))
            }
            other @ (Self::Random { .. } | Self::Oracle) => {
                Err(other.not_for(DataKind::AgentRuns).into())
            }
        }
    }
}

/// The head, and the newest messages until one does not fit, whatever the provider says to that.
struct Newest<'t>(AgentTask<'t>);

impl RunTrimmer for Newest<'_> {
    fn windows(&mut self, step: &AgentStep) -> Result<Vec<Option<Window>>, SelectorError> {
        let window = |room: &i64| {
            let (head, at) = (self.0.run.head(), step.at());
            let mut left = *room;
            let sizes = self.0.message_tokens[head..at].iter().rev();
            let fitting = sizes.take_while(|tokens| {
                left -= **tokens;
                left >= 0
            });
            let first = at - fitting.count();
            (first < at || at == head).then(|| Window::of_kept((0..head).chain(first..at)))
        };
        Ok(self.0.budgets.iter().map(window).collect())
    }
}

/// The whole request, whatever the budget says.
struct Everything<'t>(AgentTask<'t>);

impl RunTrimmer for Everything<'_> {
    fn windows(&mut self, step: &AgentStep) -> Result<Vec<Option<Window>>, SelectorError> {
        let window = |_: &i64| Some(Window::of_kept(0..step.at()));
        Ok(self.0.budgets.iter().map(window).collect())
    }
}

/// The whole request until it does not fit. Then all results but the last few become a note; if
/// that is not enough, the oldest messages go, calls with their results. What is cleared or gone
/// stays so, as the cache would have it.
struct ClearToolResults<'t> {
    task: AgentTask<'t>,
    notes: Notes,
    budgets: Vec<Clearing>,
}

/// The results as they are once they are cleared.
struct Notes {
    /// Tokens of each of them.
    tokens: i64,
    by_message: HashMap<usize, Arc<AgentMessage>>,
}

/// State of the baseline at a budget.
struct Clearing {
    /// The first message behind the head that is still there.
    from: usize,
    /// The messages that are cleared, rising.
    cleared: Vec<usize>,
}

impl RunTrimmer for ClearToolResults<'_> {
    fn windows(&mut self, step: &AgentStep) -> Result<Vec<Option<Window>>, SelectorError> {
        let (task, at) = (self.task, step.at());
        for index in cleared_results(task.run, at) {
            let note = || Arc::new(task.run.messages()[index].with_content(NOTE));
            self.notes.by_message.entry(index).or_insert_with(note);
        }
        let notes = &self.notes;
        let window = |(room, budget): (&i64, &mut Clearing)| budget.window(task, notes, at, *room);
        Ok(task.budgets.iter().zip(&mut self.budgets).map(window).collect())
    }
}

impl Clearing {
    fn window(
        &mut self,
        task: AgentTask<'_>,
        notes: &Notes,
        at: usize,
        room: i64,
    ) -> Option<Window> {
        let mut used = self.tokens(task, notes, self.from..at);
        if used > room {
            self.cleared = cleared_results(task.run, at);
            used = self.tokens(task, notes, self.from..at);
        }
        while used > room {
            let next = end_of_bundle(task.run, self.from, at);
            if next == at {
                return None;
            }
            used -= self.tokens(task, notes, self.from..next);
            self.from = next;
        }
        let message = |index| match notes.by_message.get(&index).filter(|_| self.is_cleared(index))
        {
            Some(note) => Err(note.clone()),
            None => Ok(index),
        };
        let indices = (0..task.run.head()).chain(self.from..at);
        Some(Window::of_messages(indices.map(message)))
    }

    fn tokens(&self, task: AgentTask<'_>, notes: &Notes, messages: Range<usize>) -> i64 {
        let tokens = |index| {
            if self.is_cleared(index) { notes.tokens } else { task.message_tokens[index] }
        };
        messages.map(tokens).sum()
    }

    fn is_cleared(&self, message: usize) -> bool {
        self.cleared.binary_search(&message).is_ok()
    }
}

/// All results but the last few, rising. The head is never touched.
fn cleared_results(run: &AgentRun, at: usize) -> Vec<usize> {
    let is_result = |index: &usize| run.messages()[*index].answers().is_some();
    let mut results: Vec<usize> = (run.head()..at).filter(is_result).collect();
    results.truncate(results.len().saturating_sub(UNCLEARED));
    results
}

/// Where the message, or the call with all its results, ends.
fn end_of_bundle(run: &AgentRun, from: usize, at: usize) -> usize {
    let results = run.messages()[from + 1..at].iter();
    from + 1 + results.take_while(|message| message.answers().is_some()).count()
}
