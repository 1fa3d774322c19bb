//! From candidates to the window, in six stages.
//!
//! ```text
//! candidates ─▶ Classify ─▶ Score ─▶ Deduplicate ─▶ Sort ─▶ Slice ─▶ Place ─▶ window
//!                  └───────────── pinned items ────────────────────▲
//! ```

mod classify;
mod deduplicate;
mod explain;
mod explain_slice;
mod fate;
mod needs;
mod pins;
mod place;
mod ranking;
mod recorder;
mod run;
mod score;
mod shape;
mod simulate;
mod slice;
mod sort;
#[cfg(feature = "stream")]
mod stream;
mod sweep;

use std::fmt;
use std::sync::Arc;

use crate::diagnostics::{
    DiagnosticTraceCollector, NullTraceCollector, SelectionReport, TraceCollector, TraceDetailLevel,
};
use crate::policy::{Policy, PolicyBuilder};
use crate::{
    ContextBudget, ContextItem, CupelError, ItemList, Needs, OverflowStrategy, Placer, RunContext,
    Scorer, Slicer,
};

pub use place::PlacedItem;
pub use ranking::Ranking;
pub use sweep::Sweep;

/// Selects items for a context window.
///
/// A pipeline holds strategies, and where it was [told](Self::with_needs) what the items of a list
/// need, that: run it as often as you like, from as many threads as you like. The same items, budget and strategies give the same window.
///
/// # Example
///
/// ```
/// use cupel::{
///     ChronologicalPlacer, ContextBudget, ContextItemBuilder, GreedySlice, Pipeline,
///     RecencyScorer,
/// };
///
/// let pipeline = Pipeline::builder()
///     .scorer(RecencyScorer)
///     .slicer(GreedySlice)
///     .placer(ChronologicalPlacer)
///     .build()?;
///
/// let turn = |text: &str, hour: u32| {
///     let time = format!("2025-01-01T{hour:02}:00:00Z").parse().unwrap();
///     ContextItemBuilder::new(text, 40).timestamp(time).build()
/// };
/// let items = [turn("old question", 9)?, turn("answer", 10)?, turn("new question", 11)?];
/// let window = pipeline.run(&items, &ContextBudget::builder(100).build()?)?;
/// let texts: Vec<_> = window.iter().map(|item| item.content()).collect();
/// assert_eq!(texts, ["answer", "new question"]);
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Clone)]
pub struct Pipeline {
    policy: Policy,
    needs: Option<Arc<Needs>>,
    context: RunContext,
}

impl Pipeline {
    /// Starts a pipeline.
    pub fn builder() -> PipelineBuilder {
        PipelineBuilder(PolicyBuilder::new())
    }

    /// The strategies of this pipeline.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The same for a list whose items need one another: no window has an item without all that it
    /// needs. Whatever is asked of the pipeline is about that list from then on; a list of another
    /// length is an error.
    ///
    /// Items that pinned items need are in as well. An item that others need is never dropped as a duplicate.
    /// Where nothing needs anything, this changes nothing. See [`Needs`] for an example.
    #[must_use]
    pub fn with_needs(mut self, needs: impl Into<Arc<Needs>>) -> Self {
        self.needs = Some(needs.into());
        self
    }

    /// The same runs by another policy.
    #[must_use]
    pub fn with_policy(&self, policy: Policy) -> Self {
        Self { policy, ..self.clone() }
    }

    /// Tells its runs something beside their items and their budget.
    #[must_use]
    pub fn with_context(mut self, context: RunContext) -> Self {
        self.context = context;
        self
    }

    /// Needs between items as the slicer finds them; see [`Slicer::needs_in`].
    #[must_use]
    pub fn needs_in(&self, items: &[ContextItem]) -> Vec<(usize, usize)> {
        self.policy.slicer.needs_in(&ItemList::new(items).in_context(&self.context))
    }

    /// Returns the needs of its list's items, if it was told.
    pub fn needs(&self) -> Option<&Needs> {
        self.needs.as_deref()
    }

    /// Selects the window.
    ///
    /// # Errors
    ///
    /// [`CupelError::PinnedExceedsBudget`] if pinned items do not fit,
    /// [`CupelError::Overflow`] if the selection exceeds the target and the strategy is
    /// [`OverflowStrategy::Throw`], [`CupelError::PipelineConfig`] if the list is not the one whose
    /// [needs](Self::with_needs) are known, and whatever slicer and placer refuse.
    pub fn run(
        &self,
        items: &[ContextItem],
        budget: &ContextBudget,
    ) -> Result<Vec<ContextItem>, CupelError> {
        self.run_traced(items, budget, &mut NullTraceCollector)
    }

