//! A count, and how far off it may be.

use std::iter::Sum;
use std::ops::Add;

/// Tokens, with what they are at most.
///
/// An exact count is its own bound. Of estimates, the true count is at most
/// [`at_most`](Self::at_most) in 95 of 100 texts; [`EstimateCounter`](crate::EstimateCounter) says
/// how that was measured. Counts add up. The bound of a sum is that of a request made of these texts:
/// it is less than the sum of the bounds, since what one sort of text counts too much makes up for
/// what another counts too little.
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
    /// Upper bound that holds for 95 of 100 texts. Never below `tokens`.
    pub at_most: i64,
    /// Error of each sort of text where it is a part of a request, in thousandths of a
    /// token. Errors of one sort add up, those of several make up for each other.
    errors: [i64; SORTS],
}

/// The sorts of text whose errors make up for each other, and one for all others.
pub(crate) const SORTS: usize = 9;

impl Count {
    /// A count that is exact.
    pub const fn exact(tokens: i64) -> Self {
        Self { tokens, at_most: tokens, errors: [0; SORTS] }
    }

    /// A count that is an estimate; a bound below it is raised to it.
    pub fn estimate(tokens: i64, at_most: i64) -> Self {
        let mut errors = [0; SORTS];
        errors[SORTS - 1] = at_most.saturating_sub(tokens).max(0).saturating_mul(1_000);
        Self { tokens, at_most: at_most.max(tokens), errors }
    }

    /// An estimate that says how far off each sort of text in it may be.
    pub(crate) fn with_errors(self, errors: [i64; SORTS]) -> Self {
        Self { errors, ..self }
    }

    /// Returns true if the bound is the count itself.
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

    /// The same for a part of it of so many tokens, as a window of a request: smaller ones scatter more.
    pub fn margin_percent_of(self, tokens: i64) -> f64 {
        let all = Self { at_most: Self::bound(self.tokens, &self.errors), ..self };
        let scatter = |tokens: i64| 100.0 / (tokens.max(1) as f64).sqrt();
        let more = scatter(tokens.min(self.tokens)) - scatter(self.tokens);
        if self.has_sorts() { all.margin_percent() + more } else { all.margin_percent() }
    }

    /// Returns true if it is known how far off each sort of text may be.
    fn has_sorts(&self) -> bool {
        self.errors[..SORTS - 1].iter().any(|error| *error > 0)
    }

    /// The bound of a request of these tokens and errors.
    fn bound(tokens: i64, errors: &[i64; SORTS]) -> i64 {
        let squares = errors.iter().fold(0_u128, |sum, error| {
            let error = u128::from(error.unsigned_abs());
            sum.saturating_add(error.saturating_mul(error))
        });
        let together = i64::try_from(squares.isqrt().div_ceil(1_000)).unwrap_or(i64::MAX);
        // Short texts scatter more. Bounds that came without sorts have that in them already.
        let has_sorts = errors[..SORTS - 1].iter().any(|error| *error > 0);
        let scatter = if has_sorts { tokens.max(0).isqrt() } else { 0 };
        tokens.saturating_add(together).saturating_add(scatter)
    }
}

impl Add for Count {
    type Output = Self;

    /// Sums stop at the largest number.
    fn add(self, other: Self) -> Self {
        let tokens = self.tokens.saturating_add(other.tokens);
        let mut errors = self.errors;
        for (error, more) in errors.iter_mut().zip(other.errors) {
            *error = error.saturating_add(more);
        }
        Self { tokens, at_most: Self::bound(tokens, &errors), errors }
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
    fn errors_of_one_sort_add_up_and_those_of_several_make_up_for_each_other() {
        let of_sort = |sort: usize| {
            let mut errors = [0; SORTS];
            errors[sort] = 100_000;
            Count::estimate(10_000, 10_300).with_errors(errors)
        };
        assert_eq!((of_sort(0) + of_sort(0)).at_most, 20_000 + 200 + 141);
        assert_eq!((of_sort(0) + of_sort(1)).at_most, 20_000 + 142 + 141);
        assert_eq!((Count::estimate(10, 12) + Count::estimate(10, 13)).at_most, 25);
        assert_eq!((Count::exact(10) + Count::exact(5)), Count::exact(15));
    }

    #[test]
    fn sums_stop_at_the_largest_number() {
        let sum: Count =
            [Count::estimate(i64::MAX - 1, i64::MAX), Count::exact(5)].into_iter().sum();
        assert_eq!((sum.tokens, sum.at_most), (i64::MAX, i64::MAX));
    }
}
