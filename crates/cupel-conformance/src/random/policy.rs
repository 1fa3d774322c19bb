//! Random policies.

use super::items::{BOOST_KEY, KINDS, TAGS, noon, respelled};
use super::{Mood, Rng};
use crate::protocol::{
    CountEntry, Curve, KindWeight, OverflowStrategy, Placer, Policy, Quota, ScarcityBehavior,
    Scorer, Slicer, StepWindow, TagComparison, TagWeight, WeightedScorer,
};

const OVERFLOW_STRATEGIES: [OverflowStrategy; 3] =
    [OverflowStrategy::Throw, OverflowStrategy::Truncate, OverflowStrategy::Proceed];

pub(super) fn policy(rng: &mut Rng, mood: Mood) -> Policy {
    // Nested normalization costs a factor of the item count per level.
    let scorer_depth = match mood.item_count {
        0..=12 => 3,
        13..=60 => 2,
        _ => 1,
    };
    Policy {
        scorer: scorer(rng, scorer_depth),
        slicer: slicer(rng, mood, 3, true),
        placer: rng.pick(&[Placer::Chronological, Placer::UShaped]),
        deduplication: Some(rng.chance(60)),
        overflow_strategy: Some(rng.pick(&OVERFLOW_STRATEGIES)),
    }
}

fn scorer(rng: &mut Rng, depth: usize) -> Scorer {
    if depth > 1 && rng.chance(35) {
        return if rng.chance(50) { composite(rng, depth) } else { scaled(rng, depth) };
    }
    match rng.below(10) {
        0 => Scorer::Recency,
        1 => Scorer::Priority,
        2 => kind_scorer(rng),
        3 => tag_scorer(rng),
        4 => Scorer::Frequency,
        5 | 6 => Scorer::Reflexive,
        7 => Scorer::MetadataTrust { default_score: rng.pick(&[0.0, 0.5, 1.0]) },
        8 => Scorer::MetadataKey {
            key: BOOST_KEY.to_owned(),
            value: "high".to_owned(),
            boost: rng.pick(&[0.5, 1.5, 3.0]),
        },
        _ => decay(rng),
    }
}

fn composite(rng: &mut Rng, depth: usize) -> Scorer {
    let scorers = (0..rng.between(1, 3))
        .map(|_| {
            let scorer = scorer(rng, depth - 1);
            WeightedScorer { weight: rng.pick(&[0.1, 0.3, 0.6, 1.0, 1.0, 3.0]), scorer }
        })
        .collect();
    Scorer::Composite { scorers }
}

fn scaled(rng: &mut Rng, depth: usize) -> Scorer {
    Scorer::Scaled { inner: Box::new(scorer(rng, depth - 1)) }
}

fn kind_scorer(rng: &mut Rng) -> Scorer {
    if rng.chance(40) {
        return Scorer::Kind { weights: None };
    }
    let mut weights = Vec::new();
    for kind in rng.subset(&KINDS) {
        let kind = respelled(rng, kind);
        weights.push(KindWeight { kind, weight: rng.pick(&[0.0, 0.2, 0.5, 0.5, 1.0, 7.5, 1e300]) });
    }
    Scorer::Kind { weights: Some(weights) }
}

fn tag_scorer(rng: &mut Rng) -> Scorer {
    if rng.chance(50) {
        // Keys that differ in case only would be one key here, and exact binary fractions make the
        // order of the sum irrelevant, whichever spelling it follows.
        let keys = rng.subset(&["a", "B", "urgent", "É", "é"]);
        let tag_weights = tag_weights(rng, keys, &[0.0, 0.25, 0.5, 2.0]);
        return Scorer::Tag { tag_weights, tag_comparison: Some(TagComparison::AsciiCaseless) };
    }
    let keys = rng.subset(&TAGS);
    let tag_weights = tag_weights(rng, keys, &[0.0, 0.1, 0.3, 0.7, 2.0]);
    Scorer::Tag { tag_weights, tag_comparison: Some(TagComparison::Exact) }
}

