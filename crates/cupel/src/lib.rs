//! Cupel decides what goes into a language model's context window.
//!
//! Hand it candidates (messages, documents, tool outputs, memories, each with a token count) and a
//! token budget. It classifies, scores, deduplicates, sorts, slices and places them, returns the
//! window, and can say of every single item why it is in or out.
//!
//! # Five minutes
//!
//! A [`Pipeline`] is three strategies. A [`Scorer`] says how relevant each item is, a [`Slicer`]
//! which ones fit, a [`Placer`] in which order they go.
//!
//! ```
//! use cupel::{
//!     CompositeScorer, ContextBudget, ContextItemBuilder, ContextKind, GreedySlice, KindScorer,
//!     Pipeline, RecencyScorer, UShapedPlacer,
//! };
//!
//! let pipeline = Pipeline::builder()
//!     .scorer(CompositeScorer::new(vec![
//!         (Box::new(RecencyScorer), 2.0),
//!         (Box::new(KindScorer::with_default_weights()), 1.0),
//!     ])?)
//!     .slicer(GreedySlice)
//!     .placer(UShapedPlacer)
//!     .build()?;
//! # Ok::<(), cupel::CupelError>(())
//! ```
//!
//! Items are built once and are cheap to clone. Only text and token count are required. Pinned
//! items are always in.
//!
//! ```
//! use cupel::{ContextItemBuilder, ContextKind};
//!
//! let prompt = ContextItemBuilder::new("You are terse.", 4)
//!     .kind(ContextKind::system_prompt())
//!     .pinned(true)
//!     .build()?;
//! let result = ContextItemBuilder::new("exit code 1", 5)
//!     .kind(ContextKind::tool_output())
//!     .timestamp("2025-01-01T10:00:00Z".parse().unwrap())
//!     .tags(vec!["deploy".into()])
//!     .build()?;
//! # Ok::<(), cupel::CupelError>(())
//! ```
//!
//! A [`ContextBudget`] is the model's window, what to keep free for its answer, and what to aim
//! for.
//!
//! ```
//! # use cupel::*;
//! # let pipeline = Pipeline::builder()
//! #     .scorer(RecencyScorer).slicer(GreedySlice).placer(UShapedPlacer).build()?;
//! # let items = vec![ContextItemBuilder::new("exit code 1", 5).build()?];
//! let budget = ContextBudget::builder(8_000).output_reserve(1_000).build()?;
//! let window = pipeline.run(&items, &budget)?;
//!
//! // The same selection, explained.
//! let report = pipeline.dry_run(&items, &budget)?;
//! for excluded in &report.excluded {
//!     println!("{}: {}", excluded.item.content(), excluded.reason);
//! }
//! # Ok::<(), cupel::CupelError>(())
//! ```
//!
//! # Where to go from here
//!
//! - [`scorer`], [`slicer`] and [`placer`] compare the strategies in a table each, and show how to
//!   write your own.
//! - [`diagnostics`] has reports, reasons and collectors; [`analytics`] figures and comparisons.
//! - [`Pipeline::window`] answers with positions in your list; [`Pipeline::rank`] scores once for as
//!   many windows, reports and explanations as you like.
//! - [`Pipeline::get_marginal_items`] and [`Pipeline::find_min_budget_for`] try other budgets.
//! - `PolicyDescription` and `Preset` are policies as data, and `wire` reads them and
//!   everything else with errors that have a path and a rule (feature `serde`).
//! - [`CupelError::code`] lists the codes of errors; a [`Problem`] is one with a path.
//!
//! # Guarantees
//!
//! - **Deterministic.** Same items, budget and strategies, same bytes out.
//! - **Never panics, wraps or loops** on any input. `unsafe` is forbidden.
//! - **Cheap.** No text is copied, no handle cloned but for the window. No stage costs more than a
//!   sort, unless the strategy itself does. What is not traced is not paid for.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `serde` | the wire form of items, budgets and reports; policies as data, and presets |
//! | `schema` | a JSON Schema of a policy description |
//! | `stream` | selection from a stream that arrives bit by bit |
//!
//! JSON is read by the crate of your choice. With `serde_json`, switch its feature `float_roundtrip`
//! on if scores must survive the trip to the last bit.

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
mod problem;
mod renderer;
pub mod scorer;
pub mod slicer;
#[cfg(feature = "serde")]
pub mod wire;

pub use analytics::{
    ItemStatus, KindQuotaUtilization, PolicySensitivityDiffEntry, PolicySensitivityReport,
    budget_utilization, kind_diversity, policy_sensitivity, policy_sensitivity_from_pipelines,
    quota_utilization, timestamp_coverage,
};
pub use clock::{FixedClock, SystemTimeProvider, TimeProvider};
pub use diagnostics::{
    CountRequirementShortfall, DiagnosticTraceCollector, ExcludedItem, ExclusionReason,
    ExclusionReasonKind, FieldValue, IncludedItem, InclusionReason, NullTraceCollector,
    OverflowEvent, PipelineStage, SelectionReport, StageTraceSnapshot, TraceCollector,
    TraceDetailLevel, TraceEvent, TraceInterest,
};
pub use error::CupelError;
pub use model::{
    Candidate, ContextBudget, ContextBudgetBuilder, ContextItem, ContextItemBuilder, ContextKind,
    ContextSource, ItemList, Needs, OverflowStrategy, ParseContextKindError, Part, PartKind,
    Rendering, RunContext, ScoredItem, Speaker,
};
pub use order::compare_scores;
pub use pipeline::{Pipeline, PipelineBuilder, PlacedItem, Ranking, Sweep};
pub use placer::{ChronologicalPlacer, Placer, UShapedPlacer};
#[cfg(feature = "serde")]
pub use policy::{
    BucketSize, CountEntryDescription, CurveDescription, PlacerDescription, PolicyDescription,
    Preset, Scarcity, ScorerDescription, ShortenDescription, SlicerDescription, StepWindow,
    ToolsDescription, WeightedScorer,
};
pub use policy::{Policy, PolicyBuilder};
pub use problem::{PathSegment, Problem};
pub use renderer::{Draft, Original, Renderer};
pub use scorer::{
    CompositeScorer, DecayCurve, DecayScorer, FrequencyScorer, KindScorer, MetadataKeyScorer,
    MetadataTrustScorer, PriorityScorer, RecencyScorer, ReflexiveScorer, ScaledScorer,
    ScoreExplanation, ScorePart, Scorer, TagComparison, TagScorer,
};
#[cfg(feature = "stream")]
pub use slicer::StreamSlice;
pub use slicer::{
    CountConstrainedKnapsackSlice, CountQuotaEntry, CountQuotaSlice, Gain, GreedySlice,
    KnapsackSlice, QuotaConstraint, QuotaConstraintMode, QuotaEntry, QuotaPolicy, QuotaSlice,
    ScarcityBehavior, Selection, ShorteningSlice, SliceExplanation, SliceRequest, SliceSignal,
    Slicer, Worth,
};

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
