//! What every policy is to be compared with.

use std::cmp::Reverse;
use std::fmt;
use std::str::FromStr;

use crate::data::Case;
use crate::random::Random;
use crate::selector::{Selector, SelectorError, fill};

/// Selectors that every policy is to be compared with.
///
/// ```
/// use cupel_eval::Baseline;
///
/// assert_eq!("newest".parse(), Ok(Baseline::Newest));
/// assert_eq!(
///     "newst".parse::<Baseline>().unwrap_err().to_string(),
///     "unknown baseline `newst`; known are newest, random, oracle"
/// );
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Baseline {
    /// The newest items until one does not fit: what people do today. By time stamp, then by index;
    /// without a time stamp an item is older than all others.
    Newest,
    /// Any items, by a shuffle of each query's own; what does not fit is skipped.
    Random {
        /// Another seed, another shuffle.
        seed: u64,
    },
    /// The evidence, smallest first; what does not fit is skipped. It looks at the evidence, so it
    /// is the ceiling, not a method.
    Oracle,
}

impl Baseline {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Newest, Self::Random { seed: 0 }, Self::Oracle];

    /// Its name in results and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Newest => "newest",
            Self::Random { .. } => "random",
            Self::Oracle => "oracle",
        }
    }

    /// The indices in the order in which they are taken.
    fn order(self, case: Case<'_>) -> Vec<usize> {
        let items = case.pool.items();
        let mut order = case.candidate_indices().to_vec();
        match self {
            Self::Newest => order.sort_by_key(|at| Reverse((items[*at].timestamp(), *at))),
            Self::Random { seed } => {
                let name = format!("{} {}", case.pool.name(), case.query.id());
                Random::for_text(seed, &name).shuffle(&mut order);
            }
            Self::Oracle => {
                order = case.query.evidence().to_vec();
                order.sort_by_key(|at| items[*at].tokens());
            }
        }
        order
    }
}

impl Selector for Baseline {
    fn select(
        &self,
        case: Case<'_>,
        budgets: &[i64],
    ) -> Result<Vec<Option<Vec<usize>>>, SelectorError> {
        let order = self.order(case);
        let ends_at_misfit = *self == Self::Newest;
        Ok(budgets.iter().map(|tokens| Some(fill(case, &order, *tokens, ends_at_misfit))).collect())
    }
}

/// A name that no baseline has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownBaseline(String);

impl fmt::Display for UnknownBaseline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = Baseline::ALL.map(Baseline::name).join(", ");
        write!(f, "unknown baseline `{}`; known are {known}", self.0)
    }
}

impl std::error::Error for UnknownBaseline {}

impl UnknownBaseline {
    /// A stable, language-neutral name of the error.
    pub fn code(&self) -> &'static str {
        "unknown-baseline"
    }
}

impl FromStr for Baseline {
    type Err = UnknownBaseline;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|baseline| baseline.name() == name);
        found.ok_or_else(|| UnknownBaseline(name.to_owned()))
    }
}
