use super::{Scorer, rank};
use crate::order::signed_lead;
use crate::{ContextItem, ItemList};

/// Prefers items of higher priority, by rank: the highest scores 1.0, the lowest 0.0.
///
/// **When to choose it:** your application already knows what matters and says so in numbers
/// whose distances mean nothing.
///
/// **Steps:** count the prioritized items whose priority is strictly lower; divide by the number
/// of prioritized items less one.
///
/// **Ties and edge cases:** equal priorities score alike, so if all are equal all score 0.0. An
/// item without a priority scores 0.0. A lone prioritized item scores 1.0.
///
/// **Cost:** one sort for the list.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, PriorityScorer, Scorer};
///
/// let items = [
///     ContextItemBuilder::new("a", 1).priority(1).build()?,
///     ContextItemBuilder::new("b", 1).priority(900).build()?,
/// ];
/// assert_eq!(PriorityScorer.score(&items[1], &items), 1.0);
/// # Ok::<(), cupel::CupelError>(())
/// ```
///
/// Specification: Scorers, `PriorityScorer`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PriorityScorer;

impl Scorer for PriorityScorer {
    fn score(&self, item: &ContextItem, all_items: &[ContextItem]) -> f64 {
        rank::rank_score(item.priority(), all_items.iter().map(ContextItem::priority))
    }

    fn score_all(&self, items: &ItemList<'_>, scores: &mut [f64]) {
        let priorities = items.iter().map(ContextItem::priority);
        rank::rank_scores(priorities, |priority| signed_lead(*priority), scores);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{build, item, scores};
    use super::*;

    fn of(priorities: &[Option<i64>]) -> Vec<f64> {
        let items = priorities.iter().map(|p| match p {
            Some(p) => item("x").priority(*p),
            None => item("x"),
        });
        scores(&PriorityScorer, &build(items.collect()))
    }

    #[test]
    fn higher_priorities_score_higher_whatever_their_distance() {
        assert_eq!(of(&[Some(i64::MAX), Some(i64::MIN), Some(0)]), [1.0, 0.0, 0.5]);
    }

    #[test]
    fn items_without_priority_score_zero_and_do_not_count() {
        assert_eq!(of(&[None, Some(1), Some(2)]), [0.0, 0.0, 1.0]);
        assert_eq!(of(&[None, None]), [0.0, 0.0]);
    }

    #[test]
    fn a_lone_prioritized_item_scores_one() {
        assert_eq!(of(&[None, Some(-7)]), [0.0, 1.0]);
    }

    #[test]
    fn equal_priorities_share_the_lower_rank() {
        assert_eq!(of(&[Some(5), Some(5), Some(5)]), [0.0, 0.0, 0.0]);
        assert_eq!(of(&[Some(5), Some(1), Some(5)]), [0.5, 0.0, 0.5]);
    }
}
