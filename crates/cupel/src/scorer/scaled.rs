use std::fmt;

use super::{ScoreExplanation, Scorer};
use crate::{ContextItem, ItemList};

/// Stretches another scorer's scores to the whole range: the worst becomes 0.0, the best 1.0.
///
/// **When to choose it:** a scorer's values crowd together, or two scorers must weigh alike in a
/// [`CompositeScorer`](crate::CompositeScorer).
///
/// **Steps:** score all items with the inner scorer; take `(score − min) / (max − min)`.
///
/// **Ties and edge cases:** where all scores are equal, and for an empty list, 0.5. Scores so far
/// apart that their difference overflows are halved first. An infinite score counts as one more
/// spread beyond the finite ones: 0, 1 and +∞ become 0.0, 0.5 and 1.0. NaN stays NaN.
///
/// **Cost:** for a whole list that of the inner scorer plus two passes, nested or not. The
/// one-item method has to score the whole list for each item.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, ReflexiveScorer, ScaledScorer, Scorer};
///
/// let item = |hint| ContextItemBuilder::new("x", 1).future_relevance_hint(hint).build();
/// let items = [item(0.25)?, item(0.75)?, item(0.5)?];
/// let scaled = ScaledScorer::new(Box::new(ReflexiveScorer));
/// assert_eq!(scaled.score(&items[2], &items), 0.5);
/// assert_eq!(scaled.score(&items[1], &items), 1.0);
/// # Ok::<(), cupel::CupelError>(())
/// ```
///
/// Specification: Scorers, `ScaledScorer`.
pub struct ScaledScorer {
    inner: Box<dyn Scorer>,
}

impl ScaledScorer {
    /// Stretches the scores of `inner`.
    #[must_use]
    pub fn new(inner: Box<dyn Scorer>) -> Self {
        Self { inner }
    }
}

/// Score for "no information".
const MIDPOINT: f64 = 0.5;

impl Scorer for ScaledScorer {
    fn score(&self, item: &ContextItem, all_items: &[ContextItem]) -> f64 {
        let mut scores = vec![0.0; all_items.len()];
        self.score_all(&ItemList::new(all_items), &mut scores);
        if all_items.is_empty() {
            return MIDPOINT;
        }
        let position = all_items.iter().position(|other| other.is_same_item(item));
        match position {
            Some(position) => scores[position],
            // An item that is not in the list has no raw score; without spread it needs none.
            None if scores.iter().all(|score| *score == MIDPOINT) => MIDPOINT,
            None => f64::NAN,
        }
    }

    fn score_all(&self, items: &ItemList<'_>, scores: &mut [f64]) {
        self.inner.score_all(items, scores);
        let (min, max) = bounds(scores.iter().copied());
        if max == min {
            scores.fill(MIDPOINT);
        } else if (max - min).is_finite() {
            for score in scores {
                *score = (*score - min) / (max - min);
            }
        } else {
            stretch_far_apart(scores, min, max);
        }
    }

    /// Explanation of the inner scorer, before the score is stretched.
    fn explain(&self, items: &ItemList<'_>, positions: &[usize]) -> Vec<ScoreExplanation> {
        self.inner.explain(items, positions)
    }
}

/// The least and the greatest number.
fn bounds(scores: impl Iterator<Item = f64>) -> (f64, f64) {
    scores.fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), score| {
        // Not `f64::min`: a NaN must leave both bounds alone.
        (if score < min { score } else { min }, if score > max { score } else { max })
    })
}

/// Scores whose difference is no finite number. The finite ones are put from 0 to 1, the infinite
/// ones as far below and above as the finite ones are apart; then that is stretched.
fn stretch_far_apart(scores: &mut [f64], least: f64, greatest: f64) {
    let (min, max) = bounds(scores.iter().copied().filter(|score| score.is_finite()));
    let place = |score: f64| match score {
        f64::NEG_INFINITY => -1.0,
        f64::INFINITY => 2.0,
        score if score == min && score == max => MIDPOINT,
        // Halved, so that the differences are numbers.
        score => (score / 2.0 - min / 2.0) / (max / 2.0 - min / 2.0),
    };
    let (least, greatest) = (place(least), place(greatest));
    for score in scores {
        *score = (place(*score) - least) / (greatest - least);
    }
}

