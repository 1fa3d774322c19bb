//! Slicers.

use cupel_conformance::protocol::{CountEntry, Quota, ScarcityBehavior, Slicer};

use super::choices::Choices;
use super::items::{KINDS, respelled};

/// Buckets that leave the oracle a table of moderate size.
const MOST_BUCKETS: i64 = 5_000;

/// A slicer of at most `depth` levels; `knapsack` says whether one may be anywhere in it.
pub(super) fn slicer(
    choices: &mut Choices<'_>,
    target_tokens: i64,
    depth: usize,
    knapsack: bool,
) -> Slicer {
    match choices.below(if depth > 1 { 6 } else { 3 }) {
        1 if knapsack => {
            Slicer::Knapsack { bucket_size: Some(bucket_size(choices, target_tokens)) }
        }
        2 if knapsack => Slicer::CountConstrainedKnapsack {
            entries: count_entries(choices),
            bucket_size: Some(bucket_size(choices, target_tokens)),
            scarcity_behavior: Some(scarcity(choices)),
        },
        0..=2 => Slicer::Greedy,
        3 | 4 => Slicer::Quota {
            quotas: quotas(choices),
            inner: Box::new(slicer(choices, target_tokens, depth - 1, knapsack)),
        },
        _ => Slicer::CountQuota {
            entries: count_entries(choices),
            inner: Box::new(slicer(choices, target_tokens, depth - 1, false)),
            scarcity_behavior: Some(scarcity(choices)),
        },
    }
}

fn bucket_size(choices: &mut Choices<'_>, target_tokens: i64) -> i64 {
    // A target beyond all bounds is refused at once, whatever the table would have been.
    if target_tokens > 1 << 50 && choices.flag() {
        return i64::from(choices.byte()) + 1;
    }
    choices.integer().max(target_tokens / MOST_BUCKETS + 1)
}

fn scarcity(choices: &mut Choices<'_>) -> ScarcityBehavior {
    if choices.below(4) == 1 { ScarcityBehavior::Throw } else { ScarcityBehavior::Degrade }
}

/// Shares for some of the kinds; quarters of a percent add up exactly.
fn quotas(choices: &mut Choices<'_>) -> Vec<Quota> {
    let mut left = 400_u16;
    let mut entries = Vec::new();
    for kind in KINDS {
        if choices.flag() {
            let require = (u16::from(choices.byte()) * 2).min(left);
            left -= require;
            let require = f64::from(require) / 4.0;
            let cap = (choices.unit() * 100.0).max(require);
            entries.push(Quota { kind: respelled(choices, kind), require, cap });
        }
    }
    entries
}

/// Counts for some of the kinds.
fn count_entries(choices: &mut Choices<'_>) -> Vec<CountEntry> {
    let mut entries = Vec::new();
    for kind in KINDS {
        if choices.flag() {
            let require_count = choices.below(5);
            let more = choices.pick(&[0, 1, 2, usize::MAX]);
            let cap_count = require_count.saturating_add(more);
            entries.push(CountEntry { kind: respelled(choices, kind), require_count, cap_count });
        }
    }
    entries
}
