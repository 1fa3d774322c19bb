//! A random problem in both worlds.

use std::collections::BTreeMap;
use std::fmt;

use cupel::{ContextBudget, ContextItem, Pipeline};
use cupel_conformance::library;
use cupel_conformance::protocol::{Item, Policy, Slicer};
use cupel_conformance::random::{self, Problem, Rng};

use super::compare::{Verdict, ensure};

/// A problem and how to put it to the library.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) problem: Problem,
    pub(crate) handles: Handles,
    /// Policies to compare with the problem's own.
    pub(crate) others: Vec<Policy>,
}

/// Identity of items whose fields are all equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Handles {
    /// Each is an item of its own.
    Distinct,
    /// They are one item that stands in the list several times.
    Shared,
}

impl Case {
    /// Built-in strategies, every item an item of its own.
    pub(crate) fn plain(seed: u64) -> Self {
        Self::of(random::problem(seed))
    }

    /// A scorer of the user's own, with scores that are not numbers among others.
    pub(crate) fn with_raw_scores(seed: u64) -> Self {
        Self::of(random::problem_with_raw_scores(seed))
    }

    /// A long list, and a scorer without children.
    pub(crate) fn long(seed: u64) -> Self {
        Self::of(random::long_problem(seed))
    }

    /// Some items stand in the list twice or more, as clones of one handle.
    pub(crate) fn with_shared_handles(seed: u64) -> Self {
        let mut problem = random::problem(seed);
        let mut rng = Rng::new(!seed);
        for _ in 0..rng.between(0, problem.items.len()).min(10) {
            let copy = rng.pick(&problem.items);
            problem.items.insert(rng.between(0, problem.items.len()), copy);
        }
        Self { handles: Handles::Shared, ..Self::of(problem) }
    }

    /// At most eight items, and mostly slicers that every simulation accepts.
    pub(crate) fn small(seed: u64) -> Self {
        let mut problem = random::problem(seed);
        problem.items.truncate(8);
        if seed % 4 != 0 && !matches!(problem.policy.slicer, Slicer::Knapsack { .. }) {
            problem.policy.slicer = Slicer::Greedy;
        }
        Self::of(problem)
    }

    /// Three policies for one problem.
    pub(crate) fn with_other_policies(seed: u64) -> Self {
        let other = |offset| random::problem(seed.wrapping_add(offset)).policy;
        Self { others: vec![other(1), other(2)], ..Self::plain(seed) }
    }

    fn of(problem: Problem) -> Self {
        Self { problem, handles: Handles::Distinct, others: Vec::new() }
    }

    pub(crate) fn library(&self) -> Library {
        Library {
            items: self.items(),
            budget: library::budget(&self.problem.budget).expect("problems are valid"),
            pipeline: pipeline(&self.problem.policy),
        }
    }

    fn items(&self) -> Vec<ContextItem> {
        let items = &self.problem.items;
        match self.handles {
            Handles::Distinct => items.iter().map(item).collect(),
            Handles::Shared => {
                let mut handles = BTreeMap::new();
                // Told apart as text, because a hint of NaN differs from itself.
                let handle = |item| {
                    handles.entry(format!("{item:?}")).or_insert_with(|| self::item(item)).clone()
                };
                items.iter().map(handle).collect()
            }
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.problem)?;
        if self.handles == Handles::Shared {
            writeln!(f, "items with equal fields are clones of one handle")?;
        }
        for other in &self.others {
            writeln!(f, "compared with: {other:?}")?;
        }
        Ok(())
    }
}

/// A case as the library takes it.
pub(crate) struct Library {
    pub(crate) items: Vec<ContextItem>,
    pub(crate) budget: ContextBudget,
    pub(crate) pipeline: Pipeline,
}

impl Library {
    /// Requires that these are the items at these positions.
    pub(crate) fn same_items<'a>(
        &self,
        what: &str,
        expected: &[usize],
        actual: impl IntoIterator<Item = &'a ContextItem>,
    ) -> Verdict {
        let actual: Vec<&ContextItem> = actual.into_iter().collect();
        let is_same = expected.len() == actual.len()
            && expected.iter().zip(&actual).all(|(at, item)| self.items[*at].is_same_item(item));
        ensure(is_same, || format!("{what} should be the items at {expected:?}, is {actual:?}"))
    }
}

/// An item of the library.
pub(crate) fn item(item: &Item) -> ContextItem {
    library::item(item).expect("problems are valid")
}

/// A pipeline of the library.
pub(crate) fn pipeline(policy: &Policy) -> Pipeline {
    Pipeline::from(library::policy(policy).expect("problems are valid"))
}
