//! The windows of all budgets.

use super::place::PlacedItem;
use super::ranking::Ranking;
use super::slice::effective_budget;
use crate::{ContextBudget, CupelError, NullTraceCollector};

impl<'p, 'a> Ranking<'p, 'a> {
    /// The windows of all budgets from `low` to `high` that set nothing aside, one for each budget at
    /// which it can be another one: a window holds up to the next.
    ///
    /// Greedy slicers say when they would choose otherwise; for others every budget is tried.
    ///
    /// # Example
    ///
    /// ```
    /// # use cupel::{ChronologicalPlacer, ContextItemBuilder, GreedySlice, Pipeline, ReflexiveScorer};
    /// # let pipeline = Pipeline::builder()
    /// #     .scorer(ReflexiveScorer).slicer(GreedySlice).placer(ChronologicalPlacer).build()?;
    /// let item = |text, hint| ContextItemBuilder::new(text, 50).future_relevance_hint(hint).build();
    /// let items = [item("vital", 0.9)?, item("nice to have", 0.4)?];
    /// let ranking = pipeline.rank(&items)?;
    /// let mut kept = Vec::new();
    /// for step in ranking.sweep(1, 1_000) {
    ///     let (budget, window) = step?;
    ///     kept.push((budget, window.map(|window| window.len())));
    /// }
    /// assert_eq!(kept, [(1, Some(0)), (50, Some(1)), (100, Some(2))]);
    /// # Ok::<(), cupel::CupelError>(())
    /// ```
    pub fn sweep(&self, low: i64, high: i64) -> Sweep<'_, 'p, 'a> {
        Sweep { ranking: self, next: Some(low).filter(|low| *low <= high), high }
    }
}

/// The windows of many budgets; see [`Ranking::sweep`]. Each comes with its budget, and is `None`
/// where what is pinned does not fit.
pub struct Sweep<'r, 'p, 'a> {
    ranking: &'r Ranking<'p, 'a>,
    next: Option<i64>,
    high: i64,
}

impl Iterator for Sweep<'_, '_, '_> {
    type Item = Result<(i64, Option<Vec<PlacedItem>>), CupelError>;

    fn next(&mut self) -> Option<Self::Item> {
        let tokens = self.next?;
        let filled =
            self.ranking.fill(&ContextBudget::plain(tokens, tokens), &mut NullTraceCollector);
        let (window, next) = match filled {
            Ok(placed) => {
                let next = self.after(tokens, placed.next_target);
                (Some(placed.positions()), next)
            }
            Err(CupelError::PinnedExceedsBudget { pinned_tokens, .. }) => (None, pinned_tokens),
            Err(CupelError::Overflow { .. }) => (None, tokens.saturating_add(1)),
            Err(error) => {
                self.next = None;
                return Some(Err(error));
            }
        };
        let next = next.max(tokens.saturating_add(1));
        self.next = Some(next).filter(|next| *next <= self.high && *next > tokens);
        Some(Ok((tokens, window)))
    }
}

impl Sweep<'_, '_, '_> {
    /// The budget that comes next, if there is one.
    #[must_use]
    pub fn next_budget(&self) -> Option<i64> {
        self.next
    }

    /// The budget of the target at which the slicer would choose otherwise.
    fn after(&self, tokens: i64, next_target: Option<i64>) -> i64 {
        let pinned = self.ranking.ranked.classified().pinned_tokens;
        let effective = effective_budget(&ContextBudget::plain(tokens, tokens), pinned);
        match next_target {
            Some(next) => tokens.saturating_add(next.saturating_sub(effective.target_tokens())),
            None => tokens.saturating_add(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        ChronologicalPlacer, ContextBudget, ContextItem, ContextItemBuilder, GreedySlice,
        KnapsackSlice, Pipeline, ReflexiveScorer, Slicer,
    };

    fn pipeline(slicer: impl Slicer + 'static) -> Pipeline {
        let builder = Pipeline::builder().scorer(ReflexiveScorer).slicer(slicer);
        builder.placer(ChronologicalPlacer).build().unwrap()
    }

    /// Sizes and scores that make windows lose items as the budget grows.
    fn items() -> Vec<ContextItem> {
        let item = |at: usize| {
            let tokens = [30, 7, 0, 55, 12, 30, 3, 90][at % 8] + [0, 1, 2, 3, 4][at % 5];
            let hint = ((at * 37) % 11) as f64 / 11.0;
            let item = ContextItemBuilder::new(format!("item {at}"), tokens);
            item.future_relevance_hint(hint).pinned(at == 4).build().unwrap()
        };
        (0..20).map(item).collect()
    }

    /// Against every budget by itself.
    #[test]
    fn each_window_holds_up_to_the_next() {
        let items = items();
        for pipeline in [pipeline(GreedySlice), pipeline(KnapsackSlice::new(1).unwrap())] {
            let ranking = pipeline.rank(&items).unwrap();
            let steps: Vec<_> = ranking.sweep(0, 700).map(Result::unwrap).collect();
            let mut at = 0;
            for tokens in 0..=700 {
                if steps.get(at + 1).is_some_and(|(budget, _)| *budget <= tokens) {
                    at += 1;
                }
                let window = ranking.window(&ContextBudget::builder(tokens).build().unwrap()).ok();
                assert_eq!(steps[at].1, window, "{tokens}");
            }
        }
    }

    #[test]
    fn a_greedy_slicer_spares_most_budgets() {
        let (pipeline, items) = (pipeline(GreedySlice), items());
        let ranking = pipeline.rank(&items).unwrap();
        let steps = ranking.sweep(0, i64::MAX).map(Result::unwrap).count();
        assert!(steps < 400, "{steps}");
    }

    #[test]
    fn an_empty_range_has_no_window() {
        let (pipeline, items) = (pipeline(GreedySlice), items());
        assert_eq!(pipeline.rank(&items).unwrap().sweep(9, 8).count(), 0);
    }
}
