use super::{Selection, SliceRequest, Slicer, Walk, slice_by_selecting};
use crate::order::positions_descending;
use crate::{ContextBudget, ContextItem, CupelError, ScoredItem};

/// Fills the budget with the items that give the most score per token.
///
/// **When to choose it:** almost always. It is fast, good, and easy to predict.
///
/// **Steps:** order by score divided by tokens; walk once, taking each item that still fits and
/// skipping those that don't.
///
/// **Ties and edge cases:** among equal densities the earlier item comes first. Items of zero
/// tokens come before all others and are always taken. A target of 0 takes nothing.
///
/// **Cost:** one sort.
///
/// # Example
///
/// ```
/// use cupel::{ContextBudget, ContextItemBuilder, GreedySlice, ScoredItem, Slicer};
///
/// let scored = |text: &str, tokens, score| {
///     ContextItemBuilder::new(text, tokens).build().map(|item| ScoredItem { item, score })
/// };
/// let sorted = [scored("long", 90, 0.9)?, scored("short", 10, 0.8)?, scored("tiny", 5, 0.1)?];
/// let budget = ContextBudget::builder(50).build()?;
/// let kept = GreedySlice.slice(&sorted, &budget)?;
/// assert_eq!(kept.iter().map(|item| item.content()).collect::<Vec<_>>(), ["short", "tiny"]);
/// # Ok::<(), cupel::CupelError>(())
/// ```
///
/// Specification: Slicers, `GreedySlice`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct GreedySlice;

impl Slicer for GreedySlice {
    fn slice(
        &self,
        sorted: &[ScoredItem],
        budget: &ContextBudget,
    ) -> Result<Vec<ContextItem>, CupelError> {
        slice_by_selecting(self, sorted, budget)
    }

    fn select(&self, request: &SliceRequest<'_>) -> Result<Selection, CupelError> {
        if request.is_empty() {
            return Ok(Selection::default());
        }
        let densities = request.candidates.iter().map(|candidate| match candidate.tokens() {
            0 => f64::MAX,
            tokens => candidate.score() / tokens as f64,
        });
        let mut walk = Walk::new(request.budget.target_tokens());
        let mut selected = Vec::new();
        for position in positions_descending(densities) {
            if walk.takes(request.candidates[position as usize].tokens()) {
                selected.push(position as usize);
            }
        }
        Ok(Selection::of(selected).until(walk.next_target()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_slice, empty_inputs_give_nothing, scored};
    use super::*;

    #[test]
    fn an_empty_list_and_a_target_of_zero_give_nothing() {
        empty_inputs_give_nothing(&GreedySlice);
    }

    #[test]
    fn the_densest_items_are_taken_first() {
        let items = [scored("low", 100, 0.9), scored("high", 10, 0.5), scored("mid", 50, 0.6)];
        assert_slice(&GreedySlice, &items, 160, &["high", "mid", "low"]);
        assert_slice(&GreedySlice, &items, 60, &["high", "mid"]);
    }

    #[test]
    fn what_does_not_fit_is_skipped_and_smaller_items_still_get_their_chance() {
        let items = [scored("a", 40, 0.9), scored("b", 50, 0.8), scored("c", 10, 0.05)];
        assert_slice(&GreedySlice, &items, 60, &["a", "c"]);
    }

    #[test]
    fn an_item_that_fits_exactly_is_taken_and_one_token_more_is_not() {
        assert_slice(&GreedySlice, &[scored("a", 60, 0.9)], 60, &["a"]);
        assert_slice(&GreedySlice, &[scored("a", 61, 0.9)], 60, &[]);
    }

    #[test]
    fn equal_densities_keep_input_order() {
        let items = [scored("a", 10, 0.5), scored("b", 10, 0.5), scored("c", 10, 0.5)];
        assert_slice(&GreedySlice, &items, 20, &["a", "b"]);
    }

    #[test]
    fn zero_token_items_are_always_taken_first_in_input_order_whatever_their_score() {
        let items = [
            scored("x", 10, f64::MAX),
            scored("z1", 0, 0.1),
            scored("z2", 0, 0.9),
            scored("nan", 0, f64::NAN),
        ];
        assert_slice(&GreedySlice, &items, 10, &["z1", "z2", "nan", "x"]);
        assert_slice(&GreedySlice, &items[1..3], 1, &["z1", "z2"]);
        assert_slice(&GreedySlice, &items, 9, &["z1", "z2", "nan"]);
    }

    #[test]
    fn nan_and_infinite_scores_are_ordered_not_fatal() {
        let items = [
            scored("nan", 10, f64::NAN),
            scored("-inf", 10, f64::NEG_INFINITY),
            scored("inf", 10, f64::INFINITY),
            scored("-0", 10, -0.0),
            scored("0", 10, 0.0),
        ];
        assert_slice(&GreedySlice, &items, 50, &["inf", "-0", "0", "-inf", "nan"]);
    }

    #[test]
    fn maximal_token_counts_do_not_wrap() {
        let items = [scored("a", i64::MAX, 0.9), scored("b", i64::MAX, 0.9), scored("c", 1, 0.0)];
        assert_slice(&GreedySlice, &items, i64::MAX, &["a"]);
    }
}
