//! Budgets.

use cupel_conformance::protocol::{Budget, Item};

use super::choices::Choices;
use super::items::{KINDS, respelled};

/// A budget, mostly near what some of the items need.
pub(super) fn budget(choices: &mut Choices<'_>, items: &[Item]) -> Budget {
    let target_tokens = target_tokens(choices, items);
    let slack = choices.pick(&[0, 0, 1, 7, 1000, i64::MAX]);
    let max_tokens = target_tokens.saturating_add(slack);
    let output_reserve = match choices.below(4) {
        0 | 1 => 0,
        2 => max_tokens - target_tokens,
        _ => choices.integer().clamp(0, max_tokens),
    };
    Budget {
        max_tokens,
        target_tokens,
        output_reserve: Some(output_reserve),
        reserved_slots: reserved_slots(choices).into_iter().collect(),
        estimation_safety_margin_percent: Some(margin(choices)),
    }
}

fn target_tokens(choices: &mut Choices<'_>, items: &[Item]) -> i64 {
    if choices.below(4) == 3 {
        return choices.integer().max(0);
    }
    let mut tokens = 0_i64;
    for item in items.iter().filter(|item| item.tokens > 0) {
        if item.is_pinned() || choices.flag() {
            tokens = tokens.saturating_add(item.tokens);
        }
    }
    tokens.saturating_add(choices.pick(&[0, 1, -1, 100])).max(0)
}

/// At most one slot per kind.
fn reserved_slots(choices: &mut Choices<'_>) -> Vec<(String, i64)> {
    let mut slots = Vec::new();
    for kind in KINDS {
        if choices.below(8) == 1 {
            slots.push((respelled(choices, kind), choices.integer().max(0)));
        }
    }
    slots
}

fn margin(choices: &mut Choices<'_>) -> f64 {
    match choices.below(4) {
        0 | 1 => 0.0,
        2 => f64::from(choices.byte()) / 2.55,
        _ => choices.unit() * 100.0,
    }
    .min(100.0)
}
