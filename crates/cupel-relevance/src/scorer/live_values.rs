use cupel::{ContextItem, ItemList, ScoreExplanation, Scorer};

use super::{score_in_list, scores_of};
use crate::Index;
use crate::grouping::in_time;

/// Scores an item by the values whose latest mention it is: ids, dates and numbers that are still
/// live.
///
/// **When to choose it:** agents with tools. The next call needs ids that earlier results brought;
/// whoever mentions one last holds it.
///
/// **Steps:** a value is a run of letters, digits, `_` and `-` of at least four characters with a
/// digit among them, whatever its case. Go through the items in the order in which they came; the
/// last one to mention a value holds it. The score is the square root of the number of values held.
///
/// **Ties and edge cases:** a text that mentions a value twice holds it once. Without values, 0.
///
/// **Cost:** a pass over new texts, which the index keeps, and over all values.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, Scorer};
/// use cupel_relevance::{Index, LiveValuesScorer};
///
/// let item = |text: &str| ContextItemBuilder::new(text, 10).build();
/// let items = [item("order 7731 of user_9fk2")?, item("order 7731 was shipped")?];
/// let scorer = LiveValuesScorer::new(Index::default());
/// assert_eq!(scorer.score(&items[0], &items), 1.0, "only the user");
/// assert_eq!(scorer.score(&items[1], &items), 1.0, "the order");
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Debug, Clone)]
pub struct LiveValuesScorer {
    index: Index,
}

impl LiveValuesScorer {
    /// Keeps what it finds in the index.
    #[must_use]
    pub fn new(index: Index) -> Self {
        Self { index }
    }
}

impl Scorer for LiveValuesScorer {
    fn score(&self, item: &ContextItem, all_items: &[ContextItem]) -> f64 {
        score_in_list(self, item, all_items)
    }

    fn score_all(&self, items: &ItemList<'_>, scores: &mut [f64]) {
        let order = in_time(items);
        self.index.list_with_ids(items, |view| {
            let mut is_newer = vec![false; view.id_count()];
            for position in order.into_iter().rev() {
                let mut held = 0_u32;
                for id in view.ids(position as usize) {
                    held += u32::from(!std::mem::replace(&mut is_newer[*id as usize], true));
                }
                scores[position as usize] = f64::from(held).sqrt();
            }
        });
    }

    fn explain(&self, items: &ItemList<'_>, positions: &[usize]) -> Vec<ScoreExplanation> {
        let scores = scores_of(self, items);
        let explain = |at: &usize| ScoreExplanation::new("live values", scores[*at]);
        positions.iter().map(explain).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at_minute, build, item, scores, texts};

    fn live(items: &[ContextItem]) -> Vec<f64> {
        scores(&LiveValuesScorer::new(Index::default()), items)
    }

    #[test]
    fn the_last_to_mention_a_value_holds_it() {
        let items = texts(&["a111 b222 c333 d444", "c333", "C333 again, and e555 e555 f666 g777"]);
        assert_eq!(live(&items), [3.0_f64.sqrt(), 0.0, 2.0]);
    }

    #[test]
    fn the_last_is_the_newest_if_all_have_a_time() {
        let new = item("a111").timestamp(at_minute(2));
        let items = build([new, item("a111").timestamp(at_minute(1))]);
        assert_eq!(live(&items), [1.0, 0.0]);
    }

    #[test]
    fn texts_without_values_and_empty_lists_hold_nothing() {
        assert_eq!(live(&texts(&["no", "values 12"])), [0.0, 0.0]);
        assert_eq!(live(&[]), [0.0; 0]);
    }

    #[test]
    fn only_the_list_counts_whatever_else_the_index_holds() {
        let items = texts(&["a111", "a111 b222"]);
        let index = Index::default();
        let scorer = LiveValuesScorer::new(index.clone());
        assert_eq!(scores(&scorer, &items), [0.0, 2.0_f64.sqrt()]);
        assert_eq!(scores(&scorer, &items[..1]), [1.0]);
        index.extend(&texts(&["a111 z999"]));
        assert_eq!(scores(&scorer, &items), [0.0, 2.0_f64.sqrt()]);
    }
}
