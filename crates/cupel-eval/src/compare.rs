//! Differences between methods, query by query.

use std::convert::Infallible;
use std::num::NonZeroUsize;

use crate::difference::{Compared, Difference, Figure, Pair};
use crate::group::{Group, groups};
use crate::parallel::try_map;
use crate::run::Evaluation;

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
    let contests = contests(evaluation, reference);
    let groups = groups(evaluation);
    let jobs = groups.len() * contests.len();
    let Ok(differences) = try_map::<_, Infallible>(threads, jobs, |job| {
        Ok(difference(evaluation, &groups[job / contests.len()], contests[job % contests.len()]))
    });
    differences.into_iter().flatten().collect()
}

/// Which methods meet at which budget, by position, and over what.
#[derive(Clone, Copy)]
struct Contest {
    method: usize,
    reference: usize,
    budget: usize,
    figure: Figure,
}

fn contests(evaluation: &Evaluation<'_>, reference: usize) -> Vec<Contest> {
    let methods = evaluation.methods().len();
    let others = (0..methods).filter(|method| *method != reference && reference < methods);
    let budgets = evaluation.budgets().tokens().len();
    others
        .flat_map(|method| (0..budgets).map(move |budget| (method, budget)))
        .flat_map(|(method, budget)| {
            Figure::ALL.map(|figure| Contest { method, reference, budget, figure })
        })
        .collect()
}

fn difference(evaluation: &Evaluation<'_>, group: &Group, contest: Contest) -> Option<Difference> {
    let Contest { method, reference, budget, figure } = contest;
    let value = |method, case| figure.of(&evaluation.answers(method, case)[budget].measures);
    let by = |case: &usize| Some(value(method, *case)? - value(reference, *case)?);
    let pairs: Vec<Pair> = group.cases.iter().filter_map(by).map(Pair::single).collect();
    let compared = Compared {
        set: &group.set,
        category: group.category.as_deref(),
        figure,
        budget_tokens: evaluation.budgets().tokens()[budget],
        method: &evaluation.methods()[method],
        reference: &evaluation.methods()[reference],
    };
    Difference::of(compared, &pairs)
}
