//! Selections at other budgets. Scores, deduplicates and sorts once, however many budgets
//! are tried.

use super::Pipeline;
use crate::{ContextBudget, ContextItem, CupelError};

impl Pipeline {
    /// The items that the last `slack_tokens` of the budget buy: those that are in the window, but
    /// would not be if maximum and target were that much lower. In placed order.
    ///
    /// The output reserve is lowered where it would exceed the reduced maximum; the rest of the
    /// budget stays as it is.
    ///
    /// # Errors
    ///
    /// [`CupelError::PipelineConfig`] if the slicer is a [`QuotaSlice`](crate::QuotaSlice) or has
    /// one inside: more budget may cost an item its place there.
    /// [`CupelError::InvalidBudget`] if `slack_tokens` is negative. Any error of either run.
    ///
    /// # Example
    ///
    /// ```
    /// # use cupel::{ChronologicalPlacer, ContextBudget, ContextItemBuilder, GreedySlice, Pipeline, ReflexiveScorer};
    /// # let pipeline = Pipeline::builder()
    /// #     .scorer(ReflexiveScorer).slicer(GreedySlice).placer(ChronologicalPlacer).build()?;
    /// let item = |text, hint| ContextItemBuilder::new(text, 50).future_relevance_hint(hint).build();
    /// let items = [item("vital", 0.9)?, item("nice to have", 0.4)?];
    /// let marginal = pipeline.get_marginal_items(&items, &ContextBudget::builder(100).build()?, 10)?;
    /// assert_eq!(marginal[0].content(), "nice to have");
    /// # Ok::<(), cupel::CupelError>(())
    /// ```
    pub fn get_marginal_items(
        &self,
        items: &[ContextItem],
        budget: &ContextBudget,
        slack_tokens: i32,
    ) -> Result<Vec<ContextItem>, CupelError> {
        if self.policy.slicer.is_quota() {
            return Err(CupelError::PipelineConfig(
                "GetMarginalItems requires monotonic item inclusion. QuotaSlice produces \
                 non-monotonic inclusion as budget changes shift percentage allocations."
                    .into(),
            ));
        }
        if slack_tokens < 0 {
            let text = format!("slack_tokens `{slack_tokens}` must not be negative");
            return Err(CupelError::InvalidBudget(text));
        }
        let ranking = self.rank(items)?;
        let full = ranking.window(budget)?;
        let reduced = ranking.window(&budget.reduced_by(i64::from(slack_tokens)))?;
        let mut is_kept = vec![false; items.len()];
        for placed in &reduced {
            is_kept[placed.position] = true;
        }
        let positions = full.iter().map(|placed| placed.position);
        Ok(positions.filter(|at| !is_kept[*at]).map(|at| items[at].clone()).collect())
    }

    /// The smallest budget, up to `search_ceiling`, whose window holds `target`; `None` if no
    /// budget that was tried does. `target` must be one of `items`, or a clone of one.
    ///
    /// Budgets are tried with maximum and target alike and nothing set aside; the `budget`
    /// argument is not used. The search bisects: where a larger budget can push an item out
    /// again, as it can when a denser item begins to fit, the answer is a budget that does include
    /// the item, but a smaller one may exist.
    ///
    /// # Errors
    ///
    /// [`CupelError::PipelineConfig`] if the slicer is a [`QuotaSlice`](crate::QuotaSlice) or a
    /// count quota. [`CupelError::InvalidBudget`] if `target` is not one of `items`, or has more
    /// tokens than `search_ceiling`. What the slicer refuses, for instance a table that is too
    /// large; but a budget too small for the pinned items merely does not include the target.
    ///
    /// # Example
    ///
    /// ```
    /// # use cupel::{ChronologicalPlacer, ContextBudget, ContextItemBuilder, GreedySlice, Pipeline, ReflexiveScorer};
    /// # let pipeline = Pipeline::builder()
    /// #     .scorer(ReflexiveScorer).slicer(GreedySlice).placer(ChronologicalPlacer).build()?;
    /// # let budget = ContextBudget::builder(100).build()?;
    /// let item = |text, hint| ContextItemBuilder::new(text, 50).future_relevance_hint(hint).build();
    /// let items = [item("vital", 0.9)?, item("nice to have", 0.4)?];
    /// let smallest = pipeline.find_min_budget_for(&items, &budget, &items[1], 1_000)?;
    /// assert_eq!(smallest, Some(100));
    /// # Ok::<(), cupel::CupelError>(())
    /// ```
    pub fn find_min_budget_for(
        &self,
        items: &[ContextItem],
        _budget: &ContextBudget,
        target: &ContextItem,
        search_ceiling: i32,
    ) -> Result<Option<i32>, CupelError> {
        let slicer = &self.policy.slicer;
        if slicer.is_quota() || slicer.is_count_quota() {
            return Err(CupelError::PipelineConfig(
                "FindMinBudgetFor requires monotonic item inclusion. QuotaSlice and \
                 CountQuotaSlice produce non-monotonic inclusion as budget changes shift \
                 allocations. Use a GreedySlice or KnapsackSlice inner slicer for budget \
                 simulation."
                    .into(),
            ));
        }
        let Some(position) = items.iter().position(|item| item.is_same_item(target)) else {
            let text = "targetItem must be an element of items";
            return Err(CupelError::InvalidBudget(text.into()));
        };
        if target.tokens() < 0 {
            return Ok(None);
        }
        let ceiling = i64::from(search_ceiling);
        if ceiling < target.tokens() {
            let text = "searchCeiling must be >= targetItem.Tokens";
            return Err(CupelError::InvalidBudget(text.into()));
        }
        let smallest = self.rank(items)?.min_budget_for(position, ceiling)?;
        // Not above the ceiling, which is one.
        Ok(smallest.and_then(|tokens| i32::try_from(tokens).ok()))
    }
}
