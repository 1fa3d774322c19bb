//! Counts that the caller supplies.

use std::fmt;

use crate::TokenCounter;

/// Counts with a function of yours: another tokenizer, a look-up in counts that a service gave you.
///
/// A negative count is taken as none.
///
/// ```
/// use std::collections::HashMap;
/// use cupel_tokens::{SuppliedCounter, TokenCounter};
///
/// let counts = HashMap::from([("You are terse.", 4), ("Why?", 2)]);
/// let counter = SuppliedCounter::new("billing", move |text| counts.get(text).copied().unwrap_or(0));
/// assert_eq!(counter.count("Why?"), 2);
/// ```
pub struct SuppliedCounter<F> {
    name: String,
    estimate: bool,
    count: F,
}

impl<F: Fn(&str) -> i64 + Send + Sync> SuppliedCounter<F> {
    /// A counter with this name and function.
    pub fn new(name: impl Into<String>, count: F) -> Self {
        Self { name: name.into(), estimate: false, count }
    }

    /// The same, reported as an estimate.
    #[must_use]
    pub fn estimating(mut self) -> Self {
        self.estimate = true;
        self
    }
}

impl<F: Fn(&str) -> i64 + Send + Sync> TokenCounter for SuppliedCounter<F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn count(&self, text: &str) -> i64 {
        if text.is_empty() { 0 } else { (self.count)(text).max(0) }
    }

    fn is_estimate(&self) -> bool {
        self.estimate
    }
}

impl<F> fmt::Debug for SuppliedCounter<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SuppliedCounter")
            .field("name", &self.name)
            .field("estimate", &self.estimate)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_counts_below_zero_and_empty_text_counts_nothing() {
        let counter = SuppliedCounter::new("odd", |text| if text == "a" { -3 } else { 7 });
        assert_eq!(counter.count("a"), 0);
        assert_eq!(counter.count("b"), 7);
        assert_eq!(counter.count(""), 0);
    }

    #[test]
    fn an_estimate_says_so() {
        assert!(!SuppliedCounter::new("exact", |_| 1).is_estimate());
        assert!(SuppliedCounter::new("rough", |_| 1).estimating().is_estimate());
    }
}
