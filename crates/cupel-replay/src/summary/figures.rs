//! The figures of one way.

use cupel_engine::ModelPrices;
use cupel_eval::PriceRule;
use serde::Serialize;

use super::worst::{Worst, WorstList};
use crate::outcome::{Coverage, Sent, WindowOutcome};
use crate::settings::Way;

/// What a policy comes to at a budget.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct WaySummary {
    /// The policy.
    pub policy: String,
    /// Whether windows keep the prompt cache.
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
    /// What is sent, and what it costs.
    pub sent: Dollars,
    /// How much of what was used next is still there; `None` if the log tells of no request what was
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
    /// Its standard error.
    pub error: f64,
    /// How many requests.
    pub requests: usize,
    /// Those of which everything that was used is there.
    pub complete: usize,
    /// How many values were used.
    pub used: usize,
    /// How many of them are there.
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
    /// What they cost by the usual rules for cached and other tokens, in tokens at full price:
    /// [`PriceRule::USUAL`].
    pub full_price_tokens: [i64; 3],
    /// Requests whose model has known prices.
    pub priced_requests: usize,
    /// What those cost without a cache, in US dollars.
    pub dollars_without_cache: f64,
    /// What they cost with one.
    pub dollars: f64,
}

impl Dollars {
    pub(super) fn add(&mut self, sent: Sent, prices: Option<&ModelPrices>) {
        self.tokens = self.tokens.saturating_add(sent.tokens);
        self.uncached_tokens = self.uncached_tokens.saturating_add(sent.uncached_tokens);
        self.full_price_tokens =
            PriceRule::USUAL.map(|rule| rule.cost(self.tokens, self.uncached_tokens));
        if let Some(prices) = prices {
            let (without, with) = sent.dollars(prices);
            self.priced_requests += 1;
            self.dollars_without_cache += without;
            self.dollars += with;
        }
    }
}

/// Shares, added up.
#[derive(Debug, Clone, Default)]
pub(super) struct Shares {
    sum: f64,
    squares: f64,
    requests: usize,
    complete: usize,
    used: usize,
    found: usize,
}

impl Shares {
    pub(super) fn add(&mut self, coverage: &Coverage) {
        self.sum += coverage.share;
        self.squares += coverage.share * coverage.share;
        self.requests += 1;
        self.complete += usize::from(coverage.share >= 1.0);
        self.used += coverage.used;
        self.found += coverage.found;
    }

    fn share(&self) -> Option<Share> {
        if self.requests == 0 {
            return None;
        }
        let count = self.requests as f64;
        let mean = self.sum / count;
        let variance = (self.squares / count - mean * mean).max(0.0);
        let Self { requests, complete, used, found, .. } = *self;
        Some(Share { mean, error: (variance / count).sqrt(), requests, complete, used, found })
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
    pub(super) fn add(&mut self, window: &WindowOutcome, prices: Option<&ModelPrices>) {
        self.fetched_again += window.fetched_again;
        if !window.fits {
            self.does_not_fit += 1;
            return;
        }
        self.windows += 1;
        self.changed += usize::from(window.is_changed);
        self.invalid += usize::from(window.is_invalid);
        self.sent.add(window.sent, prices);
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
