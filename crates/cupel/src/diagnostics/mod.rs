//! Why is each item in or out?
//!
//! Hand a [`TraceCollector`] to [`Pipeline::run_traced`](crate::Pipeline::run_traced), or call
//! [`Pipeline::dry_run`](crate::Pipeline::dry_run) for the [`SelectionReport`] alone.
//!
//! | type | what it is |
//! |---|---|
//! | [`SelectionReport`] | the whole account of a run |
//! | [`IncludedItem`], [`ExcludedItem`] | an item with its score and the reason |
//! | [`InclusionReason`], [`ExclusionReason`] | why |
//! | [`ExclusionReasonKind`] | why, without details |
//! | [`TraceEvent`], [`PipelineStage`] | what happened when |
//! | [`OverflowEvent`] | the target was exceeded, and the run went on |
//! | [`TraceCollector`] | whoever wants to be told |

mod event;
mod excerpt;
mod fate;
mod field_value;
mod reason;
mod recording;
mod report;
pub mod trace_collector;

pub use event::{OverflowEvent, PipelineStage, TraceEvent};
pub use fate::{ExcludedItem, IncludedItem};
pub use field_value::FieldValue;
pub use reason::{ExclusionReason, ExclusionReasonKind, InclusionReason};
pub use report::{CountRequirementShortfall, SelectionReport, StageTraceSnapshot};
pub use trace_collector::{
    DiagnosticTraceCollector, NullTraceCollector, TraceCollector, TraceDetailLevel, TraceInterest,
};

pub(crate) use excerpt::Excerpt;
pub(crate) use recording::ReportDraft;
