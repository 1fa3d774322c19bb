use super::Scorer;
use crate::ContextItem;

/// Scores an item by the hint that the caller gave it.
///
/// **When to choose it:** something outside (a retriever, a model) already judged relevance.
///
/// **Steps:** take the [future relevance hint](ContextItem::future_relevance_hint), cut to the
/// range 0.0 to 1.0.
///
/// **Ties and edge cases:** no hint, NaN and infinities score 0.0.
///
/// **Cost:** one pass.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, ReflexiveScorer, Scorer};
///
/// let item = ContextItemBuilder::new("hit", 1).future_relevance_hint(0.7).build()?;
/// assert_eq!(ReflexiveScorer.score(&item, &[]), 0.7);
/// # Ok::<(), cupel::CupelError>(())
/// ```
///
/// Specification: Scorers, `ReflexiveScorer`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReflexiveScorer;

impl Scorer for ReflexiveScorer {
    fn score(&self, item: &ContextItem, _all_items: &[ContextItem]) -> f64 {
        match item.future_relevance_hint() {
            Some(hint) if hint.is_finite() => hint.clamp(0.0, 1.0),
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{build, item, scores};
    use super::*;

    #[test]
    fn hints_pass_through_cut_to_the_unit_range() {
        let hints = [0.5, 0.0, 1.0, -0.3, 1.7];
        let items = build(hints.map(|h| item("x").future_relevance_hint(h)).into());
        assert_eq!(scores(&ReflexiveScorer, &items), [0.5, 0.0, 1.0, 0.0, 1.0]);
    }

    #[test]
    fn absent_and_non_finite_hints_score_zero() {
        let hints = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        let mut items = Vec::from(hints.map(|h| item("x").future_relevance_hint(h)));
        items.push(item("x"));
        assert_eq!(scores(&ReflexiveScorer, &build(items)), [0.0; 4]);
    }
}
