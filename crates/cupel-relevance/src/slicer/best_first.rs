use cupel::{ContextBudget, ContextItem, CupelError, ScoredItem, Selection, SliceRequest, Slicer};

use cupel::slicer::{Walk, select_with_needs, shorten_best_first, slice_by_selecting};

use super::{best_first, is_empty};

/// Fills the budget with the best items, whatever their size, and skips what does not fit.
///
/// **When to choose it:** scores say what an item is worth as a whole, as those of relevance do.
/// [`GreedySlice`](cupel::GreedySlice) divides by tokens, and so prefers short items.
///
/// **Steps:** walk once, best score first, taking each item that still fits. Items with
/// [renderings](cupel::Rendering) go in shorter where that is enough, as with
/// [`ShorteningSlice`](cupel::ShorteningSlice).
///
/// **Needs:** an item comes in with what it needs, or not at all.
///
/// **Ties and edge cases:** among equal scores the newer item comes first, and items without a time
/// last; where times are equal or missing, the later in the list. So where nothing is relevant, the
/// newest are taken. NaN comes last. A target of 0 takes nothing. What is left out is reported as
/// over budget.
///
/// **Cost:** a pass; a sort where scores are equal.
///
/// # Example
///
/// ```
/// use cupel::{ContextBudget, ContextItemBuilder, ScoredItem, Slicer};
/// use cupel_relevance::BestFirstSlice;
///
/// let scored = |text: &str, tokens, score| {
///     ContextItemBuilder::new(text, tokens).build().map(|item| ScoredItem { item, score })
/// };
/// let sorted = [scored("long", 40, 0.9)?, scored("longer", 90, 0.8)?, scored("short", 10, 0.3)?];
/// let budget = ContextBudget::builder(50).build()?;
/// let kept = BestFirstSlice.slice(&sorted, &budget)?;
/// assert_eq!(kept.iter().map(|item| item.content()).collect::<Vec<_>>(), ["long", "short"]);
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct BestFirstSlice;

impl Slicer for BestFirstSlice {
    fn slice(
        &self,
        sorted: &[ScoredItem],
        budget: &ContextBudget,
    ) -> Result<Vec<ContextItem>, CupelError> {
        slice_by_selecting(self, sorted, budget)
    }

    fn select(&self, request: &SliceRequest<'_>) -> Result<Selection, CupelError> {
        if is_empty(request) {
            return Ok(Selection::default());
        }
        if request.candidates.iter().any(|candidate| !candidate.item().renderings().is_empty()) {
            return select_with_needs(request, &|request| {
                Ok(shorten_best_first(request, &best_first(request.candidates)))
            });
        }
        let tokens = |at: usize| request.candidates[at].tokens();
        let mut walk = Walk::new(request.budget.target_tokens());
        let mut is_in = vec![false; request.candidates.len()];
        let mut selected = Vec::new();
        for at in best_first(request.candidates) {
            if is_in[at] {
                continue;
            }
            let missing = request.missing(at, |needed| is_in[needed]);
            let lacking = missing.iter().map(|needed| tokens(*needed));
            if walk.takes(lacking.fold(tokens(at), i64::saturating_add)) {
                for at in missing.into_iter().chain([at]) {
                    is_in[at] = true;
                    selected.push(at);
                }
            }
        }
        Ok(Selection::of(selected).until(walk.next_target()))
    }

    fn knows_needs(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_slice, scored};
    use super::*;
    use crate::testing::at_minute;
    use cupel::{Candidate, ContextItemBuilder};

    #[test]
    fn without_shorter_forms_it_says_up_to_which_target_the_choice_stays() {
        let items = [scored("a", 40, 0.9), scored("b", 30, 0.8)];
        let candidates: Vec<Candidate<'_>> =
            items.iter().map(|one| Candidate::new(&one.item, one.score)).collect();
        let budget = ContextBudget::builder(50).build().unwrap();
        let selection = BestFirstSlice.select(&SliceRequest::new(&candidates, &budget)).unwrap();
        assert_eq!((selection.selected, selection.next_target), (vec![0], Some(70)));
    }

    #[test]
    fn the_best_are_taken_whatever_their_size_and_what_does_not_fit_is_skipped() {
        let items = [scored("a", 40, 0.9), scored("b", 30, 0.8), scored("c", 10, 0.1)];
        assert_slice(&BestFirstSlice, &items, 50, &["a", "c"]);
        assert_slice(&BestFirstSlice, &items, 80, &["a", "b", "c"]);
        assert_slice(&BestFirstSlice, &items, 39, &["b"]);
    }

    #[test]
    fn equal_scores_keep_the_newer() {
        let at = |text: &str, minute: Option<i64>| {
            let item = ContextItemBuilder::new(text, 10);
            let item = match minute {
                Some(minute) => item.timestamp(at_minute(minute)),
                None => item,
            };
            ScoredItem { item: item.build().unwrap(), score: 0.5 }
        };
        let items =
            [at("new", Some(9)), at("none 1", None), at("old", Some(1)), at("none 2", None)];
        assert_slice(&BestFirstSlice, &items, 40, &["new", "old", "none 2", "none 1"]);
        assert_slice(&BestFirstSlice, &items, 10, &["new"]);
    }

    #[test]
    fn without_times_the_later_of_equals_is_newer() {
        let items = [scored("a", 10, 0.0), scored("b", 10, -0.0), scored("c", 10, 0.0)];
        assert_slice(&BestFirstSlice, &items, 20, &["c", "b"]);
    }

    #[test]
    fn nan_comes_last_and_a_list_out_of_order_is_put_in_order() {
        let items = [scored("nan", 10, f64::NAN), scored("a", 10, 0.1), scored("b", 10, 0.2)];
        assert_slice(&BestFirstSlice, &items, 30, &["b", "a", "nan"]);
    }

    #[test]
    fn nothing_is_taken_from_nothing_or_for_nothing() {
        assert_slice(&BestFirstSlice, &[], 10, &[]);
        assert_slice(&BestFirstSlice, &[scored("zero", 0, 0.9)], 0, &[]);
    }

    #[test]
    fn maximal_token_counts_do_not_wrap() {
        let items = [scored("a", i64::MAX, 0.9), scored("b", i64::MAX, 0.8), scored("c", 0, 0.1)];
        assert_slice(&BestFirstSlice, &items, i64::MAX, &["a", "c"]);
    }
}
