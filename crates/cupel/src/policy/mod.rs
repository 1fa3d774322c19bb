//! A complete set of strategies.

#[cfg(feature = "serde")]
mod description;
#[cfg(feature = "serde")]
mod preset;

use std::fmt;
use std::sync::Arc;

use crate::{CupelError, OverflowStrategy, Placer, Scorer, Slicer};

#[cfg(feature = "serde")]
pub use description::{
    BucketSize, BuiltIn, CountEntryDescription, CurveDescription, CustomStrategy, DescriptionError,
    OptionType, Options, PlacerDescription, PolicyDescription, Scarcity, ScorerDescription,
    ShortenDescription, SlicerDescription, StepWindow, StrategyProvider, ToolsDescription,
    WeightedScorer, WeightedScorers,
};
#[cfg(feature = "serde")]
pub use preset::Preset;

/// A scorer, a slicer, a placer and two switches: everything but the items and the budget.
///
/// Cheap to clone and to share between threads. Hand it to
/// [`Pipeline::from`](crate::Pipeline), to
/// [`dry_run_with_policy`](crate::Pipeline::dry_run_with_policy), or compare several with
/// [`policy_sensitivity`](crate::policy_sensitivity).
///
/// # Example
///
/// ```
/// use cupel::{GreedySlice, Pipeline, PolicyBuilder, RecencyScorer, ChronologicalPlacer};
///
/// let policy = PolicyBuilder::new()
///     .scorer(RecencyScorer)
///     .slicer(GreedySlice)
///     .placer(ChronologicalPlacer)
///     .build()?;
/// let pipeline = Pipeline::from(policy);
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Clone)]
pub struct Policy {
    pub(crate) scorer: Arc<dyn Scorer>,
    pub(crate) slicer: Arc<dyn Slicer>,
    pub(crate) placer: Arc<dyn Placer>,
    pub(crate) deduplication: bool,
    pub(crate) overflow_strategy: OverflowStrategy,
}

impl Policy {
    /// The scorer.
    #[must_use]
    pub fn scorer(&self) -> &dyn Scorer {
        &*self.scorer
    }

    /// The strategy that chooses what fits.
    pub fn slicer(&self) -> &dyn Slicer {
        &*self.slicer
    }

    /// A builder with the same strategies, which are shared: for a policy that differs in some.
    pub fn to_builder(&self) -> PolicyBuilder {
        PolicyBuilder {
            scorer: Some(self.scorer.clone()),
            slicer: Some(self.slicer.clone()),
            placer: Some(self.placer.clone()),
            switches: Switches {
                deduplication: self.deduplication,
                overflow_strategy: self.overflow_strategy,
            },
        }
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy")
            .field("deduplication", &self.deduplication)
            .field("overflow_strategy", &self.overflow_strategy)
            .finish_non_exhaustive()
    }
}

/// Builds a [`Policy`]. Scorer, slicer and placer are required.
///
/// Strategies are taken as they are, boxed, or shared.
#[derive(Default)]
#[must_use]
pub struct PolicyBuilder {
    scorer: Option<Arc<dyn Scorer>>,
    slicer: Option<Arc<dyn Slicer>>,
    placer: Option<Arc<dyn Placer>>,
    switches: Switches,
}

#[derive(Clone, Copy)]
struct Switches {
    deduplication: bool,
    overflow_strategy: OverflowStrategy,
}

impl Default for Switches {
    fn default() -> Self {
        Self { deduplication: true, overflow_strategy: OverflowStrategy::Throw }
    }
}

impl PolicyBuilder {
    /// Starts with deduplication on and [`OverflowStrategy::Throw`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the scorer, which says how relevant each item is.
    pub fn scorer(mut self, scorer: impl Scorer + 'static) -> Self {
        self.scorer = Some(Arc::new(scorer));
        self
    }

    /// Which items fit?
    pub fn slicer(mut self, slicer: impl Slicer + 'static) -> Self {
        self.slicer = Some(Arc::new(slicer));
        self
    }

    /// In which order?
    pub fn placer(mut self, placer: impl Placer + 'static) -> Self {
        self.placer = Some(Arc::new(placer));
        self
    }

    /// Sets that only the best of items of equal text is kept; on by default.
    pub fn deduplication(mut self, enabled: bool) -> Self {
        self.switches.deduplication = enabled;
        self
    }

    /// Sets the behaviour when the selection exceeds the target.
    pub fn overflow_strategy(mut self, strategy: OverflowStrategy) -> Self {
        self.switches.overflow_strategy = strategy;
        self
    }

    /// Finishes the policy.
    ///
    /// # Errors
    ///
    /// [`CupelError::PipelineConfig`] if scorer, slicer or placer is missing; it names which.
    pub fn build(self) -> Result<Policy, CupelError> {
        fn require<T>(strategy: Option<T>, name: &str) -> Result<T, CupelError> {
            strategy.ok_or_else(|| CupelError::PipelineConfig(format!("a {name} is required")))
        }
        Ok(Policy {
            scorer: require(self.scorer, "scorer")?,
            slicer: require(self.slicer, "slicer")?,
            placer: require(self.placer, "placer")?,
            deduplication: self.switches.deduplication,
            overflow_strategy: self.switches.overflow_strategy,
        })
    }

    /// Output of [`Debug`](fmt::Debug), under the name of the type that wraps this.
    pub(crate) fn debug(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(name)
            .field("scorer", &self.scorer.is_some())
            .field("slicer", &self.slicer.is_some())
            .field("placer", &self.placer.is_some())
            .field("deduplication", &self.switches.deduplication)
            .field("overflow_strategy", &self.switches.overflow_strategy)
            .finish()
    }
}

impl fmt::Debug for PolicyBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.debug("PolicyBuilder", f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ChronologicalPlacer, GreedySlice, RecencyScorer};

    #[test]
    fn a_missing_strategy_is_named() {
        let text = |builder: PolicyBuilder| builder.build().unwrap_err().to_string();
        assert_eq!(text(PolicyBuilder::new()), "a scorer is required");
        let builder = PolicyBuilder::new().scorer(RecencyScorer);
        assert_eq!(text(builder), "a slicer is required");
        let builder = PolicyBuilder::new().scorer(RecencyScorer).slicer(GreedySlice);
        assert_eq!(text(builder), "a placer is required");
    }

    #[test]
    fn strategies_are_taken_plain_boxed_and_shared() {
        let shared: Arc<dyn Placer> = Arc::new(ChronologicalPlacer);
        let boxed: Box<dyn Slicer> = Box::new(GreedySlice);
        let builder = PolicyBuilder::new().scorer(RecencyScorer).slicer(boxed).placer(shared);
        assert!(builder.deduplication(false).build().is_ok());
    }
}
