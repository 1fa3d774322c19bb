//! One JSON request per line in, one JSON answer per line out.
//!
//! The same types describe a vector's situation in memory. `conformance/README.md` is the
//! documentation of the protocol for implementers in other languages.

mod answer;
mod duration;
mod item;
mod number;
mod request;
mod serve;
mod strategy;
#[cfg(test)]
mod tests;

pub use answer::{
    Answer, Decision, Diff, ErrorAnswer, MarginalAnswer, MinBudgetAnswer, OverflowEvent,
    PipelineAnswer, PlacingAnswer, Reason, Report, ScoringAnswer, SensitivityAnswer, Shortfall,
    SlicingAnswer, StageCount, Status, VariantReport,
};
pub use duration::duration;
pub use item::{Budget, Item};
pub use request::{
    MarginalTask, MinBudgetTask, PipelineTask, PlacingTask, Request, ScoringTask, SensitivityTask,
    SlicingTask, Task, Variant,
};
pub use serve::serve;
pub use strategy::{
    CountEntry, Curve, KindWeight, OverflowStrategy, Placer, Policy, Quota, ScarcityBehavior,
    Scorer, Slicer, StepWindow, TagComparison, TagWeight, WeightedScorer,
};
