//! Outcome of one request.

use std::sync::Arc;

use cupel_chat::Statement;
use cupel_engine::SessionState;
use serde::Serialize;

use crate::cost::Tariff;
use crate::place::Place;

/// Outcome of one request, in every way.
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
    /// User of the request.
    pub user: Option<String>,
    /// Number of messages.
    pub messages: usize,
    /// Tokens and cost as it was logged.
    pub logged: Sent,
    /// Number of tokens that the provider counted, if the log tells.
    pub counted_tokens: Option<i64>,
    /// Input prices of its model, and the cache rule of its provider.
    pub tariff: Tariff,
    /// Tells its conversation from others, named or not.
    pub cluster: u64,
    /// Number of values that the answer used and that stood in the request; `None` if the log has no answer.
    pub used_values: Option<usize>,
    /// Number of the answer's calls that were made before: in this request, or in one before it of the same
    /// conversation whose call is no longer there.
    pub repeated_calls: usize,
    /// Those of them whose first making the log itself has lost.
    pub repeated_after_loss: usize,
    /// The tools that it defines.
    pub tools: Vec<ToolSeen>,
    /// The statements of the rules that are looked for.
    pub statements: Vec<Statement>,
    /// One for each way.
    pub windows: Vec<WindowOutcome>,
    /// Findings about the request before it of its conversation, which had no answer of its
    /// own: one for each way that had a window.
    pub late: Vec<Option<Coverage>>,
    /// The request, where it may be one of the worst.
    pub text: Option<Arc<str>>,
    /// Answer, where it may be one of the worst.
    pub answer: Option<Arc<str>>,
    /// The request before it of its conversation, where that may be one of the worst and has no answer of
    /// its own.
    pub text_before: Option<Arc<str>>,
}

/// A tool that a request defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSeen {
    /// Its name.
    pub name: String,
    /// Called by a message of the request, or by the answer.
    pub is_used: bool,
}

/// Tokens that are sent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Sent {
    /// All of them.
    pub tokens: i64,
    /// Those behind the common beginning with what was sent before in the conversation.
    pub uncached_tokens: i64,
    /// Cost, in tokens at full price.
    pub cost: f64,
}

impl Sent {
    /// Notes what it costs.
    pub(crate) fn bill(&mut self, tariff: &Tariff, is_cold: bool) {
        self.cost = tariff.cost(self.tokens, self.uncached_tokens, is_cold);
    }
}

/// Share of the used values that is still there.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Coverage {
    /// The share.
    pub share: f64,
    /// Number of values, or evidence messages, that were used.
    pub used: usize,
    /// Number of those that are there.
    pub found: usize,
    /// Those that are not, in the order of the answer.
    pub lost: Vec<String>,
}

/// Outcome of one request in one way.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct WindowOutcome {
    /// True if the messages that must be kept fit. If not, nothing else is known.
    pub fits: bool,
    /// True if the window is another request than the one that was logged.
    pub is_changed: bool,
    /// True if a provider would refuse it.
    pub is_invalid: bool,
    /// Tokens and cost of the window.
    pub sent: Sent,
    /// The messages that stay, by index, in the order written.
    pub kept: Vec<u32>,
    /// Number of messages that are shorter than they were.
    pub shortened: usize,
    /// Share of the used values that is still there; `None` where the log does not tell what was used.
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

/// Problem of a row, and its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowProblem {
    /// Where it is.
    pub place: Place,
    /// Kind of the problem.
    pub kind: ProblemKind,
    /// The rule that is broken, and what to do.
    pub rule: String,
}

/// Kind of a row's problem.
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

/// Outcome of a row, or of one of its requests.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum RowOutcome {
    /// A request.
    Request(Box<RequestOutcome>),
    /// A row that could not be replayed.
    Problem(RowProblem),
}