    /// Selects the window, and tells a collector how.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn run_traced<C: TraceCollector + ?Sized>(
        &self,
        items: &[ContextItem],
        budget: &ContextBudget,
        collector: &mut C,
    ) -> Result<Vec<ContextItem>, CupelError> {
        let placed = run::run(self, items, budget, collector)?;
        Ok(placed.window(items))
    }

    /// Selects the window, and says where its items stand in the list and what they score, in
    /// placed order. The same selection as [`run`](Self::run), for whoever holds the items in a
    /// form of their own; nothing is cloned.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    ///
    /// # Example
    ///
    /// ```
    /// # use cupel::{ChronologicalPlacer, ContextBudget, ContextItemBuilder, GreedySlice, Pipeline, ReflexiveScorer};
    /// # let pipeline = Pipeline::builder()
    /// #     .scorer(ReflexiveScorer).slicer(GreedySlice).placer(ChronologicalPlacer).build()?;
    /// let item = |hint| ContextItemBuilder::new("ping", 50).future_relevance_hint(hint).build();
    /// let items = [item(0.4)?, item(0.9)?];
    /// let window = pipeline.window(&items, &ContextBudget::builder(60).build()?)?;
    /// assert_eq!((window[0].position, window[0].score), (1, 0.9));
    /// # Ok::<(), cupel::CupelError>(())
    /// ```
    pub fn window(
        &self,
        items: &[ContextItem],
        budget: &ContextBudget,
    ) -> Result<Vec<PlacedItem>, CupelError> {
        let mut silent = NullTraceCollector;
        let placed = run::run(self, items, budget, &mut silent)?;
        Ok(placed.positions())
    }

    /// Reports what a run would select and why.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn dry_run(
        &self,
        items: &[ContextItem],
        budget: &ContextBudget,
    ) -> Result<SelectionReport, CupelError> {
        let mut collector = DiagnosticTraceCollector::new(TraceDetailLevel::Stage);
        run::run(self, items, budget, &mut collector)?;
        Ok(collector.into_report())
    }

    /// Reports what a run with other strategies would select and why. Of this pipeline nothing is used
    /// but what the items [need](Self::with_needs).
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn dry_run_with_policy(
        &self,
        items: &[ContextItem],
        budget: &ContextBudget,
        policy: &Policy,
    ) -> Result<SelectionReport, CupelError> {
        self.with_policy(policy.clone()).dry_run(items, budget)
    }
}

impl From<Policy> for Pipeline {
    fn from(policy: Policy) -> Self {
        Self { policy, needs: None, context: RunContext::new() }
    }
}

impl fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("Pipeline");
        fields
            .field("deduplication", &self.policy.deduplication)
            .field("overflow_strategy", &self.policy.overflow_strategy);
        // Programs written for version 1 know the two above.
        if let Some(needs) = &self.needs {
            fields.field("needs", needs);
        }
        if !self.context.is_empty() {
            fields.field("context", &self.context);
        }
        fields.finish()
    }
}

/// Builds a [`Pipeline`]; made by [`Pipeline::builder`]. Scorer, slicer and placer are required.
///
/// Strategies are taken as they are, boxed, or shared.
#[must_use]
pub struct PipelineBuilder(PolicyBuilder);

impl PipelineBuilder {
    /// Sets the scorer, which says how relevant each item is.
    pub fn scorer(self, scorer: impl Scorer + 'static) -> Self {
        Self(self.0.scorer(scorer))
    }

    /// Which items fit?
    pub fn slicer(self, slicer: impl Slicer + 'static) -> Self {
        Self(self.0.slicer(slicer))
    }

    /// In which order?
    pub fn placer(self, placer: impl Placer + 'static) -> Self {
        Self(self.0.placer(placer))
    }

    /// Sets that only the best of items of equal text is kept; on by default.
    pub fn deduplication(self, enabled: bool) -> Self {
        Self(self.0.deduplication(enabled))
    }

    /// Sets the behaviour when the selection exceeds the target; [`OverflowStrategy::Throw`] by default.
    pub fn overflow_strategy(self, strategy: OverflowStrategy) -> Self {
        Self(self.0.overflow_strategy(strategy))
    }

    /// Finishes the pipeline.
    ///
    /// # Errors
    ///
    /// [`CupelError::PipelineConfig`] if scorer, slicer or placer is missing; it names which.
    pub fn build(self) -> Result<Pipeline, CupelError> {
        self.0.build().map(Pipeline::from)
    }
}

impl fmt::Debug for PipelineBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.debug("PipelineBuilder", f)
    }
}
