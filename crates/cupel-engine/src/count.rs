//! Token counts.

use serde::{Deserialize, Serialize};

use crate::engine::Settings;
use crate::progress::{Watch, Watched};
use crate::tokenizer;
use crate::{Part, Prepared, Schema, Work};
use cupel_tokens::{Count as Bound, TokenCounter};

/// The tokens of a request, part by part, or of plain texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Count {
    /// `cupel/1`.
    pub schema: Schema,
    /// Name of the tokenizer.
    pub tokenizer: String,
    /// True if counts are estimates.
    pub is_estimate: bool,
    /// All tokens together.
    pub total_tokens: i64,
    /// Upper bound that holds in 95 of 100 cases; the same number where counts are exact.
    pub at_most: i64,
    /// The parts of a request, in its order; none for plain texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// The plain texts, in the order given; none for a request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<TextCount>,
}

/// The tokens of a plain text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TextCount {
    /// Name that the caller gives it.
    pub name: String,
    /// Its tokens.
    pub tokens: i64,
}

impl Prepared {
    /// Upper bound of all tokens that holds in 95 of 100 cases.
    fn at_most(&self) -> i64 {
        let more = self.bound().map_or(0, |bound| bound.at_most.saturating_sub(bound.tokens));
        self.candidates().total_tokens().saturating_add(more)
    }

    /// The tokens of the request, part by part.
    #[must_use]
    pub fn count(&self) -> Count {
        let parts = (0..self.items().len()).map(|at| Part::of(self.candidates(), at));
        Count {
            schema: Schema,
            tokenizer: self.tokenizer().to_owned(),
            is_estimate: self.candidates().is_estimate(),
            total_tokens: self.candidates().total_tokens(),
            at_most: self.at_most(),
            parts: parts.collect(),
            texts: Vec::new(),
        }
    }
}

pub(crate) fn texts(settings: &Settings, texts: &[(&str, &str)]) -> Count {
    let counter = settings.counter.clone();
    let counter = counter.unwrap_or_else(|| tokenizer::implied(settings.named(), None));
    let bytes = texts.iter().map(|(_, text)| text.len()).sum();
    let watch = Watch::begin(settings.progress.as_ref(), Work::Counting, bytes);
    let counter = Watched { counter, watch };
    let plain: Vec<&str> = texts.iter().map(|(_, text)| *text).collect();
    let counts = counter.count_all(&plain);
    let rows = texts.iter().zip(&counts);
    let total_tokens = counts.iter().fold(0_i64, |sum, tokens| tokens.saturating_add(sum));
    let at_most = if counter.is_estimate() {
        plain.iter().map(|text| counter.bounded(text)).sum::<Bound>().at_most
    } else {
        total_tokens
    };
    Count {
        schema: Schema,
        tokenizer: counter.name().to_owned(),
        is_estimate: counter.is_estimate(),
        total_tokens,
        at_most,
        parts: Vec::new(),
        texts: rows
            .map(|((name, _), tokens)| TextCount { name: (*name).to_owned(), tokens: *tokens })
            .collect(),
    }
}
