//! Whoever trims the requests of an agent.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::message::AgentMessage;
use super::run::{AgentRun, AgentStep};
use crate::selector::SelectorError;

/// Whoever trims the requests of agents: a policy, a baseline, a file of another program's windows.
///
/// A run is a conversation: whoever remembers something from step to step does so in the
/// [`RunTrimmer`] that begins with the run. Runs are trimmed on several threads, the steps of a run
/// one after the other.
pub trait Trimmer: Send + Sync {
    /// Begins with a run.
    ///
    /// # Errors
    ///
    /// If it cannot trim the run at all; it ends the evaluation.
    fn begin<'t>(&'t self, task: AgentTask<'t>) -> Result<Box<dyn RunTrimmer + 't>, SelectorError>;
}

/// Whoever trims the requests of one run, step by step.
pub trait RunTrimmer {
    /// One window for each budget of the task, in their order. `None` (or no entry) means that
    /// nothing fits.
    ///
    /// Only the messages below [`AgentStep::at`] are in the request; what comes after them, and
    /// what the step needs, is there for upper bounds alone.
    ///
    /// # Errors
    ///
    /// If it cannot trim the request; it ends the evaluation.
    fn windows(&mut self, step: &AgentStep) -> Result<Vec<Option<Window>>, SelectorError>;
}

/// A run, and the room that its windows have.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct AgentTask<'t> {
    /// The run.
    pub run: &'t AgentRun,
    /// The budgets: tokens beyond the head.
    pub budgets: &'t [i64],
    /// The same with the head: how many tokens the whole window may have, for each budget.
    pub max_tokens: &'t [i64],
    /// Tokens of each message of the run when windows are judged.
    pub message_tokens: &'t [i64],
    pub(super) counter: MessageCounter<'t>,
}

impl AgentTask<'_> {
    /// Tokens of a message with this text when windows are judged.
    pub fn tokens(&self, text: &str) -> i64 {
        self.counter.tokens(text)
    }
}

/// Tokens of every message beside its text.
const PER_MESSAGE: i64 = 4;

/// Counts messages.
#[derive(Clone, Copy)]
pub(super) struct MessageCounter<'c>(pub(super) &'c (dyn Fn(&str) -> i64 + Send + Sync));

impl MessageCounter<'_> {
    pub(super) fn tokens(self, text: &str) -> i64 {
        PER_MESSAGE + (self.0)(text)
    }
}

impl fmt::Debug for MessageCounter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MessageCounter")
    }
}

/// Messages that are left of a request.
#[derive(Debug, Clone)]
pub struct Window {
    messages: Vec<Entry>,
}

#[derive(Debug, Clone)]
enum Entry {
    /// A message of the run, by index.
    Kept(usize),
    /// Another one.
    Written(Arc<AgentMessage>),
}

impl Window {
    /// The messages of the run with these indices, in this order.
    pub fn of_kept(indices: impl IntoIterator<Item = usize>) -> Self {
        Self { messages: indices.into_iter().map(Entry::Kept).collect() }
    }

    /// The messages of the run with these indices, in this order, some of them written anew as JSON.
    ///
    /// # Errors
    ///
    /// If what is written anew is no message.
    pub fn of_rewritten(
        indices: impl IntoIterator<Item = usize>,
        rewritten: &[(usize, String)],
    ) -> Result<Self, SelectorError> {
        let entry = |index: usize| -> Result<Entry, SelectorError> {
            let Some((_, json)) = rewritten.iter().find(|(at, _)| *at == index) else {
                return Ok(Entry::Kept(index));
            };
            let message = AgentMessage::read(serde_json::from_str(json)?);
            let message = message.map_err(|problem| problem.to_string())?;
            Ok(Entry::Written(Arc::new(message)))
        };
        let messages = indices.into_iter().map(entry).collect::<Result<_, _>>()?;
        Ok(Self { messages })
    }

    /// The indices of the run's messages that it keeps unchanged, in its order.
    pub fn kept(&self) -> impl Iterator<Item = usize> {
        self.messages.iter().filter_map(|entry| match entry {
            Entry::Kept(index) => Some(*index),
            Entry::Written(_) => None,
        })
    }

    /// Its messages as JSON.
    pub fn json<'w>(&'w self, run: &'w AgentRun) -> Vec<&'w Value> {
        self.messages(run).into_iter().map(AgentMessage::json).collect()
    }

    /// A window that somebody wrote: messages that are those of the run, and others.
    pub(super) fn of_messages(
        messages: impl IntoIterator<Item = Result<usize, Arc<AgentMessage>>>,
    ) -> Self {
        let entry = |message| match message {
            Ok(index) => Entry::Kept(index),
            Err(message) => Entry::Written(message),
        };
        Self { messages: messages.into_iter().map(entry).collect() }
    }

    /// Its messages. Indices that the run does not have are passed over.
    pub(super) fn messages<'w>(&'w self, run: &'w AgentRun) -> Vec<&'w AgentMessage> {
        let message = |entry: &'w Entry| match entry {
            Entry::Kept(index) => run.messages().get(*index),
            Entry::Written(message) => Some(&**message),
        };
        self.messages.iter().filter_map(message).collect()
    }

    /// Tokens of each message.
    pub(super) fn tokens(&self, known: &[i64], count: impl Fn(&AgentMessage) -> i64) -> Vec<i64> {
        let tokens = |entry: &Entry| match entry {
            Entry::Kept(index) => known.get(*index).copied(),
            Entry::Written(message) => Some(count(message)),
        };
        self.messages.iter().filter_map(tokens).collect()
    }
}

/// A trimmer with the name that it has in the results.
pub struct AgentMethod<'s> {
    name: String,
    trimmer: Box<dyn Trimmer + 's>,
}

impl<'s> AgentMethod<'s> {
    /// Gives a trimmer a name.
    pub fn new(name: impl Into<String>, trimmer: impl Trimmer + 's) -> Self {
        Self { name: name.into(), trimmer: Box::new(trimmer) }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whoever trims.
    pub fn trimmer(&self) -> &dyn Trimmer {
        &*self.trimmer
    }
}

impl fmt::Debug for AgentMethod<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AgentMethod").field(&self.name).finish()
    }
}
