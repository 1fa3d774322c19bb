//! Which items fit?
//!
//! | slicer | chooses | cost | for |
//! |---|---|---|---|
//! | [`BestFirstSlice`] | by score, whatever the size | N | relevance: a long answer beats two short asides |
//! | [`CoverageSlice`] | what covers most of what will be needed, and what is asked for | (N + mentions) log N | requests of agents |
//! | [`KeepSlice`] | what nobody would drop, then by another slicer | N, and its inner slicer | conversations |
//!
//! The library's [`GreedySlice`](cupel::GreedySlice) goes by score per token instead.

mod best_first;
mod coverage;
mod keep;

use std::cmp::Reverse;

use cupel::{Candidate, SliceRequest, compare_scores};

pub use best_first::BestFirstSlice;
pub use coverage::{CoverageParameters, CoverageSlice, Question};
pub use keep::KeepSlice;

/// Returns true if there is nothing to choose: no candidate, or no budget.
fn is_empty(request: &SliceRequest<'_>) -> bool {
    request.candidates.is_empty() || request.budget.target_tokens() <= 0
}

/// Positions by score, best first; among equals the newer first, and what has no time last. Where
/// time decides nothing, the later in the list.
fn best_first(candidates: &[Candidate<'_>]) -> Vec<usize> {
    let score = |at: usize| candidates[at].score();
    let order = |a: &usize, b: &usize| compare_scores(score(*a), score(*b));
    let mut positions: Vec<usize> = (0..candidates.len()).collect();
    if !positions.is_sorted_by(|a, b| order(a, b).is_le()) {
        positions.sort_by(order);
    }
    for equals in positions.chunk_by_mut(|a, b| order(a, b).is_eq()) {
        if equals.len() > 1 {
            equals.sort_by_key(|at| Reverse((candidates[*at].item().timestamp(), *at)));
        }
    }
    positions
}

#[cfg(test)]
pub(crate) mod testing {
    use cupel::{ContextBudget, ContextItem, ScoredItem, Slicer};

    use super::*;

    pub(crate) fn budget(tokens: i64) -> ContextBudget {
        ContextBudget::builder(tokens).build().unwrap()
    }

    /// Asserts the items that a slicer keeps, in its own order, by both of its methods.
    #[track_caller]
    pub(crate) fn assert_slice(
        slicer: &dyn Slicer,
        items: &[ScoredItem],
        tokens: i64,
        expected: &[&str],
    ) {
        let kept = slicer.slice(items, &budget(tokens)).unwrap();
        assert_eq!(kept.iter().map(ContextItem::content).collect::<Vec<_>>(), expected);
        let candidates: Vec<Candidate<'_>> = items.iter().map(Candidate::from).collect();
        let selection = slicer.select(&SliceRequest::new(&candidates, &budget(tokens))).unwrap();
        let texts = selection.selected.iter().map(|at| items[*at].item.content());
        assert_eq!(texts.collect::<Vec<_>>(), expected);
    }

    pub(crate) fn scored(content: &str, tokens: i64, score: f64) -> ScoredItem {
        let item = cupel::ContextItemBuilder::new(content, tokens).build().unwrap();
        ScoredItem { item, score }
    }
}
