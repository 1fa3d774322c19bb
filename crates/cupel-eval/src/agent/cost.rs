//! Costs of windows where a provider has a cache for prompts.

use serde::Serialize;

/// Prices of cached and uncached tokens, as shares of the full price of an input token.
///
/// ```
/// use cupel_eval::PriceRule;
///
/// let rule = PriceRule::new(0.1, 1.25);
/// assert_eq!(rule.cost(10_000, 2_000), 3_300);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PriceRule {
    /// Price of a token that is in the cache.
    pub read: f64,
    /// Price of a token that is not in the cache.
    pub write: f64,
}

impl PriceRule {
    /// Rules of providers: most of those that charge for writing into the cache, most of those
    /// that do not, and older models.
    pub const USUAL: [Self; 3] = [Self::new(0.1, 1.25), Self::new(0.1, 1.0), Self::new(0.5, 1.0)];

    /// A token that the cache has costs `read`, another one `write`.
    pub const fn new(read: f64, write: f64) -> Self {
        Self { read, write }
    }

    /// Number of tokens at full price that cost as much as all that were sent, so many of which no cache
    /// had.
    pub fn cost(self, tokens: i64, uncached_tokens: i64) -> i64 {
        let cached = tokens.saturating_sub(uncached_tokens);
        (self.read * cached as f64 + self.write * uncached_tokens as f64).round() as i64
    }
}

/// Cost of the windows of all steps by a rule.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Cost {
    /// The rule.
    #[serde(flatten)]
    pub rule: PriceRule,
    /// So many tokens at full price cost as much.
    pub full_price_tokens: i64,
    /// The same if everything were sent.
    pub everything_full_price_tokens: i64,
}

/// Tokens that were sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sent {
    pub(super) tokens: i64,
    pub(super) uncached: i64,
}

impl Sent {
    /// Costs by each of the usual rules.
    pub(super) fn costs(self, everything: Self) -> Vec<Cost> {
        let cost = |rule: PriceRule| Cost {
            rule,
            full_price_tokens: rule.cost(self.tokens, self.uncached),
            everything_full_price_tokens: rule.cost(everything.tokens, everything.uncached),
        };
        PriceRule::USUAL.into_iter().map(cost).collect()
    }
}
