//! Units and situations for tests.

use cupel::Worth;
use cupel::slicer::Form;

use super::plan::{Situation, Unit};

/// A unit that the provider had before.
pub(super) fn known(tokens: i64) -> Unit {
    Unit {
        tokens,
        forms: Vec::new(),
        stands_as: None,
        is_pinned: false,
        is_new: false,
        competes: true,
        needs: Vec::new(),
        blocks: 1,
    }
}

/// A unit that the provider never had.
pub(super) fn new(tokens: i64) -> Unit {
    Unit { is_new: true, ..known(tokens) }
}

/// A unit that the provider had before and that must be in.
pub(super) fn pinned(tokens: i64) -> Unit {
    Unit { is_pinned: true, ..known(tokens) }
}

/// A unit that the provider never had, and that can be sent in a shorter form that keeps a half.
pub(super) fn shortenable(tokens: i64, short_tokens: i64) -> Unit {
    let short = Form { rendering: Some(0), tokens: short_tokens, share: 0.5 };
    let whole = Form { rendering: None, tokens, share: 1.0 };
    Unit { forms: vec![short, whole], ..new(tokens) }
}

/// The worth of units that share nothing.
pub(super) fn worth(own: &[f64]) -> Worth {
    let mut worth = Worth::default();
    for own in own {
        worth.push(*own, []);
    }
    worth
}

/// Room for 100 tokens, of which none may be sent again. A token must be worth half of the average, and
/// worth counts by the token.
pub(super) fn situation<'s>(
    units: &'s [Unit],
    worth: &'s Worth,
    window: &'s [usize],
) -> Situation<'s> {
    let (room, credit, threshold, size_exponent) = (100, 0, 0.5, 1.0);
    Situation { units, worth, window, room, credit, threshold, size_exponent, cuts: &[] }
}
