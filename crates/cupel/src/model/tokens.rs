//! Sums of token counts that neither wrap nor panic.

use std::iter::Sum;

/// A sum of token counts, taken in 128 bits: no list that fits into memory overflows it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TokenSum(pub(crate) i128);

impl TokenSum {
    pub(crate) fn add(&mut self, tokens: i64) {
        self.0 += i128::from(tokens);
    }

    pub(crate) fn clamped(self) -> i64 {
        clamp_to_i64(self.0)
    }
}

impl Sum<i64> for TokenSum {
    fn sum<I: Iterator<Item = i64>>(tokens: I) -> Self {
        Self(tokens.map(i128::from).sum())
    }
}

pub(crate) fn clamp_to_i64(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_maximal_counts_clamp_instead_of_wrapping() {
        let sum: TokenSum = [i64::MAX, i64::MAX, 5].into_iter().sum();
        assert_eq!(sum.clamped(), i64::MAX);
        let sum: TokenSum = [i64::MIN, i64::MIN].into_iter().sum();
        assert_eq!(sum.clamped(), i64::MIN);
    }
}
