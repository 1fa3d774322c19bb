//! Requests to slicers and their answers, by position.

use std::collections::HashMap;

use super::Slicer;
use crate::diagnostics::{CountRequirementShortfall, ExclusionReason};
use crate::{
    Candidate, ContextBudget, ContextItem, ContextKind, CupelError, Needs, RunContext, ScoredItem,
};

/// Candidates and budget that a slicer has to choose from.
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
    /// True if the window goes on from one that was sent before, whose beginning stays: something
    /// else will be asked before it changes again.
    pub goes_on: bool,
    /// Needs of the candidates, by position among them; a pinned item is there and is not
    /// listed. Only for slicers that [know of needs](Slicer::knows_needs), and only where there are
    /// any.
    pub needs: Option<&'a Needs>,
    /// For each item of the [list](Self::list) whether it is in the window already, though it is not pinned: a
    /// slicer around this one took it. Empty where there is none.
    pub taken: &'a [bool],
    /// Context of the run beside its items and its budget.
    pub context: &'a RunContext,
}

impl<'a> SliceRequest<'a> {
    /// A request for all kinds.
    #[must_use]
    pub fn new(candidates: &'a [Candidate<'a>], budget: &'a ContextBudget) -> Self {
        Self {
            candidates,
            budget,
            only_kind: None,
            list: &[],
            goes_on: false,
            needs: None,
            taken: &[],
            context: RunContext::nothing(),
        }
    }

    /// The same, with the list that the candidates were taken from: they must be borrowed from it.
    #[must_use]
    pub fn within(mut self, list: &'a [ContextItem]) -> Self {
        self.list = list;
        self
    }

    /// The same for a window that [goes on](Self::goes_on) from another.
    #[must_use]
    pub fn going_on(mut self) -> Self {
        self.goes_on = true;
        self
    }

    /// The same where items of the list are in the window [already](Self::taken).
    #[must_use]
    pub fn beside(mut self, taken: &'a [bool]) -> Self {
        self.taken = taken;
        self
    }

    /// Returns true if the item at a position of the list is in the window whatever is chosen now.
    #[must_use]
    pub fn is_in(&self, position: usize) -> bool {
        let is_pinned = self.list.get(position).is_some_and(ContextItem::pinned);
        is_pinned || self.taken.get(position).copied().unwrap_or(false)
    }

    /// The same for candidates that [need](Self::needs) one another.
    #[must_use]
    pub fn needing(mut self, needs: &'a Needs) -> Self {
        self.needs = Some(needs);
        self
    }

    /// Returns all that would have to come in with the candidate at a position, beside what is there already.
    #[must_use]
    pub fn missing(&self, position: usize, is_there: impl Fn(usize) -> bool) -> Vec<usize> {
        self.needs.map_or_else(Vec::new, |needs| needs.missing(position, is_there))
    }

    /// In a run that is told something.
    #[must_use]
    pub fn in_context(mut self, context: &'a RunContext) -> Self {
        self.context = context;
        self
    }

    /// Where a candidate stands in the [list](Self::list); `None` if it has no position there.
    #[must_use]
    pub fn position(&self, candidate: &Candidate<'_>) -> Option<usize> {
        candidate.position().filter(|position| *position < self.list.len())
    }

    /// Returns true if there is nothing to choose: no candidate, or no budget.
    pub(crate) fn is_empty(&self) -> bool {
        self.candidates.is_empty() || self.budget.target_tokens() <= 0
    }

    /// The same for other candidates and another budget, without what they need.
    pub(super) fn with<'b>(
        &'b self,
        candidates: &'b [Candidate<'b>],
        budget: &'b ContextBudget,
    ) -> SliceRequest<'b> {
        SliceRequest { candidates, budget, needs: None, ..*self }
    }
}

