//! The needs of candidates, for the Slice stage.

use super::classify::Classified;
use super::sort::Sorted;
use crate::model::TokenSum;
use crate::slicer::{Selection, SliceRequest, select_with_needs};
use crate::{Candidate, ContextBudget, ContextItem, CupelError, Needs, Slicer};

/// Refuses needs that are not those of a list.
pub(super) fn require_same_length(
    needs: Option<&Needs>,
    items: &[ContextItem],
) -> Result<(), CupelError> {
    match needs {
        Some(needs) if needs.len() != items.len() => Err(CupelError::PipelineConfig(format!(
            "needs: they are those of a list of {} items, got {}",
            needs.len(),
            items.len()
        ))),
        _ => Ok(()),
    }
}

/// For each position of a list, whether another item needs it.
pub(super) fn is_needed(needs: &Needs) -> Vec<bool> {
    let mut is_needed = vec![false; needs.len()];
    for needed in (0..needs.len()).flat_map(|at| needs.of(at)) {
        is_needed[*needed] = true;
    }
    is_needed
}

/// The needs of candidates, by their places among those that may be chosen.
pub(super) struct Bound<'a> {
    /// The needs of pinned items, by sorted position: it is in, whatever it scores.
    required: Vec<usize>,
    required_tokens: TokenSum,
    /// The sorted positions of those that may be chosen: all that they need can be had.
    open: Vec<usize>,
    candidates: Vec<Candidate<'a>>,
    /// By number among those that may be chosen.
    needs: Needs,
}

impl<'a> Bound<'a> {
    pub(super) fn new(
        needs: &Needs,
        classified: &Classified<'_>,
        sorted: &Sorted<'a>,
    ) -> Result<Self, CupelError> {
        let mut sorted_at = vec![None; needs.len()];
        for (at, position) in sorted.positions.iter().enumerate() {
            sorted_at[*position as usize] = Some(at);
        }
        let mut is_in = vec![false; needs.len()];
        for position in &classified.pinned {
            is_in[*position as usize] = true;
        }
        let mut required = Vec::new();
        for pinned in classified.pinned.iter().map(|position| *position as usize) {
            for needed in needs.missing(pinned, |at| is_in[at]) {
                let at = sorted_at[needed].ok_or_else(|| cannot_be_had(pinned, needed))?;
                is_in[needed] = true;
                required.push(at);
            }
        }
        let can_be_had = |position: usize| {
            let missing = needs.missing(position, |at| is_in[at]);
            missing.iter().all(|needed| sorted_at[*needed].is_some())
        };
        let mut open = Vec::with_capacity(sorted.len());
        let mut number = vec![None; needs.len()];
        for (at, position) in sorted.positions.iter().enumerate() {
            let position = *position as usize;
            if !is_in[position] && can_be_had(position) {
                number[position] = Some(open.len());
                open.push(at);
            }
        }
        let mut among_open = Needs::none(open.len());
        for (from, at) in open.iter().enumerate() {
            let needed = needs.of(sorted.positions[*at] as usize);
            for to in needed.iter().filter_map(|needed| number[*needed]) {
                among_open.add(from, to)?;
            }
        }
        Ok(Self {
            required_tokens: required.iter().map(|at| sorted.candidates[*at].tokens()).sum(),
            required,
            candidates: open.iter().map(|at| sorted.candidates[*at]).collect(),
            open,
            needs: among_open,
        })
    }

    /// Lets a slicer choose among what can be had, for the request that names all candidates.
    pub(super) fn select(
        &self,
        request: &SliceRequest<'_>,
        slicer: &dyn Slicer,
    ) -> Result<Selection, CupelError> {
        let budget = self.budget(request.budget)?;
        let part = self.request(request, &budget);
        let chosen = if slicer.knows_needs() {
            let chosen = slicer.select(&part)?;
            self.require_met(&chosen)?;
            chosen
        } else {
            select_with_needs(&part, &|request| slicer.select(request))?
        };
        if !chosen.is_within(self.open.len()) {
            return Err(CupelError::SlicerConfig(format!(
                "the slicer speaks of a position beyond its {} candidates",
                self.open.len()
            )));
        }
        let next_target = chosen.next_target.map(|next| {
            let beside = request.budget.target_tokens().saturating_sub(budget.target_tokens());
            next.saturating_add(beside)
        });
        let mut selection = Selection::of(self.required.clone());
        selection.absorb(chosen, &self.open);
        Ok(Selection { next_target, ..selection })
    }

    /// The request for those that may be chosen, with what they need.
    pub(super) fn request<'r>(
        &'r self,
        request: &SliceRequest<'r>,
        budget: &'r ContextBudget,
    ) -> SliceRequest<'r> {
        SliceRequest { candidates: &self.candidates, budget, ..*request }.needing(&self.needs)
    }

    /// Where a number among those that may be chosen stands among all candidates.
    pub(super) fn sorted_position(&self, number: usize) -> Option<usize> {
        self.open.get(number).copied()
    }

    /// The budget that is left beside what pinned items need.
    pub(super) fn budget(&self, budget: &ContextBudget) -> Result<ContextBudget, CupelError> {
        let left = i128::from(budget.target_tokens()) - self.required_tokens.0;
        if left < 0 {
            return Err(CupelError::PinnedExceedsBudget {
                pinned_tokens: self.required_tokens.clamped(),
                available: budget.target_tokens(),
            });
        }
        let left_of =
            |tokens: i64| crate::model::clamp_to_i64(i128::from(tokens) - self.required_tokens.0);
        let max = left_of(budget.max_tokens());
        Ok(ContextBudget::plain(max, left_of(budget.target_tokens()).min(max)))
    }

    fn require_met(&self, chosen: &Selection) -> Result<(), CupelError> {
        let mut is_in = vec![false; self.open.len()];
        for at in &chosen.selected {
            if let Some(flag) = is_in.get_mut(*at) {
                *flag = true;
            }
        }
        if self.needs.are_met(|at| is_in[at]) {
            return Ok(());
        }
        let text =
            "the slicer says that it knows needs, and selected an item without what it needs";
        Err(CupelError::SlicerConfig(text.into()))
    }

    /// The cost of each sorted item that is left out, with all that it needs.
    pub(super) fn costs(&self, is_selected: &[bool]) -> Vec<(usize, i64)> {
        let is_in = |number: usize| is_selected[self.open[number]];
        let left_out = (0..self.open.len()).filter(|number| !is_in(*number));
        let cost = |number: usize| {
            let missing = self.needs.missing(number, is_in);
            let all = missing.into_iter().chain([number]);
            all.map(|number| self.candidates[number].tokens()).sum::<TokenSum>().clamped()
        };
        left_out.map(|number| (self.open[number], cost(number))).collect()
    }
}

fn cannot_be_had(pinned: usize, needed: usize) -> CupelError {
    CupelError::PipelineConfig(format!(
        "needs: the pinned item at position {pinned} needs the one at {needed}, which no window can hold"
    ))
}
