//! Scorers.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use cupel_conformance::oracle::{Curve, Scorer, TagMatching, default_kind_weights};

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
        5 => Scorer::Kind { weights: default_kind_weights() },
        6 => kind_scorer(choices),
        7 => tag_scorer(choices),
        8 => Scorer::MetadataTrust { default_score: choices.unit() },
        9 => Scorer::MetadataKey {
            key: choices.pick(&KEYS).to_owned(),
            value: choices.pick(&VALUES).to_owned(),
            boost: positive(choices),
        },
        10 => Scorer::Decay {
            now: noon(),
            curve: curve(choices),
            null_timestamp_score: choices.unit(),
        },
        11 => Scorer::Scaled { inner: Box::new(scorer(choices, depth - 1)) },
        _ => composite(choices, depth),
    }
}

/// Whether scores are powers, which no two ways of rounding the exponent make the same.
pub(super) fn uses_powers(scorer: &Scorer) -> bool {
    match scorer {
        Scorer::Decay { curve, .. } => matches!(curve, Curve::Exponential { .. }),
        Scorer::Composite { children } => children.iter().any(|(child, _)| uses_powers(child)),
        Scorer::Scaled { inner } => uses_powers(inner),
        _ => false,
    }
}

fn positive(choices: &mut Choices<'_>) -> f64 {
    let weight = choices.weight();
    if weight > 0.0 { weight } else { 1.0 }
}

fn composite(choices: &mut Choices<'_>, depth: usize) -> Scorer {
    let child = |choices: &mut Choices<'_>| (scorer(choices, depth - 1), positive(choices));
    let mut children = vec![child(choices)];
    children.extend(choices.list(2, child));
    Scorer::Composite { children }
}

/// A weight for some of the kinds.
fn kind_scorer(choices: &mut Choices<'_>) -> Scorer {
    let mut weights = Vec::new();
    for kind in KINDS {
        if choices.flag() {
            weights.push((respelled(choices, kind), choices.weight()));
        }
    }
    Scorer::Kind { weights }
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
    let matching = if caseless { TagMatching::AsciiCaseless } else { TagMatching::Exact };
    Scorer::Tag { weights, matching }
}

fn curve(choices: &mut Choices<'_>) -> Curve {
    match choices.below(3) {
        0 => Curve::Window { max_age: age(choices) },
        1 => Curve::Step { windows: windows(choices) },
        _ => {
            let half_life = TimeDelta::seconds(age(choices).num_seconds() % (1 << 32) + 1);
            Curve::Exponential { half_life }
        }
    }
}

/// A duration that is not zero.
fn age(choices: &mut Choices<'_>) -> TimeDelta {
    match choices.below(3) {
        0 => TimeDelta::hours(i64::from(choices.byte()) + 1),
        1 => TimeDelta::nanoseconds(choices.integer().max(1)),
        _ => TimeDelta::milliseconds(choices.integer().max(1)),
    }
}

/// At least one window, each longer than the one before.
fn windows(choices: &mut Choices<'_>) -> Vec<(TimeDelta, f64)> {
    let mut windows = vec![(age(choices), choices.unit())];
    windows.extend(choices.list(3, |choices| (age(choices), choices.unit())));
    windows.sort_by_key(|(max_age, _)| *max_age);
    windows.dedup_by_key(|(max_age, _)| *max_age);
    windows
}
