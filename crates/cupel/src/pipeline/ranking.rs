//! Stages 1 to 4 done once, for as many budgets as one likes.

use super::pins::Pins;
use super::place::{Placed, PlacedItem};
use super::recorder::Recorder;
use super::run::{Ranked, fill, rank};
use super::{Pipeline, explain};
use crate::diagnostics::{DiagnosticTraceCollector, TraceDetailLevel};
use crate::{
    ContextBudget, ContextItem, CupelError, NullTraceCollector, ScoreExplanation, SelectionReport,
    TraceCollector,
};

/// Items that were classified, scored, deduplicated and sorted once; ask it for the window or the
/// report of any budget, and for the scores. See [`Pipeline::rank`].
pub struct Ranking<'p, 'a> {
    pub(super) pipeline: &'p Pipeline,
    pub(super) ranked: Ranked<'a>,
}

impl Pipeline {
    /// Does everything that does not depend on the budget, so that many budgets cost one scoring.
    ///
    /// # Errors
    ///
    /// [`CupelError::PipelineConfig`] if there are more items than a run takes.
    ///
    /// # Example
    ///
    /// ```
    /// # use cupel::{ChronologicalPlacer, ContextBudget, ContextItemBuilder, GreedySlice, Pipeline, ReflexiveScorer};
    /// # let pipeline = Pipeline::builder()
    /// #     .scorer(ReflexiveScorer).slicer(GreedySlice).placer(ChronologicalPlacer).build()?;
    /// let item = |text, hint| ContextItemBuilder::new(text, 50).future_relevance_hint(hint).build();
    /// let items = [item("vital", 0.9)?, item("nice to have", 0.4)?];
    /// let ranking = pipeline.rank(&items)?;
    /// for (tokens, kept) in [(40, 0), (60, 1), (100, 2)] {
    ///     let window = ranking.window(&ContextBudget::builder(tokens).build()?)?;
    ///     assert_eq!(window.len(), kept);
    /// }
    /// # Ok::<(), cupel::CupelError>(())
    /// ```
    pub fn rank<'p, 'a>(&'p self, items: &'a [ContextItem]) -> Result<Ranking<'p, 'a>, CupelError> {
        let unlimited = ContextBudget::plain(i64::MAX, i64::MAX);
        let mut silent = NullTraceCollector;
        let mut recorder = Recorder::start(&mut silent, items, &unlimited);
        // Whether pinned items fit is asked for each budget anew.
        let ranked = rank(self, items, None, &mut recorder)?;
        Ok(Ranking { pipeline: self, ranked })
    }
}

impl Ranking<'_, '_> {
    /// The window of a budget, in placed order: what [`Pipeline::run`] returns.
    ///
    /// # Errors
    ///
    /// As [`Pipeline::run`].
    pub fn window(&self, budget: &ContextBudget) -> Result<Vec<PlacedItem>, CupelError> {
        self.fill(budget, &mut NullTraceCollector).map(Placed::positions)
    }

    /// The report of a budget: what [`Pipeline::dry_run`] returns, without scoring again. Events
    /// of the stages that the ranking has behind it say how long it took to tell of them.
    ///
    /// # Errors
    ///
    /// As [`Pipeline::run`].
    ///
    /// # Example
    ///
    /// ```
    /// # use cupel::{ChronologicalPlacer, ContextBudget, ContextItemBuilder, GreedySlice, Pipeline, ReflexiveScorer};
    /// # let pipeline = Pipeline::builder()
    /// #     .scorer(ReflexiveScorer).slicer(GreedySlice).placer(ChronologicalPlacer).build()?;
    /// let item = |text, hint| ContextItemBuilder::new(text, 50).future_relevance_hint(hint).build();
    /// let items = [item("nice to have", 0.4)?, item("vital", 0.9)?];
    /// let ranking = pipeline.rank(&items)?;
    /// let report = ranking.report(&ContextBudget::builder(60).build()?)?;
    /// assert_eq!(report.included[0].position, Some(1));
    /// assert_eq!(report.excluded[0].position, Some(0));
    /// assert_eq!(ranking.score(0), Some(0.4));
    /// # Ok::<(), cupel::CupelError>(())
    /// ```
    pub fn report(&self, budget: &ContextBudget) -> Result<SelectionReport, CupelError> {
        let mut collector = DiagnosticTraceCollector::new(TraceDetailLevel::Stage);
        self.fill(budget, &mut collector)?;
        Ok(collector.into_report())
    }

    /// Stages 5 and 6, and what the earlier ones did for whoever wants to be told.
    pub(super) fn fill<C: TraceCollector + ?Sized>(
        &self,
        budget: &ContextBudget,
        collector: &mut C,
    ) -> Result<Placed, CupelError> {
        let classified = self.ranked.classified();
        Pins::fit(classified, budget)?;
        let mut recorder = Recorder::start(collector, classified.items, budget);
        self.ranked.retell(&mut recorder);
        let placed = fill(self.pipeline, &self.ranked, budget, &mut recorder);
        recorder.finish(placed.as_ref().err());
        placed
    }

    /// Score of the item at this position. `None` for pinned and invalid items, which are not
    /// scored, and for positions beyond the list.
    #[must_use]
    pub fn score(&self, position: usize) -> Option<f64> {
        self.ranked.scored.score_at(position)
    }

    /// The [score](Self::score) of each position.
    #[must_use]
    pub fn scores(&self) -> Vec<Option<f64>> {
        (0..self.ranked.classified().items.len()).map(|position| self.score(position)).collect()
    }

    /// Why the items at these positions have their scores: what [`Pipeline::explain_scores`]
    /// returns.
    ///
    /// A ranking keeps numbers, not what they are made of, so the scorer does its work again, but
    /// no more than once; see [`Scorer::score_and_explain`](crate::Scorer::score_and_explain).
    #[must_use]
    pub fn explain(&self, positions: &[usize]) -> Vec<Option<ScoreExplanation>> {
        explain::explain(self.ranked.classified(), self.pipeline, positions)
    }

    /// The smallest budget, up to `ceiling`, whose window holds the item at this position; `None`
    /// if none that was tried does. See [`Pipeline::find_min_budget_for`], which refuses slicers
    /// for which more budget may cost an item its place; here the answer is then a budget that
    /// does include the item, though a smaller one may exist.
    ///
    /// # Errors
    ///
    /// Errors of the slicer, for instance a table that is too large.
    pub fn min_budget_for(&self, position: usize, ceiling: i64) -> Result<Option<i64>, CupelError> {
        let tokens = self.ranked.classified().tokens.get(position).copied();
        match tokens.filter(|tokens| (0..=ceiling).contains(tokens)) {
            Some(tokens) => bisect(tokens, ceiling, |tokens| self.includes(tokens, position)),
            None => Ok(None),
        }
    }

    /// Returns true if the window of a budget of so many tokens holds the item.
    fn includes(&self, tokens: i64, position: usize) -> Result<bool, CupelError> {
        match self.window(&ContextBudget::plain(tokens, tokens)) {
            Ok(window) => Ok(window.iter().any(|placed| placed.position == position)),
            Err(CupelError::PinnedExceedsBudget { .. } | CupelError::Overflow { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// The smallest number within `low..=high` for which `holds`, if it holds from some number on.
fn bisect(
    mut low: i64,
    mut high: i64,
    mut holds: impl FnMut(i64) -> Result<bool, CupelError>,
) -> Result<Option<i64>, CupelError> {
    if holds(low)? {
        return Ok(Some(low));
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(holds(high)?.then_some(high))
}
