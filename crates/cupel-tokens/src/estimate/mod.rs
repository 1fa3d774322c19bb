//! Estimates for models whose tokenizer is not public.

mod family;
mod group;
mod table;

pub use family::TokenizerFamily;

use group::Group;
use table::Table;

use crate::{Count, OpenAiCounter, TokenCounter};

/// Estimates tokens for models whose tokenizer is not public.
///
/// Counts exactly with an encoding that is public, then scales what each piece of the text counts by
/// what it is: a word, a number, a symbol, a word of this or that script. The factors are those of
/// the [`TokenizerFamily`] that a model belongs to, fitted on texts in some seventy languages, on
/// code, and on data. [`Model::counter`](crate::Model::counter) knows a model's family.
///
/// ```
/// use cupel_tokens::{EstimateCounter, TokenCounter, TokenizerFamily};
///
/// let counter = EstimateCounter::like(TokenizerFamily::Claude);
/// let count = counter.bounded("Why did the deploy fail?");
/// assert_eq!(count.tokens, counter.count("Why did the deploy fail?"));
/// assert!(count.at_most > count.tokens);
/// assert!(counter.is_estimate());
/// ```
///
/// # How near
///
/// [`bounded`](TokenCounter::bounded) says what the true count is at most in 95 of 100 texts of 50 to
/// 5,000 tokens: of the texts that it was fitted on, and in all but a few languages, which the README
/// names. It has the table too: languages,
/// lengths, bias and bound, against each tokenizer that can be had. A text in several scripts gets
/// what each part of it gets. Longer texts are no worse; shorter ones are rounded up.
///
/// What the bounds rest on is a tokenizer of the family that is public. Where a provider changes
/// its tokenizer, they hold as far as the new one is like the old one:
/// [`TokenizerFamily`] says for each what is known and what is assumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EstimateCounter {
    family: TokenizerFamily,
    percent: u32,
}

impl EstimateCounter {
    /// For a tokenizer of which nothing is known.
    pub const fn new() -> Self {
        Self::like(TokenizerFamily::Unknown)
    }

    /// For a tokenizer of this family.
    pub const fn like(family: TokenizerFamily) -> Self {
        Self { family, percent: 100 }
    }

    /// For a tokenizer of which nothing is known but that it makes `percent` as many tokens as others.
    pub const fn scaled(percent: u32) -> Self {
        Self::new().times(percent)
    }

    /// The same, in percent: for a tokenizer that makes more tokens than its family, or fewer.
    #[must_use]
    pub const fn times(self, percent: u32) -> Self {
        Self { percent, ..self }
    }
}

impl Default for EstimateCounter {
    fn default() -> Self {
        Self::new()
    }
}

impl TokenCounter for EstimateCounter {
    /// Always `estimate`.
    fn name(&self) -> &'static str {
        "estimate"
    }

    fn count(&self, text: &str) -> i64 {
        self.bounded(text).tokens
    }

    fn is_estimate(&self) -> bool {
        true
    }

    fn bounded(&self, text: &str) -> Count {
        let table = self.family.table();
        let counts = group_counts(table, text);
        let percent = u128::from(self.percent);
        let cost = |factors: &[u16; Group::COUNT]| {
            let cost = counts.iter().zip(factors).map(|(&n, &factor)| n * u128::from(factor));
            cost.sum::<u128>() * percent
        };
        // Thousandths of a token, times a hundred.
        let tokens = cost(&table.factors).div_ceil(100_000);
        // Short texts scatter more: half the square root.
        let scatter = (tokens / 4).isqrt();
        let at_most = cost(&table.bounds).div_ceil(100_000) + scatter;
        let clamp = |tokens| i64::try_from(tokens).unwrap_or(i64::MAX);
        Count::estimate(clamp(tokens), clamp(at_most))
    }
}

/// What the pieces of each group count with the table's encoding.
fn group_counts(table: &Table, text: &str) -> [u128; Group::COUNT] {
    let mut counts = [0; Group::COUNT];
    OpenAiCounter::new(table.encoding).for_each_piece(text, |piece, tokens| {
        let group = Group::of(piece);
        counts[group as usize] += tokens as u128;
        if group == Group::Number {
            counts[Group::Digit as usize] += piece.chars().count() as u128;
        }
    });
    counts
}
