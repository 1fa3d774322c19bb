//! Questions that are answered by running the pipeline again.

use super::pipeline::run;
use crate::protocol::{
    Budget, Diff, ErrorAnswer, Item, Policy, Report, SensitivityAnswer, Slicer, Status, Variant,
    VariantReport,
};

/// Items that are in the output and would not be if the budget were `slack_tokens` smaller.
///
/// # Errors
///
/// A slicer that is or contains a quota slicer, negative slack, or an error of either run.
pub fn get_marginal_items(
    items: &[Item],
    budget: &Budget,
    policy: &Policy,
    slack_tokens: i64,
) -> Result<Vec<usize>, ErrorAnswer> {
    if holds_quota(&policy.slicer) {
        return Err(ErrorAnswer::new(
            "pipeline_config",
            "GetMarginalItems requires monotonic item inclusion. QuotaSlice produces non-monotonic \
             inclusion as budget changes shift percentage allocations.",
        ));
    }
    if slack_tokens < 0 {
        return Err(argument(format!("slack tokens `{slack_tokens}` are negative")));
    }
    let primary = run(items, budget, policy)?.output();
    let margin = run(items, &reduced(budget, slack_tokens), policy)?.output();
    Ok(primary.into_iter().filter(|index| !margin.contains(index)).collect())
}

/// An argument that is not accepted.
fn argument(text: impl Into<String>) -> ErrorAnswer {
    ErrorAnswer::new("invalid_budget", text)
}

/// Returns true if the slicer, or one inside it, shares the budget by percentage.
fn holds_quota(slicer: &Slicer) -> bool {
    match slicer {
        Slicer::Quota { .. } => true,
        Slicer::CountQuota { inner, .. } => holds_quota(inner),
        Slicer::Greedy | Slicer::Knapsack { .. } | Slicer::CountConstrainedKnapsack { .. } => false,
    }
}

/// Returns true if the slicer, or one inside it, promises numbers of items.
fn holds_counts(slicer: &Slicer) -> bool {
    match slicer {
        Slicer::CountQuota { .. } | Slicer::CountConstrainedKnapsack { .. } => true,
        Slicer::Quota { inner, .. } => holds_counts(inner),
        Slicer::Greedy | Slicer::Knapsack { .. } => false,
    }
}

fn reduced(budget: &Budget, slack_tokens: i64) -> Budget {
    let max_tokens = (budget.max_tokens - slack_tokens).max(0);
    Budget {
        max_tokens,
        target_tokens: (budget.target_tokens - slack_tokens).max(0),
        output_reserve: Some(budget.output_reserve().min(max_tokens)),
        ..budget.clone()
    }
}

/// The smallest budget found, up to `search_ceiling`, that includes the item at index `target`.
///
/// # Errors
///
/// A slicer whose inclusion is not monotonic, a target outside `items`, a ceiling below the target's
/// tokens, or an error of a probe other than a budget that is too small.
pub fn find_min_budget_for(
    items: &[Item],
    policy: &Policy,
    target: usize,
    search_ceiling: i64,
) -> Result<Option<i64>, ErrorAnswer> {
    if holds_quota(&policy.slicer) || holds_counts(&policy.slicer) {
        return Err(ErrorAnswer::new(
            "pipeline_config",
            "FindMinBudgetFor requires monotonic item inclusion. QuotaSlice and CountQuotaSlice \
             produce non-monotonic inclusion as budget changes shift allocations. Use a GreedySlice \
             or KnapsackSlice inner slicer for budget simulation.",
        ));
    }
    let Some(item) = items.get(target) else {
        return Err(argument("targetItem must be an element of items"));
    };
    if item.tokens < 0 {
        return Ok(None);
    }
    if search_ceiling < item.tokens {
        return Err(argument("searchCeiling must be >= targetItem.Tokens"));
    }
    search(items, policy, target, search_ceiling)
}

fn search(
    items: &[Item],
    policy: &Policy,
    target: usize,
    search_ceiling: i64,
) -> Result<Option<i64>, ErrorAnswer> {
    let mut low = items[target].tokens;
    let mut high = search_ceiling;
    if includes(items, policy, target, low)? {
        return Ok(Some(low));
    }
    while high - low > 1 {
        let mid = low + (high - low) / 2;
        if includes(items, policy, target, mid)? {
            high = mid;
        } else {
            low = mid;
        }
    }
    Ok(includes(items, policy, target, high)?.then_some(high))
}

/// Returns true if a budget of `tokens` includes the target.
fn includes(
    items: &[Item],
    policy: &Policy,
    target: usize,
    tokens: i64,
) -> Result<bool, ErrorAnswer> {
    match run(items, &Budget::of(tokens), policy) {
        Ok(report) => Ok(report.output().contains(&target)),
        Err(error) if ["pinned_exceeds_budget", "overflow"].contains(&error.code.as_str()) => {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// Runs every variant and lists the texts that they disagree on.
///
/// # Errors
///
/// Fewer than two variants, or an error of any run.
pub fn policy_sensitivity(
    items: &[Item],
    budget: &Budget,
    variants: &[Variant],
) -> Result<SensitivityAnswer, ErrorAnswer> {
    if variants.len() < 2 {
        let text = "policy_sensitivity requires at least 2 variants";
        return Err(ErrorAnswer::new("pipeline_config", text));
    }
    let mut reports = Vec::new();
    for Variant { label, policy } in variants {
        let report = run(items, budget, policy)?;
        reports.push(VariantReport { label: label.clone(), report });
    }
    let diffs = diffs(items, &reports);
    Ok(SensitivityAnswer { variants: reports, diffs })
}

fn diffs(items: &[Item], variants: &[VariantReport]) -> Vec<Diff> {
    let mut diffs = Vec::new();
    for (index, item) in items.iter().enumerate() {
        if items[..index].iter().any(|earlier| earlier.content == item.content) {
            continue;
        }
        let statuses: Vec<Status> = variants
            .iter()
            .map(|variant| status_of_text(items, &variant.report, &item.content))
            .collect();
        if statuses.iter().any(|status| *status != statuses[0]) {
            diffs.push(Diff { content: item.content.clone(), statuses });
        }
    }
    diffs
}

fn status_of_text(items: &[Item], report: &Report, content: &str) -> Status {
    if report.output().iter().any(|&index| items[index].content == content) {
        Status::Included
    } else {
        Status::Excluded
    }
}
