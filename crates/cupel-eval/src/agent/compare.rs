//! Differences between methods, run by run.

use std::convert::Infallible;
use std::num::NonZeroUsize;

use super::evaluate::AgentEvaluation;
use super::summary::runs_of;
use crate::difference::{Compared, Difference, Figure, Pair};
use crate::parallel::try_map;

/// Compares the coverage of every other method with that of one of them, by its position among the
/// methods.
///
/// A pair is a run with all its steps, since these resemble each other: runs are won, lost and
/// drawn anew as wholes. The mean is that over steps, as in the summary; steps that do not fit for
/// one of the two are left out. All else is as for [`compare()`](crate::compare()).
///
/// In the order of the summary's rows: by set, method and budget.
pub fn compare_agents(
    evaluation: &AgentEvaluation<'_>,
    reference: usize,
    threads: NonZeroUsize,
) -> Vec<Difference> {
    let sets = evaluation.data().sets();
    let sets: Vec<(&str, Vec<usize>)> =
        sets.into_iter().map(|set| (set, runs_of(evaluation, set))).collect();
    let methods = evaluation.methods().len();
    let others = (0..methods).filter(|method| *method != reference && reference < methods);
    let others: Vec<usize> = others.collect();
    let budgets = evaluation.budgets().tokens().len();
    let jobs = sets.len() * others.len() * budgets;
    let Ok(differences) = try_map::<_, Infallible>(threads, jobs, |job| {
        let (rest, budget) = (job / budgets, job % budgets);
        let (set, runs) = &sets[rest / others.len()];
        let method = others[rest % others.len()];
        let pairs: Vec<Pair> = runs
            .iter()
            .filter_map(|run| pair(evaluation, [method, reference], *run, budget))
            .collect();
        let compared = Compared {
            set,
            category: None,
            figure: Figure::Coverage,
            budget_tokens: evaluation.budgets().tokens()[budget],
            method: &evaluation.methods()[method],
            reference: &evaluation.methods()[reference],
        };
        Ok(Difference::of(compared, &pairs))
    });
    differences.into_iter().flatten().collect()
}

/// By how much the first method is better than the second at the steps of a run.
fn pair(
    evaluation: &AgentEvaluation<'_>,
    methods: [usize; 2],
    run: usize,
    budget: usize,
) -> Option<Pair> {
    let coverage = |method| {
        let steps = evaluation.windows(method, run);
        steps.map(move |windows| windows[budget].as_ref()?.measures.coverage)
    };
    let steps = coverage(methods[0]).zip(coverage(methods[1]));
    let differences: Vec<f64> = steps.filter_map(|(ours, theirs)| Some(ours? - theirs?)).collect();
    let (sum, count) = (differences.iter().sum(), differences.len());
    (count > 0).then_some(Pair { sum, count })
}
