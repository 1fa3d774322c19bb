//! Input prices of models.

/// Input price of a model, in millionths of a US dollar for a million tokens.
///
/// Those of [`Model::prices`](crate::Model::prices) have a date; they are what the provider's own
/// service asks at its usual speed, for requests below the length from which some models cost more,
/// with a cache that lives as short as the provider offers it. Whoever pays another price gives it:
///
/// ```
/// use cupel_tokens::Prices;
///
/// // 3 dollars, 30 cents from the cache, 3.75 dollars into it.
/// let prices = Prices::new(3_000_000, 300_000, 3_750_000);
/// assert_eq!(prices.dollars(900_000, 100_000), 0.645);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prices {
    /// Of tokens that no cache is asked for.
    pub input: i64,
    /// Of tokens that the cache has.
    pub cache_read: i64,
    /// Of tokens that are written into the cache; the same as `input` where that is free.
    pub cache_write: i64,
    /// The month in which the provider asked for so much, as in `2026-11`.
    pub as_of: Option<&'static str>,
}

/// The units of a dollar, and the tokens that a price is for.
const MILLION: f64 = 1_000_000.0;

impl Prices {
    /// Prices in millionths of a US dollar for a million tokens.
    pub const fn new(input: i64, cache_read: i64, cache_write: i64) -> Self {
        Self { input, cache_read, cache_write, as_of: None }
    }

    /// Cost of a request in US dollars, of which so many tokens are in the cache and so many
    /// are written into it.
    pub fn dollars(self, cached_tokens: i64, uncached_tokens: i64) -> f64 {
        let cached = self.cache_read as f64 * cached_tokens as f64;
        let uncached = self.cache_write as f64 * uncached_tokens as f64;
        (cached + uncached) / MILLION / MILLION
    }

    /// A price of this list in US dollars for a million tokens.
    pub fn in_dollars(price: i64) -> f64 {
        price as f64 / MILLION
    }
}
