use cupel::{ContextItem, ContextKind, ItemList, ScoreExplanation, Scorer};

use super::combine::explain_child;
use super::score_in_list;
use crate::need::is_exchange;

/// Condition that a [`WhenScorer`] asks of a list.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// Every item is of this kind; true of an empty list.
    All(ContextKind),
    /// At least one item is of this kind.
    Any(ContextKind),
    /// At least one item is a call together with its results: tagged `role:assistant` and
    /// `role:tool`.
    Exchanges,
}

impl Condition {
    /// Returns true if a list meets it.
    pub fn holds(&self, items: &[ContextItem]) -> bool {
        match self {
            Self::All(kind) => items.iter().all(|item| item.kind() == kind),
            Self::Any(kind) => items.iter().any(|item| item.kind() == kind),
            Self::Exchanges => items.iter().any(is_exchange),
        }
    }
}

/// Scores with one scorer or with another, depending on the list.
///
/// **When to choose it:** documents and conversations want different treatment, and one policy is
/// to serve both.
///
/// **Cost:** that of the scorer that is used, and a pass.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, ContextKind, PriorityScorer, RecencyScorer, Scorer};
/// use cupel_relevance::{Condition, WhenScorer};
///
/// let documents = Condition::All(ContextKind::document());
/// let scorer = WhenScorer::new(documents, PriorityScorer, RecencyScorer);
/// let item = ContextItemBuilder::new("x", 1).priority(3).build()?;
/// assert_eq!(scorer.score(&item, &[item.clone()]), 0.0, "a message, so recency, and no time");
/// # Ok::<(), cupel::CupelError>(())
/// ```
pub struct WhenScorer {
    condition: Condition,
    then: Box<dyn Scorer>,
    otherwise: Box<dyn Scorer>,
}

impl WhenScorer {
    /// Scores with `then` if the condition holds, else with `otherwise`.
    pub fn new(
        condition: Condition,
        then: impl Scorer + 'static,
        otherwise: impl Scorer + 'static,
    ) -> Self {
        Self { condition, then: Box::new(then), otherwise: Box::new(otherwise) }
    }

    fn chosen(&self, items: &[ContextItem]) -> &dyn Scorer {
        if self.condition.holds(items) { &*self.then } else { &*self.otherwise }
    }
}

impl Scorer for WhenScorer {
    fn score(&self, item: &ContextItem, all_items: &[ContextItem]) -> f64 {
        score_in_list(self, item, all_items)
    }

    fn score_all(&self, items: &ItemList<'_>, scores: &mut [f64]) {
        self.chosen(items).score_all(items, scores);
    }

    fn explain(&self, items: &ItemList<'_>, positions: &[usize]) -> Vec<ScoreExplanation> {
        explain_child(self.chosen(items), items, positions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Given, build, item, scores};
    use cupel::ReflexiveScorer;

    #[test]
    fn the_list_decides() {
        let documents = [item("x").kind(ContextKind::document()).priority(2)];
        let mixed = [item("x").kind(ContextKind::document()).priority(2), item("x").priority(3)];
        let (documents, mixed) = (build(documents), build(mixed));
        let all = WhenScorer::new(Condition::All(ContextKind::document()), Given, ReflexiveScorer);
        assert_eq!(scores(&all, &documents), [2.0]);
        assert_eq!(scores(&all, &mixed), [0.0, 0.0]);
        let any = WhenScorer::new(Condition::Any(ContextKind::document()), Given, ReflexiveScorer);
        assert_eq!(scores(&any, &mixed), [2.0, 3.0]);
        assert_eq!(scores(&any, &[]), [0.0; 0]);
        assert_eq!(any.explain(&ItemList::new(&mixed), &[1])[0].score, 3.0);
    }

    #[test]
    fn exchanges_are_calls_with_their_results() {
        let tagged = |tags: &[&str]| item("x").tags(tags.iter().map(|t| (*t).to_owned()).collect());
        let loose = build([tagged(&["role:assistant"]), tagged(&["role:tool"])]);
        assert!(!Condition::Exchanges.holds(&loose) && !Condition::Exchanges.holds(&[]));
        assert!(Condition::Exchanges.holds(&build([tagged(&["role:assistant", "role:tool"])])));
    }
}
