//! Which forms of an item are worth their tokens.

use crate::{ContextItem, Rendering};

/// An item as it could go into the window: whole, or in one of its shorter forms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Form {
    /// Which of the item's [renderings](ContextItem::renderings); `None` for the whole.
    pub rendering: Option<usize>,
    /// Tokens of the form.
    pub tokens: i64,
    /// The share of the item's value that it keeps.
    pub share: f64,
}

impl Form {
    /// All forms of an item that make sense at a budget: each larger one keeps more. The whole comes
    /// last.
    #[must_use]
    pub fn all(item: &ContextItem, target_tokens: i64) -> Vec<Self> {
        Self::of(item.renderings(), item.tokens(), target_tokens)
    }

    /// The same of anything that costs so much whole, and has these renderings.
    #[must_use]
    pub fn of(renderings: &[Rendering], whole_tokens: i64, target_tokens: i64) -> Vec<Self> {
        let whole = Self { rendering: None, tokens: whole_tokens, share: 1.0 };
        let offered = renderings
            .iter()
            .enumerate()
            .filter(|(_, form)| form.is_offered(whole.tokens, target_tokens));
        let mut forms: Vec<Self> = offered
            .map(|(at, form)| Self {
                rendering: Some(at),
                tokens: form.tokens(),
                share: form.share_of(whole.tokens),
            })
            .collect();
        // Of equal tokens that which keeps most comes first, and the others make no sense.
        forms.sort_by(|a, b| a.tokens.cmp(&b.tokens).then(b.share.total_cmp(&a.share)));
        let mut most = f64::NEG_INFINITY;
        forms.retain(|form| {
            let keeps_more = form.share > most;
            most = most.max(form.share);
            keeps_more
        });
        forms.push(whole);
        forms
    }

    /// Value added for each token, beside a smaller form or nothing.
    #[must_use]
    pub fn slope_from(&self, smaller: Option<&Self>) -> f64 {
        let (tokens, share) = smaller.map_or((0, 0.0), |smaller| (smaller.tokens, smaller.share));
        let more = self.tokens.saturating_sub(tokens);
        if more <= 0 { f64::INFINITY } else { (self.share - share) / more as f64 }
    }
}

/// The upper hull of forms that grow in tokens, from nothing or from `start`: what is left adds less
/// for a token with every step. The largest form is always on it.
///
/// ```
/// use cupel::slicer::{Form, hull};
///
/// let form = |tokens, share| Form { rendering: None, tokens, share };
/// let forms = [form(10, 0.1), form(20, 0.6), form(50, 0.7), form(60, 0.9), form(100, 1.0)];
/// let kept: Vec<i64> = hull(&forms, None).iter().map(|form| form.tokens).collect();
/// assert_eq!(kept, [20, 60, 100]);
/// ```
#[must_use]
pub fn hull(forms: &[Form], start: Option<&Form>) -> Vec<Form> {
    let mut hull: Vec<Form> = Vec::new();
    for form in forms {
        while let Some(last) = hull.last() {
            let before = hull.len().checked_sub(2).map(|at| &hull[at]).or(start);
            if form.slope_from(before) < last.slope_from(before) {
                break;
            }
            hull.pop();
        }
        hull.push(*form);
    }
    hull
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ContextItemBuilder;

    fn item(tokens: i64, forms: &[(i64, f64)]) -> ContextItem {
        let renderings = forms.iter().map(|(tokens, share)| {
            Rendering::new("r", "x", *tokens).and_then(|form| form.with_share(*share)).unwrap()
        });
        ContextItemBuilder::new("text", tokens).renderings(renderings.collect()).build().unwrap()
    }

    fn tokens(forms: &[Form]) -> Vec<i64> {
        forms.iter().map(|form| form.tokens).collect()
    }

    #[test]
    fn forms_that_cost_more_and_keep_no_more_make_no_sense() {
        let forms =
            Form::all(&item(100, &[(50, 0.4), (20, 0.5), (20, 0.3), (120, 1.0), (100, 1.0)]), 100);
        assert_eq!(tokens(&forms), [20, 100]);
        assert_eq!(forms[0].rendering, Some(1));
        assert_eq!(forms[1].rendering, None);
    }

    #[test]
    fn without_renderings_there_is_the_whole() {
        assert_eq!(tokens(&Form::all(&item(7, &[]), 100)), [7]);
        assert_eq!(tokens(&Form::all(&item(0, &[(0, 0.5)]), 100)), [0]);
    }

    #[test]
    fn slopes_fall_along_the_hull() {
        let forms = Form::all(&item(100, &[(5, 0.01), (10, 0.5), (30, 0.6), (40, 0.9)]), 100);
        let hull = hull(&forms, None);
        assert_eq!(tokens(&hull), [10, 40, 100]);
        let mut before = None;
        let slopes: Vec<f64> = hull
            .iter()
            .map(|form| {
                let slope = form.slope_from(before);
                before = Some(form);
                slope
            })
            .collect();
        assert!(slopes.is_sorted_by(|a, b| a > b), "{slopes:?}");
    }

    #[test]
    fn a_hull_may_start_from_a_form() {
        let forms = Form::all(&item(100, &[(5, 0.01), (40, 0.02)]), 100);
        assert_eq!(tokens(&hull(&forms[1..], Some(&forms[0]))), [100]);
    }

    #[test]
    fn forms_for_nothing_and_huge_ones_are_fine() {
        let forms = Form::all(&item(i64::MAX, &[(0, 0.5), (i64::MAX - 1, 0.6)]), 100);
        assert_eq!(tokens(&hull(&forms, None)), [0, i64::MAX]);
    }
}
