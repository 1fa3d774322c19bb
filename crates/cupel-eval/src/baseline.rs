//! Baselines that every policy is to be compared with.

use std::cmp::Reverse;
use std::fmt;
use std::str::FromStr;

use crate::data::Case;
use crate::kind::DataKind;
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
///     "unknown baseline `newst`; known are newest, random, oracle, everything, clear-tool-results"
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
    /// The whole request of an agent, whatever the budget says: what trimming is to save. Windows
    /// over the budget are counted as such.
    Everything,
    /// The whole request of an agent until it does not fit; then all results of tools but the last
    /// three become a short note, and if that is not enough, the oldest messages go, calls with
    /// their results. What is cleared or gone stays so.
    ClearToolResults,
}

impl Baseline {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Newest,
        Self::Random { seed: 0 },
        Self::Oracle,
        Self::Everything,
        Self::ClearToolResults,
    ];

    /// Its name in results and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Newest => "newest",
            Self::Random { .. } => "random",
            Self::Oracle => "oracle",
            Self::Everything => "everything",
            Self::ClearToolResults => "clear-tool-results",
        }
    }

    /// Returns true if there is such a baseline for data of a kind.
    pub fn is_for(self, kind: DataKind) -> bool {
        match self {
            Self::Newest => true,
            Self::Random { .. } | Self::Oracle => kind == DataKind::Pools,
            Self::Everything | Self::ClearToolResults => kind == DataKind::AgentRuns,
        }
    }

    /// Why it cannot be measured on data of a kind.
    pub(crate) fn not_for(self, kind: DataKind) -> String {
        let known: Vec<&str> =
            Self::ALL.into_iter().filter(|known| known.is_for(kind)).map(Self::name).collect();
        let data = match kind {
            DataKind::Pools => "pools",
            DataKind::AgentRuns => "runs of agents",
        };
        let (name, known) = (self.name(), known.join(", "));
        format!("the baseline `{name}` is not for {data}; for these there are {known}")
    }

    /// The indices in the order in which they are taken.
    fn order(self, case: Case<'_>) -> Result<Vec<usize>, SelectorError> {
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
            other @ (Self::Everything | Self::ClearToolResults) => {
                return Err(other.not_for(DataKind::Pools).into());
            }
        }
        Ok(order)
    }
}

impl Selector for Baseline {
    fn select(
        &self,
        case: Case<'_>,
        budgets: &[i64],
    ) -> Result<Vec<Option<Vec<usize>>>, SelectorError> {
        let order = self.order(case)?;
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
