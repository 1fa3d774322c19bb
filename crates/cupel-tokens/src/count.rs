//! A count, and how far off it may be.

use std::iter::Sum;
use std::ops::Add;

/// Tokens, with what they are at most.
///
/// An exact count is its own bound. Of estimates, the true count is at most
/// [`at_most`](Self::at_most) in 95 of 100 texts; [`EstimateCounter`](crate::EstimateCounter) says
/// how that was measured. Counts add up, and so do their bounds.
///
/// ```
/// use cupel_tokens::{Count, EstimateCounter, TokenCounter, TokenizerFamily};
///
/// let counter = EstimateCounter::like(TokenizerFamily::Gemma);
/// let count: Count = ["Why did the deploy fail?", "The disk was full."]
///     .into_iter()
///     .map(|text| counter.bounded(text))
///     .sum();
/// assert!(count.tokens < count.at_most && !count.is_exact());
/// assert!(count.margin_percent() > 0.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct Count {
    /// The tokens, as near as can be told.
    pub tokens: i64,
    /// What they are at most, in 95 of 100 texts. Never below `tokens`.
    pub at_most: i64,
}

impl Count {
    /// A count that is exact.
    pub const fn exact(tokens: i64) -> Self {
        Self { tokens, at_most: tokens }
    }

    /// A count that is an estimate; a bound below it is raised to it.
    pub fn estimate(tokens: i64, at_most: i64) -> Self {
        Self { tokens, at_most: at_most.max(tokens) }
    }

    /// Whether the bound is the count itself.
    pub const fn is_exact(self) -> bool {
        self.tokens == self.at_most
    }

    /// By how many percent of the count the bound is above it: the safety margin that a budget
    /// needs. None for an exact count, nor for no tokens.
    pub fn margin_percent(self) -> f64 {
        if self.tokens <= 0 {
            return 0.0;
        }
        (self.at_most.saturating_sub(self.tokens)) as f64 * 100.0 / self.tokens as f64
    }
}

impl Add for Count {
    type Output = Self;

    /// Sums stop at the largest number.
    fn add(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            at_most: self.at_most.saturating_add(other.at_most),
        }
    }
}

impl Sum for Count {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_count_needs_no_margin() {
        assert!(Count::exact(7).is_exact());
        assert_eq!(Count::exact(7).margin_percent(), 0.0);
        assert_eq!(Count::default().margin_percent(), 0.0);
    }

    #[test]
    fn a_bound_is_never_below_its_count() {
        assert_eq!(Count::estimate(10, 3), Count::exact(10));
        assert_eq!(Count::estimate(10, 12).margin_percent(), 20.0);
    }

    #[test]
    fn sums_stop_at_the_largest_number() {
        let sum: Count =
            [Count::estimate(i64::MAX - 1, i64::MAX), Count::exact(5)].into_iter().sum();
        assert_eq!(sum, Count::exact(i64::MAX));
    }
}
