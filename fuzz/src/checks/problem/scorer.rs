//! Scorers.

use std::collections::BTreeMap;

use cupel_conformance::protocol::{
    Curve, KindWeight, Scorer, StepWindow, TagComparison, TagWeight, WeightedScorer, duration,
};

use super::choices::Choices;
use super::items::{KEYS, KINDS, TAGS, VALUES, noon, respelled};

/// A scorer of at most `depth` levels.
pub(super) fn scorer(choices: &mut Choices<'_>, depth: usize) -> Scorer {
    let leaves = 11;
    match choices.below(if depth > 1 { leaves + 3 } else { leaves }) {
        0 => Scorer::Reflexive,
        1 => Scorer::RawHint,
        2 => Scorer::Recency,
        3 => Scorer::Priority,
        4 => Scorer::Frequency,
        5 => Scorer::Kind { weights: None },
        6 => kind_scorer(choices),
        7 => tag_scorer(choices),
        8 => Scorer::MetadataTrust { default_score: choices.unit() },
        9 => Scorer::MetadataKey {
            key: choices.pick(&KEYS).to_owned(),
            value: choices.pick(&VALUES).to_owned(),
            boost: positive(choices),
        },
        10 => Scorer::Decay {
            reference_time: noon(),
            curve: curve(choices),
            null_timestamp_score: Some(choices.unit()),
        },
        11 => Scorer::Scaled { inner: Box::new(scorer(choices, depth - 1)) },
        _ => composite(choices, depth),
    }
}

/// Returns true if scores are powers, which no two ways of rounding the exponent make the same.
pub(super) fn uses_powers(scorer: &Scorer) -> bool {
    match scorer {
        Scorer::Decay { curve, .. } => matches!(curve, Curve::Exponential { .. }),
        Scorer::Composite { scorers } => scorers.iter().any(|child| uses_powers(&child.scorer)),
        Scorer::Scaled { inner } => uses_powers(inner),
        _ => false,
    }
}

fn positive(choices: &mut Choices<'_>) -> f64 {
    let weight = choices.weight();
    if weight > 0.0 { weight } else { 1.0 }
}

fn composite(choices: &mut Choices<'_>, depth: usize) -> Scorer {
    let child = |choices: &mut Choices<'_>| {
        let scorer = scorer(choices, depth - 1);
        WeightedScorer { weight: positive(choices), scorer }
    };
    let mut scorers = vec![child(choices)];
    scorers.extend(choices.list(2, child));
    Scorer::Composite { scorers }
}

/// A weight for some of the kinds.
fn kind_scorer(choices: &mut Choices<'_>) -> Scorer {
    let mut weights = Vec::new();
    for kind in KINDS {
        if choices.flag() {
            let kind = respelled(choices, kind);
            weights.push(KindWeight { kind, weight: choices.weight() });
        }
    }
    Scorer::Kind { weights: Some(weights) }
}

fn tag_scorer(choices: &mut Choices<'_>) -> Scorer {
    let caseless = choices.flag();
    let mut weights = BTreeMap::new();
    for tag in TAGS {
        if !choices.flag() {
            continue;
        }
        if caseless {
            // Keys that differ in case only are refused, and sums of simple fractions are exact in
            // whichever order they are taken.
            weights.insert(tag.to_ascii_lowercase(), f64::from(choices.byte()) / 16.0);
        } else {
            weights.insert(tag.to_owned(), choices.weight());
        }
    }
    let comparison = if caseless { TagComparison::AsciiCaseless } else { TagComparison::Exact };
    Scorer::Tag {
        tag_weights: weights.into_iter().map(|(tag, weight)| TagWeight { tag, weight }).collect(),
        tag_comparison: Some(comparison),
    }
}

fn curve(choices: &mut Choices<'_>) -> Curve {
    match choices.below(3) {
        0 => Curve::Window { max_age_secs: age(choices) },
        1 => Curve::Step { windows: windows(choices) },
        _ => {
            let half_life_secs = age(choices).floor() % (1_u64 << 32) as f64 + 1.0;
            Curve::Exponential { half_life_secs }
        }
    }
}

/// Seconds that are not none.
fn age(choices: &mut Choices<'_>) -> f64 {
    match choices.below(3) {
        0 => (f64::from(choices.byte()) + 1.0) * 3_600.0,
        1 => choices.integer().max(1) as f64 / 1e9,
        // Beyond that, seconds are no duration.
        _ => (choices.integer().max(1) as f64 / 1e3).min(9e15),
    }
}

/// At least one window, each longer than the one before.
fn windows(choices: &mut Choices<'_>) -> Vec<StepWindow> {
    let window = |choices: &mut Choices<'_>| {
        let max_age_secs = age(choices);
        StepWindow { max_age_secs, score: choices.unit() }
    };
    let mut windows = vec![window(choices)];
    windows.extend(choices.list(3, window));
    windows.sort_by_key(|window| duration(window.max_age_secs));
    windows.dedup_by_key(|window| duration(window.max_age_secs));
    windows
}
