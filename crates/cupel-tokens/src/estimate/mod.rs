//! Estimates for models whose tokenizer is not public.

mod family;
mod group;
mod table;
mod tally;
mod words;

pub use family::TokenizerFamily;

use group::Group;
use table::Table;
use tally::Tally;
use words::Shares;

use crate::count::SORTS;
use crate::{Count, Model, OpenAiCounter, TokenCounter, name, openai};

/// Estimates tokens for models whose tokenizer is not public.
///
/// Counts exactly with an encoding that is public, then scales what each piece of the text counts by
/// what it is: an English word, one in code, a number, a symbol, a word of this or that script, and
/// whether it is one token or several. The factors are those of the [`TokenizerFamily`] that a model
/// belongs to, fitted on texts in some two hundred languages, on code, and on data.
/// [`Model::counter`](crate::Model::counter) knows a model's family.
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
/// 5,000 tokens. That was checked on texts that nothing was fitted on, from other documents and other
/// sources, in each language by itself; it holds in all but a few languages, which the README names.
/// It has the table too: languages, lengths, bias and bound, against each tokenizer that can be had. A
/// text in several scripts gets what each part of it gets. Plain words that are neither in English nor
/// in code may be in any language, and get a wider bound. Longer texts are no worse; shorter ones are
/// rounded up.
///
/// The bounds rest on a public tokenizer of the family. Where a provider changes
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

    /// For a model by its name, as services spell it, whether or not the table of models has it.
    ///
    /// The family is that of the table, or else the one that the name speaks of: see
    /// [`TokenizerFamily::of_model`].
    ///
    /// ```
    /// use cupel_tokens::{EstimateCounter, TokenizerFamily};
    ///
    /// let counter = EstimateCounter::for_model("groq/llama-5-8b-instant");
    /// assert_eq!(counter, EstimateCounter::like(TokenizerFamily::Llama));
    /// ```
    pub fn for_model(name: &str) -> Self {
        let (family, percent) = match Model::find(name) {
            Ok(model) => (model.family, model.estimate_percent),
            Err(_) => name::family(name),
        };
        Self::like(family).times(percent)
    }

    /// The family that it counts like.
    pub const fn family(&self) -> TokenizerFamily {
        self.family
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
        let Costs { cost, at_most: at_most_cost, errors } = costs(table, text);
        // Thousandths of a token, times a hundred.
        let scaled = |cost: u128| (cost * u128::from(self.percent)).div_ceil(100_000);
        let tokens = scaled(cost);
        // Short texts scatter more: half the square root.
        let scatter = (tokens / 4).isqrt();
        let clamp = |tokens| i64::try_from(tokens).unwrap_or(i64::MAX);
        let count = Count::estimate(clamp(tokens), clamp(scaled(at_most_cost) + scatter));
        let count =
            count.with_errors(errors.map(|error| clamp(error * u128::from(self.percent) / 100)));
        // What is scaled is a guess itself where the program has no vocabulary.
        let is_guess = OpenAiCounter::new(table.encoding).guesses();
        if is_guess { openai::bounded(count) } else { count }
    }
}

/// Cost of a text, in thousandths of a token.
struct Costs {
    cost: u128,
    /// Upper bound of the cost of the text by itself.
    at_most: u128,
    /// Error of each sort of text where it is a part of a request.
    errors: [u128; SORTS],
}

fn costs(table: &Table, text: &str) -> Costs {
    let (mut sum, mut sum_at_most, mut errors) = (0, 0, [0; SORTS]);
    let mut add = |group: usize, [whole, split]: Thousandths| {
        let cost = whole * u128::from(table.whole[group]) + split * u128::from(table.split[group]);
        sum += cost;
        sum_at_most += cost * (1_000 + u128::from(table.margins[group]));
        let place = table.place(group);
        errors[place] += cost * u128::from(table.in_requests(group)) / 1_000_000;
    };
    let tally = Tally::of(table.encoding, text);
    for group in tally.groups() {
        let counts = tally.counts[group];
        let tokens = counts.map(|tokens| tokens as u128 * 1_000);
        if group == Group::Word as usize {
            let shares = tally.words.shares(counts[0] + counts[1]);
            for (group, part) in share_out(tokens, &shares) {
                add(group as usize, part);
            }
        } else {
            add(group, tokens);
        }
    }
    Costs { cost: sum.div_ceil(1_000), at_most: sum_at_most.div_ceil(1_000_000), errors }
}

/// Thousandths of tokens: of pieces that are one token, and of those that are several.
type Thousandths = [u128; 2];

/// Takes those of some words for English and for code that are vouched for.
fn share_out(words: Thousandths, shares: &Shares) -> [(Group, Thousandths); 3] {
    let all = words[0] + words[1];
    let part = |share: usize| words.map(|tokens| tokens * share as u128 * 1_000 / all);
    let (english, code) = (part(shares.english), part(shares.code));
    let rest = [0, 1].map(|kind| words[kind] - english[kind] - code[kind]);
    [(Group::English, english), (Group::Code, code), (Group::Word, rest)]
}