impl fmt::Debug for ScaledScorer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ScaledScorer")
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{build, item, scores};
    use super::super::{KindScorer, ReflexiveScorer};
    use super::*;
    use crate::ContextKind;

    fn scaled() -> ScaledScorer {
        ScaledScorer::new(Box::new(ReflexiveScorer))
    }

    fn hints(hints: &[f64]) -> Vec<ContextItem> {
        build(hints.iter().map(|h| item("x").future_relevance_hint(*h)).collect())
    }

    #[test]
    fn worst_becomes_zero_best_one_and_the_rest_lie_between() {
        assert_eq!(scores(&scaled(), &hints(&[0.25, 0.75, 0.5])), [0.0, 1.0, 0.5]);
        assert_eq!(scores(&scaled(), &hints(&[0.3, 0.4])), [0.0, 1.0]);
    }

    #[test]
    fn equal_scores_a_single_item_and_an_empty_list_give_exactly_one_half() {
        assert_eq!(scores(&scaled(), &hints(&[0.7, 0.7])), [0.5, 0.5]);
        assert_eq!(scores(&scaled(), &hints(&[0.7])), [0.5]);
        assert_eq!(scaled().score(&hints(&[0.7])[0], &[]), 0.5);
    }

    #[test]
    fn inner_scores_beyond_the_unit_range_are_stretched_alike() {
        let weights = [("a", 2.0), ("b", 6.0), ("c", 4.0)];
        let kind = |k: &str| ContextKind::new(k).unwrap();
        let inner = KindScorer::new(weights.map(|(k, w)| (kind(k), w)).into()).unwrap();
        let items = build(weights.map(|(k, _)| item("x").kind(kind(k))).into());
        assert_eq!(scores(&ScaledScorer::new(Box::new(inner)), &items), [0.0, 1.0, 0.5]);
    }

    #[test]
    fn items_with_equal_fields_are_told_apart_by_identity() {
        let items = hints(&[0.2, 0.8, 0.2]);
        assert_eq!(scores(&scaled(), &items), [0.0, 1.0, 0.0]);
        let stranger = &hints(&[0.2])[0];
        assert!(scaled().score(stranger, &items).is_nan());
    }

    /// The hint as it is, whatever it is.
    struct Raw;

    impl Scorer for Raw {
        fn score(&self, item: &ContextItem, _: &[ContextItem]) -> f64 {
            item.future_relevance_hint().unwrap()
        }
    }

    fn stretched(raw: &[f64]) -> Vec<f64> {
        scores(&ScaledScorer::new(Box::new(Raw)), &hints(raw))
    }

    #[test]
    fn a_nan_stays_a_nan_and_moves_no_bound() {
        let result = stretched(&[f64::NAN, 3.0, 1.0]);
        assert!(result[0].is_nan());
        assert_eq!(result[1..], [1.0, 0.0]);
        let far = stretched(&[f64::NAN, f64::INFINITY, 1.0]);
        assert!(far[0].is_nan());
        assert_eq!(far[1..], [1.0, 0.0]);
        assert!(stretched(&[f64::NAN, f64::NAN]).iter().all(|score| score.is_nan()));
    }

    #[test]
    fn a_tiny_spread_is_stretched_like_any_other() {
        let next = |value: f64| f64::from_bits(value.to_bits() + 1);
        assert_eq!(stretched(&[0.5, next(0.5)]), [0.0, 1.0]);
        assert_eq!(stretched(&[1.0, next(next(1.0)), next(1.0)]), [0.0, 1.0, 0.5]);
        // The smallest number that is not zero.
        assert_eq!(stretched(&[f64::from_bits(1), 0.0]), [1.0, 0.0]);
    }

    #[test]
    fn a_spread_that_overflows_puts_the_best_first() {
        assert_eq!(stretched(&[f64::MIN, 0.0, f64::MAX]), [0.0, 0.5, 1.0]);
        assert_eq!(stretched(&[f64::MAX, f64::MIN / 2.0, f64::MIN]), [1.0, 0.25, 0.0]);
    }

    #[test]
    fn infinite_scores_are_the_ends_and_the_others_keep_their_order() {
        const INF: f64 = f64::INFINITY;
        assert_eq!(stretched(&[0.0, 1.0, INF]), [0.0, 0.5, 1.0]);
        assert_eq!(stretched(&[-INF, 3.0, 5.0]), [0.0, 0.5, 1.0]);
        assert_eq!(stretched(&[2.0, -INF, 8.0, INF]), [1.0 / 3.0, 0.0, 2.0 / 3.0, 1.0]);
        assert_eq!(stretched(&[INF, -INF]), [1.0, 0.0]);
        assert_eq!(stretched(&[7.0, INF]), [0.0, 1.0]);
        assert_eq!(stretched(&[-INF, 7.0, 7.0]), [0.0, 1.0, 1.0]);
        assert_eq!(stretched(&[-INF, 7.0, INF]), [0.0, 0.5, 1.0]);
        assert_eq!(stretched(&[INF, INF]), [0.5, 0.5]);
    }

    #[test]
    fn scaling_twice_is_scaling_once() {
        let items = hints(&[0.1, 0.9, 0.3]);
        let twice = ScaledScorer::new(Box::new(scaled()));
        assert_eq!(scores(&twice, &items), scores(&scaled(), &items));
    }
}
