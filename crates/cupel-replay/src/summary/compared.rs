//! Our counts beside those of the providers: where they are far apart, a log is misread.

use serde::Serialize;

/// Ratios are told apart by half a percent, within 64 times more and less.
const STEP: f64 = 0.005;
const WIDEST: f64 = 64.0;
/// Of smaller requests what providers add for each message is too large a share.
const SMALLEST: i64 = 50;
/// A median that is further from 1 than this says that a log is misread: between our estimates for models
/// without a public tokenizer and their providers' counts lie 8 to 10 %.
const FARTHEST: f64 = 0.10;

/// Our counts beside those of the providers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CountedTokens {
    /// Requests of which the provider's count is known.
    pub requests: usize,
    /// Tokens that the providers counted.
    pub provider_tokens: i64,
    /// Tokens that we count in the same requests.
    pub own_tokens: i64,
    /// The median of our count divided by the provider's, over requests of 50 tokens or more.
    pub median_ratio: Option<f64>,
}

impl CountedTokens {
    /// Returns true if the log is probably misread.
    pub fn is_far_off(&self) -> bool {
        self.median_ratio.is_some_and(|ratio| (ratio - 1.0).abs() > FARTHEST)
    }
}

/// Ratios, added up.
#[derive(Debug, Clone, Default)]
pub(super) struct Ratios {
    requests: usize,
    provider_tokens: i64,
    own_tokens: i64,
    bins: Vec<u64>,
}

impl Ratios {
    pub(super) fn add(&mut self, own: i64, provider: i64) {
        self.requests += 1;
        self.own_tokens = self.own_tokens.saturating_add(own);
        self.provider_tokens = self.provider_tokens.saturating_add(provider);
        if provider < SMALLEST {
            return;
        }
        let ratio = (own.max(1) as f64 / provider as f64).clamp(1.0 / WIDEST, WIDEST);
        let bin = ((ratio.ln() + WIDEST.ln()) / STEP).round() as usize;
        if self.bins.is_empty() {
            self.bins = vec![0; (2.0 * WIDEST.ln() / STEP).ceil() as usize + 2];
        }
        self.bins[bin] += 1;
    }

    pub(super) fn counted(&self) -> Option<CountedTokens> {
        let Self { requests, provider_tokens, own_tokens, .. } = *self;
        (requests > 0).then(|| CountedTokens {
            requests,
            provider_tokens,
            own_tokens,
            median_ratio: self.median(),
        })
    }

    fn median(&self) -> Option<f64> {
        let all: u64 = self.bins.iter().sum();
        let mut before = 0;
        let at = self.bins.iter().position(|count| {
            before += count;
            2 * before >= all && all > 0
        })?;
        Some((at as f64 * STEP - WIDEST.ln()).exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_that_of_the_requests_and_not_of_the_tokens() {
        let mut ratios = Ratios::default();
        for (own, provider) in [(100, 100), (102, 100), (99, 100), (90_000, 10_000), (3, 9)] {
            ratios.add(own, provider);
        }
        let counted = ratios.counted().unwrap();
        assert_eq!((counted.requests, counted.provider_tokens), (5, 10_309));
        assert!((counted.median_ratio.unwrap() - 1.0).abs() < 0.004, "{counted:?}");
        assert!(!counted.is_far_off());
        for _ in 0..5 {
            ratios.add(4_000, 70);
        }
        assert!(ratios.counted().unwrap().is_far_off());
    }

    #[test]
    fn small_requests_tell_nothing() {
        let mut ratios = Ratios::default();
        ratios.add(30, 9);
        assert_eq!(ratios.counted().unwrap().median_ratio, None);
        assert!(!ratios.counted().unwrap().is_far_off());
    }
}
