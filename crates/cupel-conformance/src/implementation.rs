//! The trait that an implementation under test fulfils.

use std::fmt;

use crate::protocol::{
    Answer, ErrorAnswer, MarginalAnswer, MarginalTask, MinBudgetAnswer, MinBudgetTask,
    PipelineAnswer, PipelineTask, PlacingAnswer, PlacingTask, ScoringAnswer, ScoringTask,
    SensitivityAnswer, SensitivityTask, SlicingAnswer, SlicingTask, Task,
};

/// An implementation of context selection, one method per stage.
///
/// Every method builds what the task describes and then does it; an item, budget or strategy that
/// cannot be built is a [`Refusal::Error`]. Methods that are not overridden are unsupported, and the
/// vectors that need them are skipped.
///
/// ```
/// use cupel_conformance::protocol::{PlacingAnswer, PlacingTask};
/// use cupel_conformance::{Implementation, Refusal};
///
/// /// Leaves everything where it is.
/// struct Lazy;
///
/// impl Implementation for Lazy {
///     fn place(&mut self, task: &PlacingTask) -> Result<PlacingAnswer, Refusal> {
///         Ok(PlacingAnswer { order: (0..task.items.len()).collect() })
///     }
/// }
/// ```
#[expect(clippy::missing_errors_doc, reason = "all of them refuse for the same three reasons")]
pub trait Implementation {
    /// Scores all items together.
    fn score(&mut self, _task: &ScoringTask) -> Result<ScoringAnswer, Refusal> {
        Err(unsupported("scoring"))
    }

    /// Chooses among scored items.
    fn slice(&mut self, _task: &SlicingTask) -> Result<SlicingAnswer, Refusal> {
        Err(unsupported("slicing"))
    }

    /// Orders scored items.
    fn place(&mut self, _task: &PlacingTask) -> Result<PlacingAnswer, Refusal> {
        Err(unsupported("placing"))
    }

    /// Runs all stages.
    fn run(&mut self, _task: &PipelineTask) -> Result<PipelineAnswer, Refusal> {
        Err(unsupported("pipeline"))
    }

    /// Items that a smaller budget drops.
    fn get_marginal_items(&mut self, _task: &MarginalTask) -> Result<MarginalAnswer, Refusal> {
        Err(unsupported("get_marginal_items"))
    }

    /// A budget that includes the target.
    fn find_min_budget_for(&mut self, _task: &MinBudgetTask) -> Result<MinBudgetAnswer, Refusal> {
        Err(unsupported("find_min_budget_for"))
    }

    /// Items that several policies disagree on.
    fn policy_sensitivity(
        &mut self,
        _task: &SensitivityTask,
    ) -> Result<SensitivityAnswer, Refusal> {
        Err(unsupported("policy_sensitivity"))
    }
}

fn unsupported(stage: &str) -> Refusal {
    Refusal::Unsupported(format!("the implementation does not do {stage}"))
}

/// Why a task has no result.
#[derive(Debug, Clone, PartialEq)]
pub enum Refusal {
    /// The task was understood, and this is its outcome.
    Error(ErrorAnswer),
    /// The implementation does not do this; the vector is skipped.
    Unsupported(String),
    /// The implementation crashed, hung or talked nonsense; the vector fails.
    Broken(String),
}

impl Refusal {
    /// A stable name: the error's own, `unsupported` or `broken`.
    pub fn code(&self) -> &str {
        match self {
            Self::Error(error) => &error.code,
            Self::Unsupported(_) => "unsupported",
            Self::Broken(_) => "broken",
        }
    }
}

impl From<ErrorAnswer> for Refusal {
    fn from(error: ErrorAnswer) -> Self {
        Self::Error(error)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error(error) if error.message.is_empty() => write!(f, "error {}", error.code),
            Self::Error(error) => write!(f, "error {}: {}", error.code, error.message),
            Self::Unsupported(text) => write!(f, "unsupported: {text}"),
            Self::Broken(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Refusal {}

/// Hands the task to the method that does it.
///
/// # Errors
///
/// Errors that the method refuses with.
pub fn ask<I: Implementation + ?Sized>(
    implementation: &mut I,
    task: &Task,
) -> Result<Answer, Refusal> {
    Ok(match task {
        Task::Scoring(task) => Answer::Scoring(implementation.score(task)?),
        Task::Slicing(task) => Answer::Slicing(implementation.slice(task)?),
        Task::Placing(task) => Answer::Placing(implementation.place(task)?),
        Task::Pipeline(task) => Answer::Pipeline(implementation.run(task)?),
        Task::GetMarginalItems(task) => Answer::Marginal(implementation.get_marginal_items(task)?),
        Task::FindMinBudgetFor(task) => {
            Answer::MinBudget(implementation.find_min_budget_for(task)?)
        }
        Task::PolicySensitivity(task) => {
            Answer::Sensitivity(implementation.policy_sensitivity(task)?)
        }
    })
}
