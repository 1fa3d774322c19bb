//! Pinned items that do not fit whole go in shorter, where they can.

use std::collections::HashMap;

use super::classify::{Classified, require_pinned_fit};
use super::shape::Shape;
use crate::model::{TokenSum, clamp_to_i64};
use crate::slicer::{Form, Walk, hull};
use crate::{ContextBudget, CupelError};

/// Pinned items that have to be shorter may take so much of what their shortest forms leave, or more if
/// nothing else needs it: beside a part of the newest result, something of what led to it must fit.
const SHARE_OF_PINS: f64 = 0.4;

/// Forms in which the pinned items go in.
#[derive(Default)]
pub(super) struct Pins {
    pub(super) tokens: TokenSum,
    /// Those that are not whole, by position in the caller's list.
    shapes: HashMap<u32, Shape>,
}

impl Pins {
    /// As they are.
    pub(super) fn whole(classified: &Classified<'_>) -> Self {
        Self { tokens: classified.pinned_tokens, ..Self::default() }
    }

    /// Whole if they fit; else shorter, as far as they must to leave some room for what competes.
    pub(super) fn fit(
        classified: &Classified<'_>,
        budget: &ContextBudget,
    ) -> Result<Self, CupelError> {
        let whole = Self::whole(classified);
        let room = i128::from(budget.max_tokens()) - i128::from(budget.output_reserve());
        let room = room.min(i128::from(budget.target_tokens()));
        let has_forms = |at: &u32| !classified.items[*at as usize].renderings().is_empty();
        let pins = if whole.tokens.0 > room && classified.pinned.iter().any(has_forms) {
            Self::shorter(classified, room)
        } else {
            whole
        };
        require_pinned_fit(pins.tokens, budget)?;
        Ok(pins)
    }

    pub(super) fn shape(&self, position: u32) -> Shape {
        self.shapes.get(&position).copied().unwrap_or(Shape::WHOLE)
    }

    /// Those that are not whole: position and rendering, ascending.
    pub(super) fn shortened(&self) -> Vec<(usize, usize)> {
        let shapes = self.shapes.iter();
        let shapes = shapes.filter_map(|(at, shape)| Some((*at as usize, shape.rendering()?)));
        let mut shortened: Vec<(usize, usize)> = shapes.collect();
        shortened.sort_unstable();
        shortened
    }

    pub(super) fn are_whole(&self) -> bool {
        self.shapes.is_empty()
    }

    fn shorter(classified: &Classified<'_>, room: i128) -> Self {
        let forms: Vec<Vec<Form>> = classified
            .pinned
            .iter()
            .map(|at| Form::all(&classified.items[*at as usize], clamp_to_i64(room)))
            .collect();
        let mut taken: Vec<Form> = forms.iter().map(|forms| forms[0]).collect();
        let least: TokenSum = taken.iter().map(|form| form.tokens).sum();
        let left = (room - least.0).max(0);
        let unclaimed = left - classified.competing_tokens().0;
        let share = (left as f64 * SHARE_OF_PINS) as i128;
        grow(&forms, &mut taken, Walk::new(clamp_to_i64(share.max(unclaimed))));
        let shapes = classified.pinned.iter().zip(&taken);
        let shapes = shapes.filter(|(_, form)| form.rendering.is_some());
        Self {
            tokens: taken.iter().map(|form| form.tokens).sum(),
            shapes: shapes.map(|(at, form)| (*at, Shape::of(form.rendering))).collect(),
        }
    }
}

/// Lets forms grow where that keeps most for a token; then whatever still fits, the later first,
/// which is the newer in most lists.
fn grow(forms: &[Vec<Form>], taken: &mut [Form], mut walk: Walk) {
    let mut steps: Vec<(f64, usize, Form)> = Vec::new();
    for (at, forms) in forms.iter().enumerate() {
        let mut before = forms[0];
        for form in hull(&forms[1..], Some(&forms[0])) {
            steps.push((form.slope_from(Some(&before)), at, form));
            before = form;
        }
    }
    steps.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (_, at, form) in steps {
        if walk.takes(form.tokens.saturating_sub(taken[at].tokens)) {
            taken[at] = form;
        }
    }
    for (at, forms) in forms.iter().enumerate().rev() {
        let larger = forms.iter().rev().take_while(|form| form.share > taken[at].share);
        let more = |form: &Form| form.tokens.saturating_sub(taken[at].tokens);
        if let Some(form) = larger.copied().find(|form| walk.takes(more(form))) {
            taken[at] = form;
        }
    }
}
