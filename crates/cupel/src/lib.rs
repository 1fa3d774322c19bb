//! Cupel decides what goes into a language model's context window.

pub mod analytics;
mod claim;
mod clock;
pub mod diagnostics;
pub mod error;
pub mod model;
mod order;
pub mod pipeline;
pub mod placer;
pub mod policy;
pub mod scorer;
pub mod slicer;
#[cfg(feature = "serde")]
mod wire;

pub use analytics::{
    ItemStatus, KindQuotaUtilization, PolicySensitivityDiffEntry, PolicySensitivityReport,
    budget_utilization, kind_diversity, policy_sensitivity, policy_sensitivity_from_pipelines,
    quota_utilization, timestamp_coverage,
};
pub use clock::{FixedClock, SystemTimeProvider, TimeProvider};
pub use diagnostics::{
    CountRequirementShortfall, DiagnosticTraceCollector, ExcludedItem, ExclusionReason, FieldValue,
    IncludedItem, InclusionReason, NullTraceCollector, OverflowEvent, PipelineStage,
    SelectionReport, StageTraceSnapshot, TraceCollector, TraceDetailLevel, TraceEvent,
    TraceInterest,
};
pub use error::CupelError;
pub use model::{
    Candidate, ContextBudget, ContextBudgetBuilder, ContextItem, ContextItemBuilder, ContextKind,
    ContextSource, OverflowStrategy, ParseContextKindError, ScoredItem,
};
pub use pipeline::{Pipeline, PipelineBuilder};
pub use placer::{ChronologicalPlacer, Placer, UShapedPlacer};
#[cfg(feature = "serde")]
pub use policy::{
    BucketSize, CountEntryDescription, CurveDescription, PlacerDescription, PolicyDescription,
    Preset, Scarcity, ScorerDescription, SlicerDescription, StepWindow, WeightedScorer,
};
pub use policy::{Policy, PolicyBuilder};
pub use scorer::{
    CompositeScorer, DecayCurve, DecayScorer, FrequencyScorer, KindScorer, MetadataKeyScorer,
    MetadataTrustScorer, PriorityScorer, RecencyScorer, ReflexiveScorer, ScaledScorer, Scorer,
    TagComparison, TagScorer,
};
#[cfg(feature = "stream")]
pub use slicer::StreamSlice;
pub use slicer::{
    CountConstrainedKnapsackSlice, CountQuotaEntry, CountQuotaSlice, GreedySlice, KnapsackSlice,
    QuotaConstraint, QuotaConstraintMode, QuotaEntry, QuotaPolicy, QuotaSlice, ScarcityBehavior,
    Selection, SliceRequest, Slicer,
};
