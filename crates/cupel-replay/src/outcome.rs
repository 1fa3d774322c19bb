//! What became of one request.

use std::sync::Arc;

use cupel_chat::Statement;
use cupel_engine::SessionState;
use serde::Serialize;

use crate::cost::Tariff;
use crate::place::Place;

/// What became of one request, in every way.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RequestOutcome {
    /// Where it is.
    pub place: Place,
    /// Tells the request again without its text.
    pub fingerprint: u64,
    /// The conversation that it is of, if it is known.
    pub conversation: Option<String>,
    /// The set, of the runs of agents.
    pub set: Option<String>,
    /// The model, as the request or the log tells it.
    pub model: Option<String>,
    /// When it was sent, in microseconds since 1970.
    pub time: Option<i64>,
    /// The route that it is of.
    pub route: Option<String>,
    /// Whose it is.
    pub user: Option<String>,
    /// How many messages it has.
    pub messages: usize,
    /// What it costs as it was logged.
    pub logged: Sent,
    /// How many tokens the provider counted, if the log tells.
    pub counted_tokens: Option<i64>,
    /// What the input of its model costs, and what its provider has in its cache.
    pub tariff: Tariff,
    /// Tells its conversation from others, named or not.
    pub cluster: u64,
    /// How many values the answer used that stood in the request; `None` if the log has no answer.
    pub used_values: Option<usize>,
    /// How many of the answer's calls were made before: in this request, or in one before it of the same
    /// conversation whose call is no longer there.
    pub repeated_calls: usize,
    /// Those of them whose first making the log itself has lost.
    pub repeated_after_loss: usize,
    /// The statements of the rules that are looked for.
    pub statements: Vec<Statement>,
    /// One for each way.
    pub windows: Vec<WindowOutcome>,
    /// What was found out about the request before it of its conversation, which had no answer of its
    /// own: one for each way that had a window.
    pub late: Vec<Option<Coverage>>,
    /// The request, where it may be one of the worst.
    pub text: Option<Arc<str>>,
    /// What came back, where it may be one of the worst.
    pub answer: Option<Arc<str>>,
    /// The request before it of its conversation, where that may be one of the worst and has no answer of
    /// its own.
    pub text_before: Option<Arc<str>>,
}

/// Tokens that are sent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Sent {
    /// All of them.
    pub tokens: i64,
    /// Those behind the common beginning with what was sent before in the conversation.
    pub uncached_tokens: i64,
    /// What they cost, in tokens at full price.
    pub cost: f64,
}

impl Sent {
    /// Notes what it costs.
    pub(crate) fn bill(&mut self, tariff: &Tariff, is_cold: bool) {
        self.cost = tariff.cost(self.tokens, self.uncached_tokens, is_cold);
    }
}

/// How much of what was used is still there.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Coverage {
    /// The share.
    pub share: f64,
    /// How many values, or evidence messages, were used.
    pub used: usize,
    /// How many of them are there.
    pub found: usize,
    /// Those that are not, in the order of the answer.
    pub lost: Vec<String>,
}

/// What became of one request in one way.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct WindowOutcome {
    /// Whether what must be kept fits. If not, nothing else is known.
    pub fits: bool,
    /// Whether the window is another request than the one that was logged.
    pub is_changed: bool,
    /// Whether a provider would refuse it.
    pub is_invalid: bool,
    /// What is sent.
    pub sent: Sent,
    /// The messages that stay, by index, in the order written.
    pub kept: Vec<u32>,
    /// How many of them are shorter than they were.
    pub shortened: usize,
    /// How much of what was used is still there; `None` where the log does not tell what was used.
    pub coverage: Option<Coverage>,
    /// Calls of the answer that repeat an earlier one which the window has not: the agent fetches again.
    pub fetched_again: usize,
    /// The scores of the candidates that stay, where details are wanted.
    pub scores: Vec<f64>,
    /// Why messages were left out, where details are wanted: the first message of each, and the reason.
    pub reasons: Vec<(u32, String)>,
    /// The session before this window, where it may be one of the worst; `None` where it begins with it.
    pub session: Option<Arc<SessionState>>,
    /// The same of the window before it in its conversation.
    pub session_before: Option<Arc<SessionState>>,
}

/// What is wrong with a row, and what kind of wrong it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowProblem {
    /// Where it is.
    pub place: Place,
    /// What it is.
    pub kind: ProblemKind,
    /// The rule that is broken, and what to do.
    pub rule: String,
}

/// What kind of wrong a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ProblemKind {
    /// It cannot be read as a request.
    Broken,
    /// It is a request that its provider refuses.
    InvalidInLog,
    /// Something of a file cannot be read.
    Unreadable,
}

impl std::fmt::Display for RowProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.place, self.rule)
    }
}

/// What became of a row, or of one of its requests.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum RowOutcome {
    /// A request.
    Request(Box<RequestOutcome>),
    /// A row that could not be replayed.
    Problem(RowProblem),
}