fn tag_weights(rng: &mut Rng, tags: Vec<&str>, weights: &[f64]) -> Vec<TagWeight> {
    tags.into_iter()
        .map(|tag| TagWeight { tag: tag.to_owned(), weight: rng.pick(weights) })
        .collect()
}

fn decay(rng: &mut Rng) -> Scorer {
    const HOUR: f64 = 3_600.0;
    let curve = match rng.below(4) {
        0 => Curve::Exponential { half_life_secs: 0.000_5 },
        1 => Curve::Exponential { half_life_secs: rng.pick(&[1.0, 24.0]) * HOUR },
        2 => Curve::Window { max_age_secs: rng.pick(&[1.0, 6.0, 24.0]) * HOUR },
        _ => Curve::Step {
            windows: [(1.0, 0.9), (24.0, 0.5), (72.0, 0.1)]
                .map(|(hours, score)| StepWindow { max_age_secs: hours * HOUR, score })
                .into(),
        },
    };
    let null_timestamp_score = Some(rng.pick(&[0.0, 0.5, 1.0]));
    Scorer::Decay { reference_time: noon(), curve, null_timestamp_score }
}

/// A slicer of at most `depth` levels; `knapsack` says whether one may be anywhere in it.
fn slicer(rng: &mut Rng, mood: Mood, depth: usize, knapsack: bool) -> Slicer {
    let choice = if depth > 1 { rng.below(6) } else { rng.below(3) };
    match choice {
        0 if knapsack => Slicer::Knapsack { bucket_size: Some(bucket_size(rng, mood)) },
        1 if knapsack => Slicer::CountConstrainedKnapsack {
            entries: count_entries(rng, mood),
            bucket_size: Some(bucket_size(rng, mood)),
            scarcity_behavior: Some(scarcity(rng)),
        },
        0..=2 => Slicer::Greedy,
        3 | 4 => Slicer::Quota {
            quotas: quota_entries(rng, mood),
            inner: Box::new(slicer(rng, mood, depth - 1, knapsack)),
        },
        _ => Slicer::CountQuota {
            entries: count_entries(rng, mood),
            inner: Box::new(slicer(rng, mood, depth - 1, false)),
            scarcity_behavior: Some(scarcity(rng)),
        },
    }
}

fn bucket_size(rng: &mut Rng, mood: Mood) -> i64 {
    if mood.is_huge() && rng.chance(50) {
        return rng.pick(&[1 << 60, i64::MAX]);
    }
    rng.pick(&[1, 1, 1, 3, 7, 10, 100])
}

fn scarcity(rng: &mut Rng) -> ScarcityBehavior {
    if rng.chance(20) { ScarcityBehavior::Throw } else { ScarcityBehavior::Degrade }
}

fn quota_entries(rng: &mut Rng, mood: Mood) -> Vec<Quota> {
    let mut left = 100.0;
    let mut entries = Vec::new();
    for kind in rng.subset(nearby_kinds(mood)) {
        let mut require = rng.pick(&[0.0, 0.0, 10.0, 33.0, 33.3, 50.0, 100.0]);
        if require > left {
            require = 0.0;
        }
        left -= require;
        let cap = f64::max(require, rng.pick(&[0.0, 10.0, 33.3, 50.0, 100.0, 100.0]));
        entries.push(Quota { kind: respelled(rng, kind), require, cap });
    }
    entries
}

fn count_entries(rng: &mut Rng, mood: Mood) -> Vec<CountEntry> {
    let mut entries = Vec::new();
    for kind in rng.subset(nearby_kinds(mood)) {
        let require_count = rng.pick(&[0, 0, 1, 1, 2, 3]);
        let cap_count = require_count + rng.below(3);
        entries.push(CountEntry { kind: respelled(rng, kind), require_count, cap_count });
    }
    entries
}

/// The kinds that the items have, and one more.
fn nearby_kinds(mood: Mood) -> &'static [&'static str] {
    &KINDS[..(mood.kind_count + 1).min(KINDS.len())]
}
