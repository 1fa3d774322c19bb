//! Why does an item have its score?

use super::Pipeline;
use super::classify::{Classified, classify};
use crate::{ContextItem, CupelError, ItemList, ScoreExplanation};

impl Pipeline {
    /// Why the items at these positions have their scores, as far as the scorer says: one answer
    /// for each position. `None` for pinned and invalid items, which are not scored, for positions
    /// beyond the list, and where the scorer has nothing to add to the number.
    ///
    /// # Errors
    ///
    /// [`CupelError::PipelineConfig`] if there are more items than a run takes.
    ///
    /// # Example
    ///
    /// ```
    /// use cupel::{
    ///     ChronologicalPlacer, ContextItem, ContextItemBuilder, GreedySlice, ItemList, Pipeline,
    ///     ScoreExplanation, Scorer,
    /// };
    ///
    /// /// One point for each exclamation mark.
    /// struct Excitement;
    ///
    /// impl Scorer for Excitement {
    ///     fn score(&self, item: &ContextItem, _: &[ContextItem]) -> f64 {
    ///         item.content().matches('!').count() as f64
    ///     }
    ///
    ///     fn explain(&self, items: &ItemList<'_>, positions: &[usize]) -> Vec<ScoreExplanation> {
    ///         let score = |position: &usize| self.score(&items[*position], items);
    ///         positions.iter().map(|at| ScoreExplanation::new("exclamation marks", score(at))).collect()
    ///     }
    /// }
    ///
    /// let pipeline = Pipeline::builder()
    ///     .scorer(Excitement).slicer(GreedySlice).placer(ChronologicalPlacer).build()?;
    /// let items = [
    ///     ContextItemBuilder::new("pinned!", 1).pinned(true).build()?,
    ///     ContextItemBuilder::new("help!!", 2).build()?,
    /// ];
    /// let explanations = pipeline.explain_scores(&items, &[0, 1])?;
    /// assert_eq!(explanations[0], None);
    /// assert_eq!(explanations[1], Some(ScoreExplanation::new("exclamation marks", 2.0)));
    /// # Ok::<(), cupel::CupelError>(())
    /// ```
    pub fn explain_scores(
        &self,
        items: &[ContextItem],
        positions: &[usize],
    ) -> Result<Vec<Option<ScoreExplanation>>, CupelError> {
        Ok(explain(&classify(items)?, self, positions))
    }
}

/// One answer for each position.
pub(super) fn explain(
    classified: &Classified<'_>,
    pipeline: &Pipeline,
    positions: &[usize],
) -> Vec<Option<ScoreExplanation>> {
    let numbers: Vec<_> = positions.iter().map(|at| classified.scoreable.find(*at)).collect();
    let asked: Vec<usize> = numbers.iter().copied().flatten().collect();
    let scoreable = classified.scoreable_items();
    let items = ItemList::new(&scoreable).in_context(&pipeline.context);
    let mut given = pipeline.policy.scorer.explain(&items, &asked).into_iter();
    numbers.into_iter().map(|number| number.and_then(|_| given.next())).collect()
}
