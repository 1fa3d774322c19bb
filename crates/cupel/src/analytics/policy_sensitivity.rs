//! Which items swing between policies.

use std::collections::HashMap;

use crate::policy::Policy;
use crate::{ContextBudget, ContextItem, CupelError, Pipeline, SelectionReport};

/// Presence of an item in a variant's window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ItemStatus {
    /// It does.
    Included,
    /// It does not.
    Excluded,
}

/// An item on which variants disagree.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicySensitivityDiffEntry {
    /// The item's text.
    pub content: String,
    /// Status of the item in each variant, in their order.
    pub statuses: Vec<(String, ItemStatus)>,
}

/// Differences between several policies on the same items.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicySensitivityReport {
    /// Each variant's report, in the order in which variants were given.
    pub variants: Vec<(String, SelectionReport)>,
    /// The items on which variants disagree, in the order of the candidates.
    pub diffs: Vec<PolicySensitivityDiffEntry>,
}

/// Runs several policies on the same items and tells on which items they disagree.
///
/// Items are matched by text: candidates that share one are one entry, included if any of them
/// is.
///
/// # Errors
///
/// [`CupelError::PipelineConfig`] if there are fewer than two variants. Any error of a run.
///
/// # Example
///
/// ```
/// use cupel::{
///     ChronologicalPlacer, ContextBudget, ContextItemBuilder, GreedySlice, PolicyBuilder,
///     PriorityScorer, ReflexiveScorer, policy_sensitivity,
/// };
///
/// let policy = || PolicyBuilder::new().slicer(GreedySlice).placer(ChronologicalPlacer);
/// let by_priority = policy().scorer(PriorityScorer).build()?;
/// let by_hint = policy().scorer(ReflexiveScorer).build()?;
/// let items = [
///     ContextItemBuilder::new("a", 40).priority(10).future_relevance_hint(0.1).build()?,
///     ContextItemBuilder::new("b", 40).priority(1).future_relevance_hint(0.9).build()?,
/// ];
/// let budget = ContextBudget::builder(40).build()?;
/// let report =
///     policy_sensitivity(&items, &budget, &[("priority", &by_priority), ("hint", &by_hint)])?;
/// assert_eq!(report.diffs.len(), 2);
/// # Ok::<(), cupel::CupelError>(())
/// ```
pub fn policy_sensitivity(
    items: &[ContextItem],
    budget: &ContextBudget,
    variants: &[(impl AsRef<str>, &Policy)],
) -> Result<PolicySensitivityReport, CupelError> {
    let pipeline = |policy: &Policy| Pipeline::from(policy.clone());
    let pipelines = variants.iter().map(|(label, policy)| (label.as_ref(), pipeline(policy)));
    compare(items, budget, pipelines)
}

/// The same for pipelines.
///
/// # Errors
///
/// As [`policy_sensitivity`].
pub fn policy_sensitivity_from_pipelines(
    items: &[ContextItem],
    budget: &ContextBudget,
    variants: &[(impl AsRef<str>, &Pipeline)],
) -> Result<PolicySensitivityReport, CupelError> {
    let pipeline = |pipeline: &Pipeline| pipeline.clone();
    let pipelines = variants.iter().map(|(label, given)| (label.as_ref(), pipeline(given)));
    compare(items, budget, pipelines)
}

fn compare<'a>(
    items: &[ContextItem],
    budget: &ContextBudget,
    variants: impl ExactSizeIterator<Item = (&'a str, Pipeline)>,
) -> Result<PolicySensitivityReport, CupelError> {
    if variants.len() < 2 {
        let text = "policy_sensitivity requires at least 2 variants";
        return Err(CupelError::PipelineConfig(text.into()));
    }
    let reports = variants
        .map(|(label, pipeline)| Ok((label.to_owned(), pipeline.dry_run(items, budget)?)))
        .collect::<Result<Vec<_>, CupelError>>()?;
    let diffs = diffs(items, &reports);
    Ok(PolicySensitivityReport { variants: reports, diffs })
}

fn diffs(
    items: &[ContextItem],
    reports: &[(String, SelectionReport)],
) -> Vec<PolicySensitivityDiffEntry> {
    let mut numbers: HashMap<&str, usize, foldhash::fast::RandomState> = HashMap::default();
    let mut texts: Vec<&str> = Vec::new();
    for item in items {
        numbers.entry(item.content()).or_insert_with(|| {
            texts.push(item.content());
            texts.len() - 1
        });
    }
    let included_by: Vec<Vec<bool>> = reports
        .iter()
        .map(|(_, report)| {
            let mut is_included = vec![false; texts.len()];
            for included in &report.included {
                is_included[numbers[included.item.content()]] = true;
            }
            is_included
        })
        .collect();
    let swings = |text: &usize| {
        let first = included_by[0][*text];
        included_by.iter().any(|is_included| is_included[*text] != first)
    };
    let entry = |text: usize| PolicySensitivityDiffEntry {
        content: texts[text].to_owned(),
        statuses: reports
            .iter()
            .zip(&included_by)
            .map(|((label, _), is_included)| {
                let included = is_included[text];
                (label.clone(), if included { ItemStatus::Included } else { ItemStatus::Excluded })
            })
            .collect(),
    };
    (0..texts.len()).filter(swings).map(entry).collect()
}
