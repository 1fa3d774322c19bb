//! Whoever wants to be told what a run does.

use std::fmt;

use super::{
    CountRequirementShortfall, ExcludedItem, ExclusionReason, IncludedItem, InclusionReason,
    OverflowEvent, ReportDraft, SelectionReport, StageTraceSnapshot, TraceEvent,
};
use crate::{ContextBudget, ContextItem, CupelError};

/// Is told what a run does, while it does it.
///
/// A collector is handed to one run at a time. While [`is_enabled`](Self::is_enabled) is false
/// nothing else is called, and nothing is timed, counted or cloned for it. An enabled collector
/// says with [`interest`](Self::interest) what it wants, and pays only for that.
///
/// # Order of calls
///
/// 1. [`on_run_started`](Self::on_run_started), [`set_candidates`](Self::set_candidates)
/// 2. for each of the five stages: for each item that it leaves out
///    [`record_item_event`](Self::record_item_event) and
///    [`record_excluded_at`](Self::record_excluded_at); at Slice
///    [`record_shortfall`](Self::record_shortfall); at Place
///    [`record_overflow`](Self::record_overflow), and an item event for each item that is in;
///    then [`record_stage_event`](Self::record_stage_event)
/// 3. [`record_included_at`](Self::record_included_at) for each item, in placed order
/// 4. [`on_pipeline_completed`](Self::on_pipeline_completed)
///
/// The two calls with a position call [`record_excluded`](Self::record_excluded) and
/// [`record_included`](Self::record_included) unless a collector overrides them; a collector
/// around another one passes on all four.
///
/// If a stage fails, [`on_run_failed`](Self::on_run_failed) is the last call instead.
pub trait TraceCollector {
    /// Returns true if anything is to be recorded at all.
    fn is_enabled(&self) -> bool;

    /// A stage is done.
    fn record_stage_event(&mut self, event: TraceEvent);

    /// The fate of an item is decided.
    fn record_item_event(&mut self, event: TraceEvent);

    /// An item is in the window.
    fn record_included(&mut self, _item: ContextItem, _score: f64, _reason: InclusionReason) {}

    /// An item was left out.
    fn record_excluded(&mut self, _item: ContextItem, _score: f64, _reason: ExclusionReason) {}

    /// An item is in the window, and this is where it stands in the list of candidates. The
    /// pipeline calls this one; without it [`record_included`](Self::record_included) is told.
    fn record_included_at(
        &mut self,
        _position: usize,
        item: ContextItem,
        score: f64,
        reason: InclusionReason,
    ) {
        self.record_included(item, score, reason);
    }

    /// An item is in the window, shorter than it is: `included` knows where it stands and which of its
    /// renderings it is. Without it [`record_included_at`](Self::record_included_at) is told.
    fn record_shortened(&mut self, included: IncludedItem) {
        let position = included.position.unwrap_or_default();
        self.record_included_at(position, included.item, included.score, included.reason);
    }

    /// An item was left out, and this is where it stands in the list of candidates. The pipeline
    /// calls this one; without it [`record_excluded`](Self::record_excluded) is told.
    fn record_excluded_at(
        &mut self,
        _position: usize,
        item: ContextItem,
        score: f64,
        reason: ExclusionReason,
    ) {
        self.record_excluded(item, score, reason);
    }

    /// Number of candidates there are, and their tokens, negative counts included.
    fn set_candidates(&mut self, _total: usize, _total_tokens: i64) {}

    /// The run is done. `report` is what the caller of a dry run would get, with the events that
    /// this collector wants; without items, if it does not want the report.
    fn on_pipeline_completed(
        &mut self,
        _report: &SelectionReport,
        _budget: &ContextBudget,
        _stage_snapshots: &[StageTraceSnapshot],
    ) {
    }

    /// Events that this collector wants to be told. Asked once, when a run starts.
    fn interest(&self) -> TraceInterest {
        TraceInterest::ALL
    }

    /// A run starts.
    fn on_run_started(&mut self, _budget: &ContextBudget) {}

    /// The run ends with an error; nothing else follows.
    fn on_run_failed(&mut self, _error: &CupelError) {}

    /// The target is exceeded, and the run goes on.
    fn record_overflow(&mut self, _event: OverflowEvent) {}

    /// A required count cannot be met.
    fn record_shortfall(&mut self, _shortfall: CountRequirementShortfall) {}
}

/// Events that a [`TraceCollector`] wants to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceInterest {
    /// An event for each item, with a message.
    pub item_events: bool,
    /// Each included and excluded item, as it is decided.
    pub records: bool,
    /// The finished report, and the items that each stage left out.
    pub report: bool,
}

impl TraceInterest {
    /// Everything: the default.
    pub const ALL: Self = Self { item_events: true, records: true, report: true };
    /// Stage events, counts and durations only.
    pub const STAGES: Self = Self { item_events: false, records: false, report: false };
}

/// Level of detail of a [`DiagnosticTraceCollector`].
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum TraceDetailLevel {
    /// An event for each stage.
    Stage,
    /// Also an event for each item.
    Item,
}