/// Choice of a slicer, by position in the list that it was given.
#[non_exhaustive]
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    /// The items to keep, in the order in which the slicer took them.
    pub selected: Vec<usize>,
    /// Those of them that go in [shorter](ContextItem::renderings): the position, and which of the
    /// item's renderings. All others go in whole.
    pub shortened: Vec<(usize, usize)>,
    /// Items that were left out for a reason that only the slicer knows. All others are left out
    /// because they do not fit.
    pub excluded: Vec<(usize, ExclusionReason)>,
    /// Required counts that could not be met.
    pub shortfalls: Vec<CountRequirementShortfall>,
    /// The smallest larger target for which the slicer might choose otherwise; `i64::MAX` if there
    /// is none. `None` if it does not say: then every target has to be tried.
    pub next_target: Option<i64>,
}

impl Selection {
    /// A selection of these positions, with nothing to explain.
    #[must_use]
    pub fn of(selected: Vec<usize>) -> Self {
        Self { selected, ..Self::default() }
    }

    /// The same selection, which stays what it is up to the token before this target.
    #[must_use]
    pub fn until(mut self, next_target: i64) -> Self {
        self.next_target = Some(next_target);
        self
    }

    /// Returns true if it speaks of no position beyond a list of so many candidates.
    pub(crate) fn is_within(&self, count: usize) -> bool {
        let shortened = self.shortened.iter().map(|(at, _)| at);
        let excluded = self.excluded.iter().map(|(at, _)| at);
        self.selected.iter().chain(shortened).chain(excluded).all(|at| *at < count)
    }

    /// Adds a selection that was made from part of the list: `positions` translates.
    pub fn absorb(&mut self, part: Selection, positions: &[usize]) {
        self.selected.extend(part.selected.into_iter().map(|at| positions[at]));
        self.shortened.extend(part.shortened.into_iter().map(|(at, form)| (positions[at], form)));
        self.excluded.extend(part.excluded.into_iter().map(|(at, why)| (positions[at], why)));
        self.shortfalls.extend(part.shortfalls);
    }
}

/// Takes what fits, one after the other, and skips what does not: the walk that every greedy slicer
/// makes, in whatever order.
///
/// Skipped items tell when the walk would go another way: at the first target that has room for
/// one more of them.
///
/// ```
/// use cupel::slicer::Walk;
///
/// let mut walk = Walk::new(50);
/// assert!(walk.takes(40) && !walk.takes(15) && walk.takes(10));
/// assert_eq!(walk.next_target(), 55);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Walk {
    target: i64,
    left: i64,
    /// By how little anything was too large.
    least_missing: Option<i64>,
}

impl Walk {
    /// A walk with so many tokens to spend.
    #[must_use]
    pub fn new(target: i64) -> Self {
        Self { target, left: target, least_missing: None }
    }

    /// Returns true if an item of so many tokens still fits; then they are spent.
    pub fn takes(&mut self, tokens: i64) -> bool {
        let fits = tokens <= self.left;
        if fits {
            self.left = self.left.saturating_sub(tokens);
        } else {
            let missing = tokens.saturating_sub(self.left);
            self.least_missing =
                Some(self.least_missing.map_or(missing, |least| least.min(missing)));
        }
        fits
    }

    /// The tokens that there were to spend.
    #[must_use]
    pub fn target(&self) -> i64 {
        self.target
    }

    /// The tokens that are left.
    #[must_use]
    pub fn left(&self) -> i64 {
        self.left
    }

    /// The smallest larger target for which the walk would take something that it skipped.
    #[must_use]
    pub fn next_target(&self) -> i64 {
        self.least_missing.map_or(i64::MAX, |missing| self.target.saturating_add(missing))
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
    let forms: HashMap<usize, usize> = selection.shortened.into_iter().collect();
    let item = |at: usize| {
        let item = &sorted[at].item;
        let shorter = forms.get(&at).and_then(|form| item.rendered(*form));
        shorter.unwrap_or_else(|| item.clone())
    };
    Ok(selection.selected.into_iter().map(item).collect())
}
