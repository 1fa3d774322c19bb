//! The figures of one way.

use serde::Serialize;

use super::clusters::{ClusteredMean, Clusters};
use super::worst::{Worst, WorstList};
use crate::cost::Tariff;
use crate::outcome::{Coverage, Sent, WindowOutcome};
use crate::settings::Way;

/// Figures of a policy at a budget.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct WaySummary {
    /// The policy.
    pub policy: String,
    /// True if windows keep the prompt cache.
    pub in_session: bool,
    /// The window in tokens; `None` for that of each request's model.
    pub budget_tokens: Option<i64>,
    /// Requests that have a window.
    pub windows: usize,
    /// Requests of which something is left out or shortened.
    pub changed: usize,
    /// Requests of which what must be kept does not fit.
    pub does_not_fit: usize,
    /// Windows that a provider would refuse.
    pub invalid: usize,
    /// Tokens that are sent, and their cost.
    pub sent: Dollars,
    /// Share of the values used next that is still there; `None` if the log tells of no request what was
    /// used.
    pub coverage: Option<Share>,
    /// Calls that repeat an earlier one which the window has not: the agent fetches again.
    pub fetched_again: usize,
    /// The worst requests, the worst first.
    pub worst: Vec<Worst>,
}

/// A mean of shares.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Share {
    /// The mean over requests.
    pub mean: f64,
    /// Its standard error, by conversations: requests of one conversation resemble each other.
    pub error: f64,
    /// Number of requests.
    pub requests: usize,
    /// Number of their conversations.
    pub conversations: usize,
    /// Those of which everything that was used is there.
    pub complete: usize,
    /// Number of values that were used.
    pub used: usize,
    /// Number of those that are there.
    pub found: usize,
}

/// Tokens, and what they cost.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Dollars {
    /// All tokens.
    pub tokens: i64,
    /// Those that no cache has.
    pub uncached_tokens: i64,
    /// Cost by each request's model and its provider's cache, in tokens at full price.
    pub full_price_tokens: i64,
    /// Requests whose model has known prices.
    pub priced_requests: usize,
    /// Cost without a cache, in US dollars.
    pub dollars_without_cache: f64,
    /// Cost with one: the tokens at full price, times the price.
    pub dollars: f64,
    /// Cost in tokens, before rounding.
    #[serde(skip)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub(crate) cost: f64,
}

impl Dollars {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let cost = self.cost + other.cost;
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            uncached_tokens: self.uncached_tokens.saturating_add(other.uncached_tokens),
            full_price_tokens: cost.round() as i64,
            priced_requests: self.priced_requests + other.priced_requests,
            dollars_without_cache: self.dollars_without_cache + other.dollars_without_cache,
            dollars: self.dollars + other.dollars,
            cost,
        }
    }

    pub(super) fn add(&mut self, sent: Sent, tariff: &Tariff) {
        self.tokens = self.tokens.saturating_add(sent.tokens);
        self.uncached_tokens = self.uncached_tokens.saturating_add(sent.uncached_tokens);
        self.cost += sent.cost;
        self.full_price_tokens = self.cost.round() as i64;
        if let Some(price) = tariff.dollars {
            self.priced_requests += 1;
            self.dollars_without_cache += price * sent.tokens as f64 / 1e6;
            self.dollars += price * sent.cost / 1e6;
        }
    }
}

/// Shares, added up.
#[derive(Debug, Clone, Default)]
pub(super) struct Shares {
    /// In the order of the requests, so that the mean is that of `cupel eval` to the last digit.
    sum: f64,
    clusters: Clusters,
    requests: usize,
    complete: usize,
    used: usize,
    found: usize,
}

impl Shares {
    pub(super) fn add(&mut self, coverage: &Coverage, conversation: u64) {
        self.sum += coverage.share;
        self.clusters.add(conversation, coverage.share);
        self.requests += 1;
        self.complete += usize::from(coverage.share >= 1.0);
        self.used += coverage.used;
        self.found += coverage.found;
    }

    fn share(&self) -> Option<Share> {
        let by_conversation = self.clusters.mean()?;
        let mean = self.sum / self.requests as f64;
        let Self { requests, complete, used, found, .. } = *self;
        let ClusteredMean { error, conversations, .. } = by_conversation;
        Some(Share { mean, error, requests, conversations, complete, used, found })
    }
}

/// The figures of one way, added up.
#[derive(Debug, Default)]
pub(super) struct WayTally {
    windows: usize,
    changed: usize,
    does_not_fit: usize,
    invalid: usize,
    fetched_again: usize,
    sent: Dollars,
    pub(super) coverage: Shares,
}

impl WayTally {
    pub(super) fn add(&mut self, window: &WindowOutcome, tariff: &Tariff) {
        self.fetched_again += window.fetched_again;
        if !window.fits {
            self.does_not_fit += 1;
            return;
        }
        self.windows += 1;
        self.changed += usize::from(window.is_changed);
        self.invalid += usize::from(window.is_invalid);
        self.sent.add(window.sent, tariff);
    }

    pub(super) fn summary(&self, way: &Way, worst: &WorstList) -> WaySummary {
        WaySummary {
            policy: way.name.clone(),
            in_session: way.in_session,
            budget_tokens: way.budget_tokens,
            windows: self.windows,
            changed: self.changed,
            does_not_fit: self.does_not_fit,
            invalid: self.invalid,
            sent: self.sent,
            coverage: self.coverage.share(),
            fetched_again: self.fetched_again,
            worst: worst.iter().map(|(worst, _)| worst.clone()).collect(),
        }
    }
}
