//! Stage 5: what fits into the effective budget.

use std::collections::HashMap;

use super::classify::Room;
use super::fate::Exclusion;
use super::needs::Bound;
use super::shape::Shape;
use super::sort::Sorted;
use crate::diagnostics::{CountRequirementShortfall, ExclusionReason};
use crate::model::{TokenSum, clamp_to_i64};
use crate::slicer::{Selection, SliceRequest};
use crate::{ContextBudget, CupelError, Slicer};

/// Items that the slicer chose.
pub(super) struct Sliced {
    /// For each sorted item, whether it was chosen.
    pub(super) is_selected: Vec<bool>,
    /// Which rendering sorted items go in as, where they are not whole.
    forms: HashMap<usize, usize>,
    count: usize,
    /// Effective target less the tokens of all that was chosen.
    pub(super) available_tokens: i64,
    explained: Vec<(usize, ExclusionReason)>,
    pub(super) shortfalls: Vec<CountRequirementShortfall>,
    /// Up to which effective target the slicer would choose the same, if it says so.
    pub(super) next_target: Option<i64>,
}

pub(super) fn slice(
    request: &SliceRequest<'_>,
    slicer: &dyn Slicer,
    bound: Option<&Bound<'_>>,
) -> Result<Sliced, CupelError> {
    let candidates = request.candidates;
    let selection = match bound {
        Some(bound) => bound.select(request, slicer)?,
        None => slicer.select(request)?,
    };
    let Selection { selected, shortened, excluded, shortfalls, next_target } = selection;
    let mut is_selected = vec![false; candidates.len()];
    for at in &selected {
        match is_selected.get_mut(*at) {
            Some(flag) if !*flag => *flag = true,
            _ => return Err(out_of_contract(*at, candidates.len())),
        }
    }
    if let Some((at, _)) = excluded.iter().find(|(at, _)| *at >= candidates.len()) {
        return Err(out_of_contract(*at, candidates.len()));
    }
    let mut forms = HashMap::new();
    for (at, rendering) in shortened {
        let is_known = candidates
            .get(at)
            .is_some_and(|candidate| rendering < candidate.item().renderings().len());
        if !is_known || !is_selected[at] || forms.insert(at, rendering).is_some() {
            return Err(unknown_form(at, rendering));
        }
    }
    let tokens_of = |at: &usize| match forms.get(at) {
        Some(rendering) => candidates[*at].item().renderings()[*rendering].tokens(),
        None => candidates[*at].tokens(),
    };
    let tokens: TokenSum = selected.iter().map(tokens_of).sum();
    Ok(Sliced {
        is_selected,
        forms,
        count: selected.len(),
        available_tokens: clamp_to_i64(i128::from(request.budget.target_tokens()) - tokens.0),
        explained: excluded,
        shortfalls,
        next_target,
    })
}

fn out_of_contract(position: usize, candidates: usize) -> CupelError {
    CupelError::SlicerConfig(format!(
        "the slicer returned position {position} twice, or beyond its {candidates} candidates"
    ))
}

fn unknown_form(position: usize, rendering: usize) -> CupelError {
    CupelError::SlicerConfig(format!(
        "the slicer chose rendering {rendering} of the item at position {position}, which it did not \
         select, shortened twice, or which has no such rendering"
    ))
}

/// Budget that is left for the items that compete.
pub(super) fn effective_budget(budget: &ContextBudget, pinned_tokens: TokenSum) -> ContextBudget {
    let committed = pinned_tokens.0 + budget.reserved_slot_tokens();
    let left_of = |tokens: i128| clamp_to_i64((tokens - committed).max(0));
    let max = left_of(i128::from(budget.max_tokens()) - i128::from(budget.output_reserve()));
    let target = left_of(i128::from(budget.target_tokens())).min(max);
    let margin = budget.estimation_safety_margin_percent();
    if margin <= 0.0 {
        return ContextBudget::plain(max, target);
    }
    let multiplier = 1.0 - margin / 100.0;
    let shrink = |tokens: i64| (tokens as f64 * multiplier).floor() as i64;
    let max = shrink(max);
    ContextBudget::plain(max, shrink(target).min(max))
}

/// Room at this stage: the effective target. What other items took of it is not the pins' doing.
pub(super) fn room(budget: &ContextBudget, pinned_tokens: TokenSum) -> Room {
    let target = |pinned| effective_budget(budget, pinned).target_tokens().into();
    Room { tokens: target(pinned_tokens), without_pins: target(TokenSum::default()) }
}

