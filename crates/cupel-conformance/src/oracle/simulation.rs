//! Questions that are answered by running the pipeline again.

use super::error::Error;
use super::model::{Budget, Item, Policy, Slicer};
use super::pipeline::run;
use super::report::Report;

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
) -> Result<Vec<usize>, Error> {
    if holds_quota(&policy.slicer) {
        return Err(Error::NotMonotonic(
            "GetMarginalItems requires monotonic item inclusion. QuotaSlice produces non-monotonic \
             inclusion as budget changes shift percentage allocations."
                .to_owned(),
        ));
    }
    if slack_tokens < 0 {
        return Err(Error::Argument(format!("slack tokens `{slack_tokens}` are negative")));
    }
    let primary = run(items, budget, policy)?.output;
    let margin = run(items, &reduced(budget, slack_tokens), policy)?.output;
    Ok(primary.into_iter().filter(|index| !margin.contains(index)).collect())
}

/// Whether the slicer, or one inside it, shares the budget by percentage.
fn holds_quota(slicer: &Slicer) -> bool {
    match slicer {
        Slicer::Quota { .. } => true,
        Slicer::CountQuota { inner, .. } => holds_quota(inner),
        Slicer::Greedy | Slicer::Knapsack { .. } | Slicer::CountConstrainedKnapsack { .. } => false,
    }
}

/// Whether the slicer, or one inside it, promises numbers of items.
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
        output_reserve: budget.output_reserve.min(max_tokens),
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
) -> Result<Option<i64>, Error> {
    if holds_quota(&policy.slicer) || holds_counts(&policy.slicer) {
        return Err(Error::NotMonotonic(
            "FindMinBudgetFor requires monotonic item inclusion. QuotaSlice and CountQuotaSlice \
             produce non-monotonic inclusion as budget changes shift allocations. Use a GreedySlice \
             or KnapsackSlice inner slicer for budget simulation."
                .to_owned(),
        ));
    }
    let Some(item) = items.get(target) else {
        return Err(Error::Argument("targetItem must be an element of items".to_owned()));
    };
    if item.tokens < 0 {
        return Ok(None);
    }
    if search_ceiling < item.tokens {
        return Err(Error::Argument("searchCeiling must be >= targetItem.Tokens".to_owned()));
    }
    search(items, policy, target, search_ceiling)
}

fn search(
    items: &[Item],
    policy: &Policy,
    target: usize,
    search_ceiling: i64,
) -> Result<Option<i64>, Error> {
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

/// Whether a budget of `tokens` includes the target.
fn includes(items: &[Item], policy: &Policy, target: usize, tokens: i64) -> Result<bool, Error> {
    match run(items, &Budget::of(tokens), policy) {
        Ok(run) => Ok(run.output.contains(&target)),
        Err(Error::PinnedExceedsBudget { .. } | Error::Overflow { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// What several policies do with the same items.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensitivity {
    /// Label and report of every variant, in the order given.
    pub variants: Vec<(String, Report)>,
    /// Texts that some variants include and others do not, in the order of the candidates.
    pub diffs: Vec<DiffEntry>,
}

/// A text that the variants disagree on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffEntry {
    /// The text.
    pub content: String,
    /// Label of every variant, and whether it includes an item with this text.
    pub included: Vec<(String, bool)>,
}

/// Runs every variant and lists the texts that they disagree on.
///
/// # Errors
///
/// Fewer than two variants, or an error of any run.
pub fn policy_sensitivity(
    items: &[Item],
    budget: &Budget,
    variants: &[(&str, &Policy)],
) -> Result<Sensitivity, Error> {
    if variants.len() < 2 {
        let text = "policy_sensitivity requires at least 2 variants";
        return Err(Error::Argument(text.to_owned()));
    }
    let mut reports = Vec::new();
    for (label, policy) in variants {
        reports.push(((*label).to_owned(), run(items, budget, policy)?.report));
    }
    let diffs = diffs(items, &reports);
    Ok(Sensitivity { variants: reports, diffs })
}

fn diffs(items: &[Item], reports: &[(String, Report)]) -> Vec<DiffEntry> {
    let mut diffs = Vec::new();
    for (index, item) in items.iter().enumerate() {
        if items[..index].iter().any(|earlier| earlier.content == item.content) {
            continue;
        }
        let included: Vec<(String, bool)> = reports
            .iter()
            .map(|(label, report)| (label.clone(), includes_text(items, report, &item.content)))
            .collect();
        if included.iter().any(|(_, status)| *status != included[0].1) {
            diffs.push(DiffEntry { content: item.content.clone(), included });
        }
    }
    diffs
}

fn includes_text(items: &[Item], report: &Report, content: &str) -> bool {
    report.included.iter().any(|included| items[included.index].content == content)
}