/// Records nothing, at no cost.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NullTraceCollector;

impl TraceCollector for NullTraceCollector {
    fn is_enabled(&self) -> bool {
        false
    }

    fn record_stage_event(&mut self, _event: TraceEvent) {}

    fn record_item_event(&mut self, _event: TraceEvent) {}
}

/// Records a run, and makes a [`SelectionReport`] of it.
///
/// Items and reasons are always recorded; the [`TraceDetailLevel`] decides about events. After a
/// run that failed, the report holds what was recorded until then. Each run starts afresh: of a
/// collector that was used for several, the report is that of the last.
///
/// # Example
///
/// ```
/// use cupel::diagnostics::trace_collector::{DiagnosticTraceCollector, TraceDetailLevel};
/// # use cupel::{ChronologicalPlacer, ContextBudget, ContextItemBuilder, GreedySlice, Pipeline, ReflexiveScorer};
/// # let pipeline = Pipeline::builder()
/// #     .scorer(ReflexiveScorer).slicer(GreedySlice).placer(ChronologicalPlacer).build()?;
/// # let items = [ContextItemBuilder::new("a", 1).future_relevance_hint(0.5).build()?];
/// # let budget = ContextBudget::builder(10).build()?;
///
/// let mut collector = DiagnosticTraceCollector::new(TraceDetailLevel::Item);
/// let window = pipeline.run_traced(&items, &budget, &mut collector)?;
/// let report = collector.into_report();
/// assert_eq!(report.included.len(), window.len());
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[non_exhaustive]
pub struct DiagnosticTraceCollector {
    pub(crate) draft: ReportDraft,
    pub(crate) detail_level: TraceDetailLevel,
    callback: Option<Callback>,
}

/// Called with each event, as soon as it is recorded.
type Callback = Box<dyn Fn(&TraceEvent)>;

impl DiagnosticTraceCollector {
    /// Records at the given level.
    #[must_use]
    pub fn new(detail_level: TraceDetailLevel) -> Self {
        Self::resume(ReportDraft::default(), detail_level)
    }

    /// Records at the given level, and calls back with each recorded event.
    #[must_use]
    pub fn with_callback(
        detail_level: TraceDetailLevel,
        callback: Box<dyn Fn(&TraceEvent)>,
    ) -> Self {
        Self { callback: Some(callback), ..Self::new(detail_level) }
    }

    pub(crate) fn resume(draft: ReportDraft, detail_level: TraceDetailLevel) -> Self {
        Self { draft, detail_level, callback: None }
    }

    /// The report of what was recorded.
    #[must_use]
    pub fn into_report(self) -> SelectionReport {
        self.draft.finish()
    }

    fn record(&mut self, event: TraceEvent) {
        if let Some(callback) = &self.callback {
            callback(&event);
        }
        self.draft.event(event);
    }
}

impl TraceCollector for DiagnosticTraceCollector {
    fn is_enabled(&self) -> bool {
        true
    }

    fn record_stage_event(&mut self, event: TraceEvent) {
        self.record(event);
    }

    fn record_item_event(&mut self, event: TraceEvent) {
        if self.detail_level >= TraceDetailLevel::Item {
            self.record(event);
        }
    }

    fn record_included(&mut self, item: ContextItem, score: f64, reason: InclusionReason) {
        self.draft.included(IncludedItem::new(item, score, reason));
    }

    fn record_excluded(&mut self, item: ContextItem, score: f64, reason: ExclusionReason) {
        self.draft.excluded(ExcludedItem::new(item, score, reason));
    }

    fn record_included_at(
        &mut self,
        position: usize,
        item: ContextItem,
        score: f64,
        reason: InclusionReason,
    ) {
        self.draft.included(IncludedItem::new(item, score, reason).at(position));
    }

    fn record_shortened(&mut self, included: IncludedItem) {
        self.draft.included(included);
    }

    fn record_excluded_at(
        &mut self,
        position: usize,
        item: ContextItem,
        score: f64,
        reason: ExclusionReason,
    ) {
        self.draft.excluded(ExcludedItem::new(item, score, reason).at(position));
    }

    fn set_candidates(&mut self, total: usize, total_tokens: i64) {
        self.draft.candidates(total, total_tokens);
    }

    fn interest(&self) -> TraceInterest {
        TraceInterest {
            item_events: self.detail_level >= TraceDetailLevel::Item,
            records: true,
            // It makes its own.
            report: false,
        }
    }

    fn on_run_started(&mut self, _budget: &ContextBudget) {
        self.draft = ReportDraft::default();
    }

    fn record_overflow(&mut self, event: OverflowEvent) {
        self.draft.overflow(event);
    }

    fn record_shortfall(&mut self, shortfall: CountRequirementShortfall) {
        self.draft.shortfall(shortfall);
    }
}

impl fmt::Debug for DiagnosticTraceCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DiagnosticTraceCollector")
            .field("detail_level", &self.detail_level)
            .field("draft", &self.draft)
            .field("has_callback", &self.callback.is_some())
            .finish()
    }
}