impl Sliced {
    /// All of them, for items that were sliced before.
    #[cfg(feature = "stream")]
    pub(super) fn all(shapes: &[Shape]) -> Self {
        let shapes_by_position = shapes.iter().enumerate();
        let forms = shapes_by_position.filter_map(|(at, shape)| Some((at, shape.rendering()?)));
        Self {
            is_selected: vec![true; shapes.len()],
            forms: forms.collect(),
            count: shapes.len(),
            available_tokens: 0,
            explained: Vec::new(),
            shortfalls: Vec::new(),
            next_target: None,
        }
    }

    /// Form in which the item at a sorted position goes in.
    pub(super) fn shape(&self, at: usize) -> Shape {
        Shape::of(self.forms.get(&at).copied())
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Items that were left out, in sorted order. `misfit` says why an item of so many tokens does not
    /// fit where only so many are left; what it needs counts with it.
    pub(super) fn exclusions<'a>(
        &'a self,
        sorted: &'a Sorted<'_>,
        bound: Option<&'a Bound<'_>>,
        misfit: impl Fn(i64, i64) -> ExclusionReason + 'a,
    ) -> impl Iterator<Item = Exclusion<'a>> {
        let mut explained: Option<HashMap<usize, &ExclusionReason>> = None;
        let mut costs: Option<HashMap<usize, i64>> = None;
        let left_out = (0..sorted.len()).filter(|at| !self.is_selected[*at]);
        left_out.map(move |at| {
            let candidate = &sorted.candidates[at];
            // Made when the first exclusion is asked for, which is never unless someone records.
            let explained = explained
                .get_or_insert_with(|| self.explained.iter().map(|(at, why)| (*at, why)).collect());
            let tokens = bound.map_or_else(
                || candidate.tokens(),
                |bound| {
                    let costs = costs.get_or_insert_with(|| {
                        bound.costs(&self.is_selected).into_iter().collect()
                    });
                    costs.get(&at).copied().unwrap_or_else(|| candidate.tokens())
                },
            );
            let reason = match explained.get(&at) {
                Some(reason) => (*reason).clone(),
                None => misfit(tokens, self.available_tokens),
            };
            let (item, score) = (candidate.item(), candidate.score());
            Exclusion { position: sorted.positions[at], item, score, reason }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ContextKind;

    fn effective(budget: &ContextBudget, pinned: i128) -> (i64, i64) {
        let effective = effective_budget(budget, TokenSum(pinned));
        (effective.max_tokens(), effective.target_tokens())
    }

    #[test]
    fn reserve_pins_and_slots_are_subtracted_and_the_target_is_clamped_to_the_maximum() {
        let budget = ContextBudget::builder(1000)
            .target_tokens(900)
            .output_reserve(300)
            .reserve(ContextKind::memory(), 100)
            .reserve(ContextKind::document(), 50)
            .build()
            .unwrap();
        assert_eq!(effective(&budget, 0), (550, 550));
        assert_eq!(effective(&budget, 200), (350, 350));
        let roomy = ContextBudget::builder(1000).target_tokens(400).build().unwrap();
        assert_eq!(effective(&roomy, 100), (900, 300));
    }

    #[test]
    fn nothing_falls_below_zero() {
        let budget = ContextBudget::builder(100).target_tokens(50).build().unwrap();
        assert_eq!(effective(&budget, 60), (40, 0));
        assert_eq!(effective(&budget, 1 << 100), (0, 0));
    }

    #[test]
    fn the_margin_comes_last_and_rounds_down() {
        let budget = |margin| {
            let budget = ContextBudget::builder(105).target_tokens(95);
            budget.estimation_safety_margin_percent(margin).build().unwrap()
        };
        assert_eq!(effective(&budget(10.0), 10), (85, 76));
        assert_eq!(effective(&budget(100.0), 0), (0, 0));
        assert_eq!(effective(&budget(0.0), 0), (105, 95));
    }

    #[test]
    fn the_slicer_never_sees_the_original_fields() {
        let budget = ContextBudget::builder(100)
            .output_reserve(10)
            .reserve(ContextKind::memory(), 5)
            .estimation_safety_margin_percent(10.0)
            .build()
            .unwrap();
        let effective = effective_budget(&budget, TokenSum(0));
        assert_eq!(effective, ContextBudget::new(76, 76, 0, HashMap::new(), 0.0).unwrap());
    }
}
