//! The oracle as an implementation that can be judged, and that judges vectors in turn.
//!
//! The oracle itself accepts anything; the rules of construction are checked here, before it.

mod rules;
mod scorer;
mod slicer;

use crate::implementation::{Implementation, Refusal};
use crate::oracle::{self, Limits, Scored};
use crate::protocol::{
    ErrorAnswer, Item, MarginalAnswer, MarginalTask, MinBudgetAnswer, MinBudgetTask,
    PipelineAnswer, PipelineTask, PlacingAnswer, PlacingTask, ScoringAnswer, ScoringTask,
    SensitivityAnswer, SensitivityTask, SlicingAnswer, SlicingTask,
};

/// Nothing, or which rule is broken.
type Checked = Result<(), ErrorAnswer>;

/// The naive oracle.
#[derive(Debug, Clone, Copy, Default)]
pub struct OracleImplementation;

impl Implementation for OracleImplementation {
    fn score(&mut self, task: &ScoringTask) -> Result<ScoringAnswer, Refusal> {
        scorer::check(&task.scorer)?;
        rules::items(&task.items)?;
        let all: Vec<&Item> = task.items.iter().collect();
        let score = |position| oracle::scorer::score(&task.scorer, position, &all);
        Ok(ScoringAnswer { scores: (0..all.len()).map(score).collect() })
    }

    fn slice(&mut self, task: &SlicingTask) -> Result<SlicingAnswer, Refusal> {
        slicer::check(&task.slicer)?;
        rules::items(&task.items)?;
        rules::budget(&task.budget)?;
        let (max_tokens, target_tokens) = (task.budget.max_tokens, task.budget.target_tokens);
        let limits = Limits { max_tokens, target_tokens };
        let sorted = scored(&task.scores);
        let outcome = oracle::slicer::slice(&task.slicer, &task.items, &sorted, limits)?;
        Ok(SlicingAnswer {
            selected: outcome.selected,
            shortfalls: Some(outcome.shortfalls),
            cap_excluded: Some(outcome.capped.iter().map(|capped| capped.index).collect()),
        })
    }

    fn place(&mut self, task: &PlacingTask) -> Result<PlacingAnswer, Refusal> {
        rules::items(&task.items)?;
        let order = oracle::placer::place(task.placer, &task.items, &scored(&task.scores));
        Ok(PlacingAnswer { order })
    }

    fn run(&mut self, task: &PipelineTask) -> Result<PipelineAnswer, Refusal> {
        rules::policy(&task.policy)?;
        rules::items(&task.items)?;
        rules::budget(&task.budget)?;
        let report = oracle::run(&task.items, &task.budget, &task.policy)?;
        Ok(PipelineAnswer { output: report.output(), report: Some(report) })
    }

    fn get_marginal_items(&mut self, task: &MarginalTask) -> Result<MarginalAnswer, Refusal> {
        let MarginalTask { policy, items, budget, slack_tokens } = task;
        rules::policy(policy)?;
        rules::items(items)?;
        rules::budget(budget)?;
        let marginal = oracle::get_marginal_items(items, budget, policy, *slack_tokens)?;
        Ok(MarginalAnswer { marginal })
    }

    fn find_min_budget_for(&mut self, task: &MinBudgetTask) -> Result<MinBudgetAnswer, Refusal> {
        let (policy, items) = (&task.policy, &task.items);
        rules::policy(policy)?;
        rules::items(items)?;
        rules::budget(&task.budget)?;
        // No item has the position after the last, which is how the oracle knows a foreign target.
        let target = task.target.unwrap_or(items.len());
        let min_budget = oracle::find_min_budget_for(items, policy, target, task.search_ceiling)?;
        Ok(MinBudgetAnswer { min_budget })
    }

    fn policy_sensitivity(&mut self, task: &SensitivityTask) -> Result<SensitivityAnswer, Refusal> {
        rules::items(&task.items)?;
        rules::budget(&task.budget)?;
        task.variants.iter().try_for_each(|variant| rules::policy(&variant.policy))?;
        Ok(oracle::policy_sensitivity(&task.items, &task.budget, &task.variants)?)
    }
}

fn scored(scores: &[f64]) -> Vec<Scored> {
    scores.iter().enumerate().map(|(index, &score)| Scored { index, score }).collect()
}
