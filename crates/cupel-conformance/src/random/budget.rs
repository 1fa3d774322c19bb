//! Random budgets, most of them within one token of what some of the items need.

use std::collections::BTreeMap;

use super::items::{KINDS, respelled};
use super::{Mood, Rng};
use crate::protocol::{Budget, Item};

pub(super) fn budget(rng: &mut Rng, mood: Mood, items: &[Item]) -> Budget {
    let mut target_tokens = near_boundary(rng, items);
    if rng.chance(5) {
        target_tokens = rng.pick(&[0, 1, 100, 1000]);
    }
    if mood.is_huge() && rng.chance(60) {
        target_tokens = rng.pick(&[i64::MAX, i64::MAX - 1, i64::MAX / 2, 1 << 53]);
    }
    let max_tokens = target_tokens.saturating_add(rng.pick(&[0, 0, 1, 7, 100, 1000]));
    Budget {
        max_tokens,
        target_tokens,
        output_reserve: Some(output_reserve(rng, max_tokens, target_tokens)),
        reserved_slots: reserved_slots(rng),
        estimation_safety_margin_percent: Some(safety_margin(rng)),
    }
}

/// Tokens of the pinned items and some others, or one more or less.
fn near_boundary(rng: &mut Rng, items: &[Item]) -> i64 {
    let mut tokens = 0_i64;
    for item in items.iter().filter(|item| item.tokens > 0) {
        if (item.is_pinned() && rng.chance(95)) || rng.chance(50) {
            tokens = tokens.saturating_add(item.tokens);
        }
    }
    tokens.saturating_add(rng.pick(&[-1, 0, 0, 1])).max(0)
}

fn output_reserve(rng: &mut Rng, max_tokens: i64, target_tokens: i64) -> i64 {
    match rng.below(24) {
        0 => max_tokens,
        1 => max_tokens / 2,
        2 => max_tokens - target_tokens,
        3 | 4 => 1.min(max_tokens),
        _ => 0,
    }
}

fn reserved_slots(rng: &mut Rng) -> BTreeMap<String, i64> {
    if rng.chance(75) {
        return BTreeMap::new();
    }
    let kinds = rng.subset(&KINDS);
    kinds.into_iter().map(|kind| (respelled(rng, kind), reserved_tokens(rng))).collect()
}

fn reserved_tokens(rng: &mut Rng) -> i64 {
    if rng.chance(2) { i64::MAX } else { rng.pick(&[0, 1, 3, 10]) }
}

fn safety_margin(rng: &mut Rng) -> f64 {
    match rng.below(20) {
        0 => 100.0,
        1 => 50.0,
        2 | 3 => 33.3,
        4 | 5 => 10.0,
        _ => 0.0,
    }
}
