//! The queries that are looked at together: those of a set, and those of a category of it.

use std::collections::BTreeMap;

use crate::run::Evaluation;

/// Queries that are looked at together.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) set: String,
    /// `None` for all queries of the set.
    pub(crate) category: Option<String>,
    /// Positions among the cases.
    pub(crate) cases: Vec<usize>,
}

/// Sets in the order of the data; of each the whole, then its categories by name.
pub(crate) fn groups(evaluation: &Evaluation<'_>) -> Vec<Group> {
    let sets = evaluation.data().sets();
    sets.into_iter().flat_map(|set| groups_of_set(evaluation, set)).collect()
}

fn groups_of_set(evaluation: &Evaluation<'_>, set: &str) -> Vec<Group> {
    let mut all = Vec::new();
    let mut by_category: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, case) in evaluation.cases().iter().enumerate() {
        if case.pool.set() != set {
            continue;
        }
        all.push(at);
        if let Some(category) = case.query.category() {
            by_category.entry(category).or_default().push(at);
        }
    }
    let group = |category, cases| Group { set: set.to_owned(), category, cases };
    let categories =
        by_category.into_iter().map(|(name, cases)| group(Some(name.to_owned()), cases));
    // A set whose pools ask nothing has nothing to show.
    let whole = (!all.is_empty()).then(|| group(None, all));
    whole.into_iter().chain(categories).collect()
}
