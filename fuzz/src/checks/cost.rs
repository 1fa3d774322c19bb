//! What a task costs the oracle, which is as slow as the specification's pseudocode.

use cupel_conformance::protocol::{Policy, Scorer, Slicer, Task};

/// The most steps that are worth waiting for.
const MAX_STEPS: u128 = 2_000_000;

/// The largest table of a knapsack; larger ones are refused at once.
const MAX_CELLS: u128 = 50_000_000;

/// Returns true if the oracle answers within a moment.
pub(super) fn is_cheap(task: &Task) -> bool {
    let items = task.items().len() as u128;
    let steps = match task {
        Task::Placing(_) => items,
        Task::Scoring(task) => items.saturating_mul(scorer(&task.scorer, items)),
        Task::Slicing(task) => slicer(&task.slicer, items, task.budget.target_tokens),
        Task::Pipeline(task) => policy(&task.policy, items, task.budget.target_tokens),
        Task::GetMarginalItems(task) => {
            policy(&task.policy, items, task.budget.target_tokens).saturating_mul(2)
        }
        // It bisects.
        Task::FindMinBudgetFor(task) => {
            policy(&task.policy, items, task.search_ceiling).saturating_mul(64)
        }
        Task::PolicySensitivity(task) => {
            let target_tokens = task.budget.target_tokens;
            let steps = task.variants.iter();
            let steps = steps.map(|variant| policy(&variant.policy, items, target_tokens));
            steps.fold(0, u128::saturating_add)
        }
    };
    steps <= MAX_STEPS
}

fn policy(policy: &Policy, items: u128, target_tokens: i64) -> u128 {
    let scores = items.saturating_mul(scorer(&policy.scorer, items));
    scores.saturating_add(slicer(&policy.slicer, items, target_tokens))
}

/// Steps to the score of one item.
fn scorer(scorer: &Scorer, items: u128) -> u128 {
    let scorer_of = self::scorer;
    match scorer {
        Scorer::Recency | Scorer::Priority | Scorer::Frequency => items,
        Scorer::Composite { scorers } => {
            let children = scorers.iter().map(|child| scorer_of(&child.scorer, items));
            children.fold(1, u128::saturating_add)
        }
        Scorer::Scaled { inner } => items.saturating_mul(scorer_of(inner, items)).max(1),
        _ => 1,
    }
}

fn slicer(slicer: &Slicer, items: u128, target_tokens: i64) -> u128 {
    match slicer {
        Slicer::Greedy => items,
        Slicer::Quota { inner, .. } | Slicer::CountQuota { inner, .. } => {
            items.saturating_add(self::slicer(inner, items, target_tokens))
        }
        Slicer::Knapsack { bucket_size } | Slicer::CountConstrainedKnapsack { bucket_size, .. } => {
            let capacity = target_tokens.max(0) / bucket_size.unwrap_or(100).max(1);
            let cells = items.saturating_mul(capacity as u128);
            // Some way above the limit, so that a part of the target is above it too.
            if cells > 1000 * MAX_CELLS { items } else { cells.max(items) }
        }
    }
}
