use std::collections::HashMap;

use super::{Scorer, weight};
use crate::model::look_up_kinds;
use crate::{ContextItem, ContextKind, CupelError, ItemList};

/// Scores an item by what it is: the weight that you give its kind.
///
/// **When to choose it:** some kinds of context are worth more than others.
///
/// **Steps:** look the kind up, by ASCII case folding.
///
/// **Ties and edge cases:** a kind without a weight scores 0.0. Weights above 1.0 are used as
/// they are.
///
/// **Cost:** one pass.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, ContextKind, KindScorer, Scorer};
///
/// let item = ContextItemBuilder::new("You are terse.", 4).kind(ContextKind::system_prompt()).build()?;
/// assert_eq!(KindScorer::with_default_weights().score(&item, &[]), 1.0);
/// # Ok::<(), cupel::CupelError>(())
/// ```
///
/// Specification: Scorers, `KindScorer`.
#[derive(Debug, Clone)]
pub struct KindScorer {
    weights: HashMap<ContextKind, f64, foldhash::fast::RandomState>,
}

impl KindScorer {
    /// The default weights: system prompt 1.0, memory 0.8, tool output 0.6, document 0.4,
    /// message 0.2.
    #[must_use]
    pub fn with_default_weights() -> Self {
        let weights = [
            (ContextKind::system_prompt(), 1.0),
            (ContextKind::memory(), 0.8),
            (ContextKind::tool_output(), 0.6),
            (ContextKind::document(), 0.4),
            (ContextKind::message(), 0.2),
        ];
        Self { weights: weights.into_iter().collect() }
    }

    /// Your own weights.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if a weight is negative or not finite; it names the kind.
    pub fn new(weights: HashMap<ContextKind, f64>) -> Result<Self, CupelError> {
        let mut sorted: Vec<_> = weights.iter().collect();
        sorted.sort_unstable_by_key(|(kind, _)| kind.as_str());
        for (kind, weight) in sorted {
            weight::require_non_negative(format_args!("weights.{kind}"), *weight)?;
        }
        Ok(Self { weights: weights.into_iter().collect() })
    }

    fn weight(&self, kind: &ContextKind) -> f64 {
        self.weights.get(kind).copied().unwrap_or(0.0)
    }
}

impl Scorer for KindScorer {
    fn score(&self, item: &ContextItem, _all_items: &[ContextItem]) -> f64 {
        self.weight(item.kind())
    }

    fn score_all(&self, items: &ItemList<'_>, scores: &mut [f64]) {
        let mut scores = scores.iter_mut();
        let set = |weight| {
            if let Some(score) = scores.next() {
                *score = weight;
            }
        };
        look_up_kinds(items.iter().map(ContextItem::kind), |kind| self.weight(kind), set);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{build, item, scores};
    use super::*;

    fn kinds(names: &[&str]) -> Vec<ContextItem> {
        build(names.iter().map(|n| item("x").kind(ContextKind::new(*n).unwrap())).collect())
    }

    fn weights(weights: &[(&str, f64)]) -> Result<KindScorer, CupelError> {
        KindScorer::new(weights.iter().map(|(k, w)| (ContextKind::new(*k).unwrap(), *w)).collect())
    }

    #[test]
    fn default_weights_are_those_of_the_specification() {
        let items = kinds(&["systemprompt", "Memory", "TOOLOUTPUT", "Document", "Message", "Plan"]);
        let scorer = KindScorer::with_default_weights();
        assert_eq!(scores(&scorer, &items), [1.0, 0.8, 0.6, 0.4, 0.2, 0.0]);
    }

    #[test]
    fn weights_are_found_by_ascii_case_folding_and_not_clamped() {
        let scorer = weights(&[("Plan", 7.5)]).unwrap();
        assert_eq!(scores(&scorer, &kinds(&["pLAN", "Message"])), [7.5, 0.0]);
    }

    #[test]
    fn without_weights_everything_scores_zero() {
        assert_eq!(scores(&weights(&[]).unwrap(), &kinds(&["Message"])), [0.0]);
    }

    #[test]
    fn weights_that_are_negative_or_not_finite_are_refused_by_kind() {
        for bad in [-0.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = weights(&[("b", 1.0), ("a", bad)]).unwrap_err();
            let text = format!("weights.a: must be finite and not negative, got {bad}");
            assert_eq!(error, CupelError::ScorerConfig(text));
        }
        assert!(weights(&[("a", 0.0), ("b", -0.0)]).is_ok());
    }
}
