//! The account of a run.

use super::{ExcludedItem, IncludedItem, OverflowEvent, PipelineStage, TraceEvent};
use crate::order::compare_scores;

/// A count quota found fewer candidates of a kind than it requires.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CountRequirementShortfall {
    /// The kind, as the quota spells it.
    pub kind: String,
    /// Number that it requires.
    pub required_count: usize,
    /// Number of candidates that there were.
    pub satisfied_count: usize,
}

impl CountRequirementShortfall {
    /// A shortfall.
    #[must_use]
    pub fn new(kind: impl Into<String>, required_count: usize, satisfied_count: usize) -> Self {
        Self { kind: kind.into(), required_count, satisfied_count }
    }
}

/// Items that went into a stage and came out of it.
#[non_exhaustive]
#[derive(Debug, Clone)]
pub struct StageTraceSnapshot {
    /// The stage.
    pub stage: PipelineStage,
    /// Items that entered it.
    pub item_count_in: usize,
    /// Items that left it.
    pub item_count_out: usize,
    /// When it began, in milliseconds from the start of the run.
    pub start_ms: f64,
    /// Duration, in milliseconds.
    pub duration_ms: f64,
    /// Number of items it left out.
    pub excluded_count: usize,
    /// The items that it left out, in the order in which they entered it. Empty for a collector
    /// that does not want the report.
    pub excluded: Vec<ExcludedItem>,
}

/// The whole account of a run: every candidate, in or out, and why.
///
/// # Example
///
/// ```
/// use cupel::{
///     ChronologicalPlacer, ContextBudget, ContextItemBuilder, ExclusionReason, GreedySlice,
///     Pipeline, ReflexiveScorer,
/// };
///
/// let pipeline = Pipeline::builder()
///     .scorer(ReflexiveScorer)
///     .slicer(GreedySlice)
///     .placer(ChronologicalPlacer)
///     .build()?;
/// let items = [
///     ContextItemBuilder::new("short", 10).future_relevance_hint(0.9).build()?,
///     ContextItemBuilder::new("long", 90).future_relevance_hint(0.5).build()?,
/// ];
/// let report = pipeline.dry_run(&items, &ContextBudget::builder(50).build()?)?;
/// assert_eq!(
///     report.excluded[0].reason,
///     ExclusionReason::BudgetExceeded { item_tokens: 90, available_tokens: 40 },
/// );
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[non_exhaustive]
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SelectionReport {
    /// Events, in order.
    pub events: Vec<TraceEvent>,
    /// The window, in placed order.
    pub included: Vec<IncludedItem>,
    /// Items that were left out, best first; among equal scores in the order of exclusion.
    pub excluded: Vec<ExcludedItem>,
    /// Number of candidates there were.
    pub total_candidates: usize,
    /// Their tokens, negative counts included.
    pub total_tokens_considered: i64,
    /// Required counts that could not be met.
    pub count_requirement_shortfalls: Vec<CountRequirementShortfall>,
    /// By how much the target was exceeded, if it was and the strategy was
    /// [`Proceed`](crate::OverflowStrategy::Proceed).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub overflow: Option<OverflowEvent>,
}

impl SelectionReport {
    /// A report of these items: counts and sums follow from them, and `excluded` is put in order.
    ///
    /// For tests of code that reads reports; the pipeline makes its own.
    #[must_use]
    pub fn of(included: Vec<IncludedItem>, excluded: Vec<ExcludedItem>) -> Self {
        let tokens = included.iter().map(|i| i.item.tokens());
        let tokens = tokens.chain(excluded.iter().map(|e| e.item.tokens()));
        let total: crate::model::TokenSum = tokens.sum();
        let mut report = Self {
            total_candidates: included.len() + excluded.len(),
            total_tokens_considered: total.clamped(),
            included,
            excluded,
            ..Self::default()
        };
        report.sort_excluded();
        report
    }

    /// Best first; the sort is stable, so equal scores stay in the order of exclusion.
    pub(crate) fn sort_excluded(&mut self) {
        self.excluded.sort_by(|a, b| compare_scores(a.score, b.score));
    }
}
