//! Quality of one selection.

use std::collections::HashSet;

use serde::Serialize;

use crate::data::{Case, Weigh};

/// Quality of one selection. Shares lie within 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Measures {
    /// The share of the evidence that was kept.
    pub recall: f64,
    /// 1 if all evidence was kept, else 0.
    pub full: f64,
    /// The share of the groups of `any_of` of which an item was kept; `None` without groups.
    pub coverage: Option<f64>,
    /// The share of the budget that was used.
    pub used: f64,
    /// Why everything is 0, if the selection does not count.
    pub fault: Option<Fault>,
}

/// Why a selection does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Fault {
    /// There is none.
    Missing,
    /// It names an item that is not below the query's `before`, or not in the pool.
    NotACandidate,
    /// Its items cost more than the budget.
    OverBudget,
}

/// Measures the selection of one query at one budget; `None` if there is no selection.
///
/// The order of the indices does not matter. An index that is there twice costs twice. Pinned items
/// cost nothing and count for nothing.
///
/// # Example
///
/// ```
/// use cupel_eval::{DataSet, ReadOptions, measure};
///
/// let line = r#"{"pool": "a", "items": [{"content": "x", "tokens": 6}, {"content": "y", "tokens": 6}],
///     "queries": [{"id": "q", "query": "x and y?", "evidence": [0, 1]}]}"#.replace('\n', "");
/// let data = DataSet::read("a.jsonl", line.as_bytes(), &ReadOptions::default())?;
/// let case = data.cases().next().unwrap();
/// assert_eq!(measure(case, 10, Some(&[1])).recall, 0.5);
/// assert_eq!(measure(case, 10, Some(&[0, 1])).recall, 0.0); // 12 tokens do not fit
/// # Ok::<(), cupel_eval::DataError>(())
/// ```
pub fn measure(case: Case<'_>, budget_tokens: i64, selected: Option<&[usize]>) -> Measures {
    let (pool, query) = (case.pool, case.query);
    let nothing = |fault| Measures {
        recall: 0.0,
        full: 0.0,
        coverage: query.any_of().map(|_| 0.0),
        used: 0.0,
        fault: Some(fault),
    };
    let Some(selected) = selected else { return nothing(Fault::Missing) };
    let end = query.before().unwrap_or(pool.items().len());
    if selected.iter().any(|index| *index >= end) {
        return nothing(Fault::NotACandidate);
    }
    let tokens = |index: &usize| i128::from(pool.items()[*index].tokens());
    let paid = || selected.iter().filter(|index| !pool.items()[**index].pinned());
    let cost: i128 = paid().map(tokens).sum();
    if cost > i128::from(budget_tokens) {
        return nothing(Fault::OverBudget);
    }
    let kept: HashSet<usize> = paid().copied().collect();
    let weight = |index: &usize| match query.weigh() {
        Weigh::Items => 1,
        Weigh::Tokens => tokens(index),
    };
    let evidence = query.evidence();
    let hits = || evidence.iter().filter(|index| kept.contains(index));
    let all: i128 = evidence.iter().map(weight).sum();
    Measures {
        recall: share(hits().map(weight).sum(), all),
        full: f64::from(hits().count() == evidence.len()),
        coverage: query.any_of().map(|groups| {
            let is_covered = |group: &&Vec<usize>| group.iter().any(|index| kept.contains(index));
            share(groups.iter().filter(is_covered).count() as i128, groups.len() as i128)
        }),
        used: share(cost, i128::from(budget_tokens)),
        fault: None,
    }
}

/// A part of a whole; nothing of nothing is nothing.
fn share(part: i128, whole: i128) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
