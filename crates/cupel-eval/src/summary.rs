//! Figures by set, category, method and budget.

use serde::Serialize;

use crate::budgets::Budgets;
use crate::difference::Figure;
use crate::group::{Group, groups};
use crate::measure::{Fault, Measures};
use crate::run::Evaluation;

/// A mean over queries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Mean {
    /// The mean; a share within 0 and 1.
    pub mean: f64,
    /// Its standard error.
    pub error: f64,
}

impl Mean {
    /// A mean that somebody else took, and its standard error.
    pub const fn new(mean: f64, error: f64) -> Self {
        Self { mean, error }
    }

    /// The mean of some values; `None` of none.
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Self { mean, error: (squares / count / count).sqrt() })
    }
}

/// Number of selections that did not count, by reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Faults {
    /// There was none.
    pub missing: usize,
    /// An item was no candidate.
    pub not_a_candidate: usize,
    /// The items cost more than the budget.
    pub over_budget: usize,
}

impl Faults {
    fn of(measures: &[Measures]) -> Self {
        let count = |fault| measures.iter().filter(|m| m.fault == Some(fault)).count();
        Self {
            missing: count(Fault::Missing),
            not_a_candidate: count(Fault::NotACandidate),
            over_budget: count(Fault::OverBudget),
        }
    }

    /// Number of all.
    pub fn total(self) -> usize {
        self.missing + self.not_a_candidate + self.over_budget
    }
}

/// Quality of a method at a budget, over the queries of a set or of a category.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Row {
    /// The set: what comes before `/` in the pools' names.
    pub set: String,
    /// The category; `None` for all queries of the set.
    pub category: Option<String>,
    /// The method.
    pub method: String,
    /// The budget.
    pub budget_tokens: i64,
    /// Number of queries.
    pub queries: usize,
    /// Share of the evidence that was kept.
    pub recall: Mean,
    /// Share of the queries of which all evidence was kept.
    pub full: Mean,
    /// Share of the groups of `any_of` that are covered, over the queries that have groups.
    pub coverage: Option<Mean>,
    /// Share of the budget that was used.
    pub used: f64,
    /// Share of the queries whose candidates all fit, so that nothing had to be left out.
    pub all_fit: f64,
    /// Selections that count as 0.
    pub faults: Faults,
}

impl Row {
    /// A figure; `None` if no query has it.
    pub fn mean(&self, figure: Figure) -> Option<Mean> {
        match figure {
            Figure::Recall => Some(self.recall),
            Figure::Full => Some(self.full),
            Figure::Coverage => self.coverage,
        }
    }
}

/// Figures by set, category, method and budget.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Summary {
    /// Number of pools.
    pub pools: usize,
    /// Number of items in them.
    pub items: usize,
    /// Number of queries.
    pub queries: usize,
    /// The budgets, rising.
    pub budgets: Budgets,
    /// The methods, in the order in which they were given.
    pub methods: Vec<String>,
    /// By set in the order of the data, whole sets before their categories, then by method, then
    /// by budget.
    pub rows: Vec<Row>,
}

/// Sums an evaluation up.
pub fn summarize(evaluation: &Evaluation<'_>) -> Summary {
    let data = evaluation.data();
    Summary {
        pools: data.pools().len(),
        items: data.item_count(),
        queries: data.query_count(),
        budgets: evaluation.budgets().clone(),
        methods: evaluation.methods().to_vec(),
        rows: groups(evaluation).iter().flat_map(|group| rows(evaluation, group)).collect(),
    }
}

fn rows(evaluation: &Evaluation<'_>, group: &Group) -> Vec<Row> {
    let sizes: Vec<i64> =
        group.cases.iter().map(|case| evaluation.cases()[*case].candidate_tokens()).collect();
    let methods = evaluation.methods().iter().enumerate();
    let rows = methods.flat_map(|(method, name)| {
        let budgets = evaluation.budgets().tokens().iter().enumerate();
        let sizes = &sizes;
        budgets.filter_map(move |(at, budget_tokens)| {
            let answers = group.cases.iter().map(|case| &evaluation.answers(method, *case)[at]);
            let measures: Vec<Measures> = answers.map(|answer| answer.measures).collect();
            let fits = |tokens: &i64| f64::from(tokens <= budget_tokens);
            Some(Row {
                set: group.set.clone(),
                category: group.category.clone(),
                method: name.clone(),
                budget_tokens: *budget_tokens,
                queries: measures.len(),
                recall: mean(&measures, |m| Some(m.recall))?,
                full: mean(&measures, |m| Some(m.full))?,
                coverage: mean(&measures, |m| m.coverage),
                used: mean(&measures, |m| Some(m.used))?.mean,
                all_fit: Mean::of(&sizes.iter().map(fits).collect::<Vec<_>>())?.mean,
                faults: Faults::of(&measures),
            })
        })
    });
    rows.collect()
}

fn mean(measures: &[Measures], figure: impl Fn(&Measures) -> Option<f64>) -> Option<Mean> {
    Mean::of(&measures.iter().filter_map(figure).collect::<Vec<_>>())
}
