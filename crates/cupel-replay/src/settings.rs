//! Settings of a replay: policies, budgets, and the rest.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cupel_engine::{Engine, Options, Rule, Shorten};
use cupel_eval::{Baseline, available_threads};
use cupel_tokens::TokenCounter;

use crate::cost::PriceList;
use crate::read::Columns;

/// A policy, by the name that results call it.
#[derive(Debug, Clone)]
pub struct ReplayedPolicy {
    /// The name.
    pub name: String,
    /// The engine that selects by it.
    pub engine: Engine,
}

/// Settings of a replay. See [`Replay`](crate::Replay).
#[derive(Clone)]
#[non_exhaustive]
pub struct Settings {
    /// The policies; the first is the one that the others are compared with.
    pub policies: Vec<ReplayedPolicy>,
    /// The windows in tokens; where there is none, that of each request's model. Of the runs of agents,
    /// tokens beyond the head.
    pub budgets: Vec<i64>,
    /// Baselines: `newest`, `everything` or `clear-tool-results`.
    pub baselines: Vec<Baseline>,
    /// Prices that are not those of the table of models.
    pub prices: PriceList,
    /// The share of the conversations that is replayed; all of each, and always the same.
    pub sample: Option<f64>,
    /// True if each policy is measured in a session too, whose windows keep the prompt cache.
    pub session: bool,
    /// Texts that may be shortened in the runs of agents; requests are shortened as the engines say.
    pub shorten: Option<Shorten>,
    /// Counter for the runs of agents.
    pub counter: Arc<dyn TokenCounter>,
    /// Which fields are what in logs of no known format.
    pub columns: Columns,
    /// Number of threads; it changes how long it takes, and nothing else.
    pub threads: NonZeroUsize,
    /// Memory for open conversations, in bytes; the one that was quiet for longest is
    /// forgotten first.
    pub conversation_bytes: usize,
    /// True if scores and reasons are wanted for each request.
    pub details: bool,
    /// Number of worst requests that are kept, and the largest texts that are kept with them.
    pub worst: usize,
    /// The largest request, in bytes, whose text is kept with the worst; 0 keeps none.
    pub worst_text_bytes: usize,
    /// Standing rules that are looked for in each request, and kept no more than the policies keep them:
    /// outcomes say [who states them](crate::RequestOutcome::statements).
    pub rules: Vec<Rule>,
    /// When somebody sets this, rows that were not begun are left, and what was made of those before
    /// them comes back at once.
    pub stop: Option<Arc<AtomicBool>>,
}

/// Memory for open conversations, unless settings say otherwise.
const CONVERSATION_BYTES: usize = 24 << 20;

impl Settings {
    /// Replays these policies at these budgets, on all cores.
    pub fn new(
        policies: Vec<ReplayedPolicy>,
        budgets: Vec<i64>,
        counter: Arc<dyn TokenCounter>,
    ) -> Self {
        Self {
            policies,
            budgets,
            baselines: Vec::new(),
            prices: PriceList::default(),
            sample: None,
            session: false,
            shorten: None,
            counter,
            columns: Columns::default(),
            threads: available_threads(),
            conversation_bytes: CONVERSATION_BYTES,
            details: false,
            worst: 20,
            worst_text_bytes: 0,
            rules: Vec::new(),
            stop: None,
        }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// The ways in which requests are trimmed: by policy, anew and in a session, by budget.
    pub fn ways(&self) -> Vec<Way> {
        let sessions: &[bool] = if self.session { &[false, true] } else { &[false] };
        let budgets: Vec<Option<i64>> = match &self.budgets[..] {
            [] => vec![None],
            budgets => budgets.iter().copied().map(Some).collect(),
        };
        let mut ways = Vec::new();
        for (policy, replayed) in self.policies.iter().enumerate() {
            for in_session in sessions {
                for budget_tokens in &budgets {
                    let (name, budget_tokens) = (replayed.name.clone(), *budget_tokens);
                    let in_session = *in_session;
                    ways.push(Way { name, policy, in_session, budget_tokens, baseline: None });
                }
            }
        }
        for baseline in &self.baselines {
            for budget_tokens in &budgets {
                ways.push(Way {
                    name: baseline.name().to_owned(),
                    policy: 0,
                    in_session: false,
                    budget_tokens: *budget_tokens,
                    baseline: Some(*baseline),
                });
            }
        }
        ways
    }
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings").field("ways", &self.ways()).finish_non_exhaustive()
    }
}

/// A way in which requests are trimmed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// The name of the policy.
    pub name: String,
    /// Which policy it is; of a baseline, of no matter.
    pub policy: usize,
    /// The baseline, if it is one.
    pub baseline: Option<Baseline>,
    /// True if windows keep the prompt cache.
    pub in_session: bool,
    /// The window; `None` for that of the request's model.
    pub budget_tokens: Option<i64>,
}

impl Way {
    /// Title: the policy, and "session" if it is in one.
    pub fn title(&self) -> String {
        let session = if self.in_session { " in a session" } else { "" };
        format!("{}{session}", self.name)
    }

    /// Options for a request.
    #[must_use]
    pub fn options(&self) -> Options {
        match self.budget_tokens {
            Some(tokens) => Options::new().max_tokens(tokens),
            None => Options::new(),
        }
    }
}
