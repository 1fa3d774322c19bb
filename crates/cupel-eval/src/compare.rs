//! Differences between methods, query by query.

use std::convert::Infallible;
use std::num::NonZeroUsize;

use serde::Serialize;

use crate::group::{Group, groups};
use crate::measure::Measures;
use crate::parallel::try_map;
use crate::random::Random;
use crate::run::Evaluation;

/// How many times the queries are drawn anew.
const RESAMPLES: usize = 10_000;

/// Any number will do, as long as it stays the same.
const SEED: u64 = 0x0063_7570_656c;

/// A figure that methods are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// Share of the evidence that was kept.
    Recall,
    /// Whether all of it was.
    Full,
    /// Share of the groups of `any_of` that are covered.
    Coverage,
}

impl Figure {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Recall, Self::Full, Self::Coverage];

    /// Its value for one selection; `None` if the query has no such figure.
    pub fn of(self, measures: &Measures) -> Option<f64> {
        match self {
            Self::Recall => Some(measures.recall),
            Self::Full => Some(measures.full),
            Self::Coverage => measures.coverage,
        }
    }
}

/// By how much a method is better than another at a budget, query by query.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// The set.
    pub set: String,
    /// The category; `None` for all queries of the set.
    pub category: Option<String>,
    /// What is compared.
    pub figure: Figure,
    /// The budget.
    pub budget_tokens: i64,
    /// The method.
    pub method: String,
    /// The one that it is compared with.
    pub reference: String,
    /// How many queries.
    pub queries: usize,
    /// The mean of the differences: above 0 if the method is better.
    pub mean: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end of its 95 % interval.
    pub high: f64,
    /// Queries at which the method is better.
    pub wins: usize,
    /// Queries at which it is worse.
    pub losses: usize,
    /// Queries at which both are equal.
    pub ties: usize,
}

impl Difference {
    /// Whether the interval leaves 0 out: chance alone would hardly make such a difference.
    pub fn is_clear(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

/// Compares every other method with one of them, by its position among the methods.
///
/// The interval is that of a paired bootstrap: the queries are drawn anew 10,000 times, and the
/// mean difference lies within the interval in 95 of 100 draws. It is seeded, so that the same
/// evaluation gives the same bytes, on any number of threads. Queries of the same pool resemble each
/// other, which the interval does not know: with few pools, take it as a lower bound of the doubt.
///
/// In the order of the summary's rows: by set, category, method, budget, and then by figure.
pub fn compare(
    evaluation: &Evaluation<'_>,
    reference: usize,
    threads: NonZeroUsize,
) -> Vec<Difference> {
    let pairs = pairs(evaluation, reference);
    let groups = groups(evaluation);
    let jobs = groups.len() * pairs.len();
    let Ok(differences) = try_map::<_, Infallible>(threads, jobs, |job| {
        Ok(difference(evaluation, &groups[job / pairs.len()], pairs[job % pairs.len()]))
    });
    differences.into_iter().flatten().collect()
}

/// What is compared with what.
#[derive(Clone, Copy)]
struct Pair {
    method: usize,
    reference: usize,
    budget: usize,
    figure: Figure,
}

fn pairs(evaluation: &Evaluation<'_>, reference: usize) -> Vec<Pair> {
    let methods = evaluation.methods().len();
    let others = (0..methods).filter(|method| *method != reference && reference < methods);
    let budgets = evaluation.budgets().tokens().len();
    others
        .flat_map(|method| (0..budgets).map(move |budget| (method, budget)))
        .flat_map(|(method, budget)| {
            Figure::ALL.map(|figure| Pair { method, reference, budget, figure })
        })
        .collect()
}

fn difference(evaluation: &Evaluation<'_>, group: &Group, pair: Pair) -> Option<Difference> {
    let value = |method, case: usize| {
        pair.figure.of(&evaluation.answers(method, case)[pair.budget].measures)
    };
    let differences: Vec<f64> = group
        .cases
        .iter()
        .filter_map(|case| Some(value(pair.method, *case)? - value(pair.reference, *case)?))
        .collect();
    if differences.is_empty() {
        return None;
    }
    let (low, high) = interval(&differences);
    let count = |holds: fn(f64) -> bool| differences.iter().filter(|by| holds(**by)).count();
    Some(Difference {
        set: group.set.clone(),
        category: group.category.clone(),
        figure: pair.figure,
        budget_tokens: evaluation.budgets().tokens()[pair.budget],
        method: evaluation.methods()[pair.method].clone(),
        reference: evaluation.methods()[pair.reference].clone(),
        queries: differences.len(),
        mean: differences.iter().sum::<f64>() / differences.len() as f64,
        low,
        high,
        wins: count(|by| by > 0.0),
        losses: count(|by| by < 0.0),
        ties: count(|by| by == 0.0),
    })
}

/// Within which 95 % of the means lie when the values, of which there are some, are drawn anew.
fn interval(values: &[f64]) -> (f64, f64) {
    if values.iter().all(|value| *value == values[0]) {
        return (values[0], values[0]);
    }
    let mut random = Random::new(SEED);
    let mut draw = || {
        let sum: f64 = (0..values.len()).map(|_| values[random.below(values.len())]).sum();
        sum / values.len() as f64
    };
    let mut means: Vec<f64> = (0..RESAMPLES).map(|_| draw()).collect();
    means.sort_unstable_by(f64::total_cmp);
    let outside = RESAMPLES / 40;
    (means[outside], means[RESAMPLES - 1 - outside])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_equal_values_is_a_point() {
        assert_eq!(interval(&[0.25; 7]), (0.25, 0.25));
    }

    #[test]
    fn the_interval_is_that_of_the_normal_law_where_values_are_many() {
        // 300 times +1 and 100 times 0: mean 0.75, standard error √(0.75 · 0.25 / 400) = 0.02165.
        let values: Vec<f64> = (0..400).map(|at| f64::from(at % 4 != 0)).collect();
        let (low, high) = interval(&values);
        assert!((low - (0.75 - 1.96 * 0.02165)).abs() < 0.004, "{low}");
        assert!((high - (0.75 + 1.96 * 0.02165)).abs() < 0.004, "{high}");
    }
}
