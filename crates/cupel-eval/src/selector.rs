//! Whoever answers a query with a selection.

use std::fmt;

use crate::data::Case;

/// Why a selector could not answer.
pub type SelectorError = Box<dyn std::error::Error + Send + Sync>;

/// Whoever answers a query with a selection: a policy, a baseline, a file of another program's
/// selections.
pub trait Selector: Send + Sync {
    /// One selection for each budget, in their order, as indices of the pool's items. `None` (or no
    /// entry) is a selection that is missing; it counts as 0.
    ///
    /// The evidence is in the case too: only an upper bound may look at it.
    ///
    /// # Errors
    ///
    /// If the selector cannot answer at all; it ends the evaluation.
    fn select(
        &self,
        case: Case<'_>,
        budgets: &[i64],
    ) -> Result<Vec<Option<Vec<usize>>>, SelectorError>;
}

/// A selector with the name that it has in the results.
pub struct Method<'s> {
    name: String,
    selector: Box<dyn Selector + 's>,
}

impl<'s> Method<'s> {
    /// Gives a selector a name.
    pub fn new(name: impl Into<String>, selector: impl Selector + 's) -> Self {
        Self { name: name.into(), selector: Box::new(selector) }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whoever answers.
    pub fn selector(&self) -> &dyn Selector {
        &*self.selector
    }
}

impl fmt::Debug for Method<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Method").field(&self.name).finish()
    }
}

/// Takes indices in order while they fit. One that does not fit is skipped, or ends the walk.
pub(crate) fn fill(
    case: Case<'_>,
    order: &[usize],
    budget_tokens: i64,
    ends_at_misfit: bool,
) -> Vec<usize> {
    let mut left = budget_tokens;
    let mut taken = Vec::new();
    for index in order {
        let tokens = case.pool.items()[*index].tokens();
        if tokens <= left {
            left -= tokens;
            taken.push(*index);
        } else if ends_at_misfit {
            break;
        }
    }
    taken
}
