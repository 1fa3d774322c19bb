//! Measures how much of the evidence a policy keeps at a token budget.
//!
//! A [`Pool`] is a list of candidates. A [`PoolQuery`] asks for something, and its evidence is the items
//! that are needed to answer it. A [`Selector`] gets the candidates, the query and a budget; what
//! counts is how much of the evidence is in the window that it returns.
//!
//! ```
//! use cupel::{ChronologicalPlacer, GreedySlice, Pipeline, RecencyScorer};
//! use cupel_eval::{
//!     Baseline, Budgets, DataSet, Evaluator, Figure, Method, PolicySelector, ReadOptions,
//!     available_threads, compare, summarize,
//! };
//!
//! let files = ["examples/friends.jsonl"];
//! let data = DataSet::read_files(&files, &ReadOptions::default())?;
//! let pipeline = Pipeline::builder()
//!     .scorer(RecencyScorer)
//!     .slicer(GreedySlice)
//!     .placer(ChronologicalPlacer)
//!     .build()?;
//! let methods = [
//!     Method::new("newest", Baseline::Newest),
//!     Method::new("recency", PolicySelector::from(pipeline)),
//! ];
//! let evaluation = Evaluator::new(Budgets::new([500, 1_000])?).run(&data, &methods)?;
//!
//! for row in summarize(&evaluation).rows {
//!     println!("{} at {}: {:.1} %", row.method, row.budget_tokens, 100.0 * row.recall.mean);
//! }
//! for difference in compare(&evaluation, 0, available_threads()) {
//!     if difference.figure == Figure::Recall && difference.is_clear() {
//!         println!("{} differs from {}", difference.method, difference.reference);
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Runs of agents
//!
//! [`AgentRuns`] are requests that grow step by step. A [`Trimmer`] makes a window of each of them;
//! what counts is how much of what the next call needed is in it, whether a provider takes it, and
//! how much of it is not the beginning of the window before, so that it must be paid in full. See
//! [`AgentEvaluator`].
//!
//! # Guarantees
//!
//! - **Deterministic.** Same data, methods and budgets, same bytes out, on any number of threads.
//! - **Strict.** A broken line is an error with file, line and path; nothing is passed over
//!   silently. Only fields that mean nothing to us are.
//! - **Honest.** A selection over budget, with an item that is no candidate, or missing counts as 0,
//!   and is counted.

mod agent;
mod baseline;
mod budgets;
mod compare;
mod data;
mod difference;
mod error;
mod group;
mod kind;
mod lines;
mod measure;
mod parallel;
mod policy;
mod random;
mod record;
mod report;
mod run;
mod selections;
mod selector;
mod summary;

#[cfg(feature = "engine")]
pub use agent::PolicyTrimmer;
pub use agent::{
    AgentEvaluation, AgentEvaluator, AgentMessage, AgentMethod, AgentRow, AgentRun, AgentRuns,
    AgentStep, AgentSummary, AgentTask, Cost, JudgedWindow, PriceRule, RecordedWindows, RunTrimmer,
    StepMeasures, Trimmer, Window, compare_agents, stands_apart, summarize_agents, write_windows,
};
pub use baseline::{Baseline, UnknownBaseline};
pub use budgets::{Budgets, InvalidBudgets};
pub use compare::compare;
pub use data::{Case, DataSet, Pool, PoolQuery, ReadOptions, Weigh};
pub use difference::{Difference, Figure, Verdict};
pub use error::{AgentError, DataError, RunError};
pub use kind::DataKind;
pub use measure::{Fault, Measures, measure};
pub use parallel::{available_threads, try_map};
pub use policy::PolicySelector;
#[cfg(feature = "schema")]
pub use report::json_schemas;
pub use report::{AgentReport, PoolReport, SCHEMA};
pub use run::{Answer, Evaluation, Evaluator};
pub use selections::{RecordedSelections, write_selections};
pub use selector::{Method, Selector, SelectorError};
pub use summary::{Faults, Mean, Row, Summary, summarize};

/// The example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
