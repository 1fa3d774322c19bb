//! What slicers are asked and what they answer, by position.

use super::Slicer;
use crate::diagnostics::{CountRequirementShortfall, ExclusionReason};
use crate::{Candidate, ContextBudget, ContextItem, ContextKind, CupelError, ScoredItem};

/// What a slicer has to choose from.
#[non_exhaustive]
#[derive(Debug, Clone, Copy)]
pub struct SliceRequest<'a> {
    /// The candidates, in order of score.
    pub candidates: &'a [Candidate<'a>],
    /// The effective budget.
    pub budget: &'a ContextBudget,
    /// If only the items of one kind are here, that kind: requirements for others do not apply.
    pub only_kind: Option<&'a ContextKind>,
    /// The whole list that the candidates were taken from, in the caller's order, pinned items
    /// among them; empty where nobody knows it.
    pub list: &'a [ContextItem],
}

impl<'a> SliceRequest<'a> {
    /// A request for all kinds.
    #[must_use]
    pub fn new(candidates: &'a [Candidate<'a>], budget: &'a ContextBudget) -> Self {
        Self { candidates, budget, only_kind: None, list: &[] }
    }

    /// The same, with the list that the candidates were taken from: they must be borrowed from it.
    #[must_use]
    pub fn within(mut self, list: &'a [ContextItem]) -> Self {
        self.list = list;
        self
    }

    /// Where a candidate stands in the [list](Self::list); `None` if it was not borrowed from it.
    #[must_use]
    pub fn position(&self, candidate: &Candidate<'_>) -> Option<usize> {
        // The place in memory tells, also where one handle stands in the list twice.
        let start = self.list.as_ptr().addr();
        let offset = std::ptr::from_ref(candidate.item()).addr().checked_sub(start)?;
        let position = offset / size_of::<ContextItem>();
        (position < self.list.len()).then_some(position)
    }

    /// Whether there is nothing to choose: no candidate, or no budget.
    pub(crate) fn is_empty(&self) -> bool {
        self.candidates.is_empty() || self.budget.target_tokens() <= 0
    }

    /// The same for other candidates and another budget.
    pub(super) fn with<'b>(
        &'b self,
        candidates: &'b [Candidate<'b>],
        budget: &'b ContextBudget,
    ) -> SliceRequest<'b> {
        SliceRequest { candidates, budget, only_kind: self.only_kind, list: self.list }
    }
}

/// What a slicer chose, by position in the list that it was given.
#[non_exhaustive]
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    /// The items to keep, in the order in which the slicer took them.
    pub selected: Vec<usize>,
    /// Items that were left out for a reason that only the slicer knows. All others are left out
    /// because they do not fit.
    pub excluded: Vec<(usize, ExclusionReason)>,
    /// Required counts that could not be met.
    pub shortfalls: Vec<CountRequirementShortfall>,
}

impl Selection {
    /// A selection of these positions, with nothing to explain.
    #[must_use]
    pub fn of(selected: Vec<usize>) -> Self {
        Self { selected, ..Self::default() }
    }

    /// Adds a selection that was made from part of the list: `positions` translates.
    pub(super) fn absorb(&mut self, part: Selection, positions: &[usize]) {
        self.selected.extend(part.selected.into_iter().map(|at| positions[at]));
        self.excluded.extend(part.excluded.into_iter().map(|(at, why)| (positions[at], why)));
        self.shortfalls.extend(part.shortfalls);
    }
}

/// [`Slicer::slice`] by way of [`Slicer::select`], for slicers that implement the latter, as every
/// built-in one does.
///
/// # Errors
///
/// Those of `select`.
pub fn slice_by_selecting(
    slicer: &dyn Slicer,
    sorted: &[ScoredItem],
    budget: &ContextBudget,
) -> Result<Vec<ContextItem>, CupelError> {
    let candidates: Vec<Candidate<'_>> = sorted.iter().map(Candidate::from).collect();
    let selection = slicer.select(&SliceRequest::new(&candidates, budget))?;
    Ok(selection.selected.into_iter().map(|at| sorted[at].item.clone()).collect())
}
