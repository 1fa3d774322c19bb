//! Validation rules of scorers.

use chrono::TimeDelta;

use super::Checked;
use super::rules::kind;
use crate::protocol::{
    Curve, ErrorAnswer, Scorer, StepWindow, TagComparison, TagWeight, WeightedScorer, duration,
};

pub(super) fn check(scorer: &Scorer) -> Checked {
    match scorer {
        Scorer::Recency
        | Scorer::Priority
        | Scorer::Frequency
        | Scorer::Reflexive
        | Scorer::RawHint
        | Scorer::Kind { weights: None } => Ok(()),
        Scorer::Kind { weights: Some(weights) } => weights.iter().try_for_each(|entry| {
            kind(&entry.kind)?;
            not_negative("a kind's weight", entry.weight)
        }),
        Scorer::Tag { tag_weights, tag_comparison } => tags(tag_weights, *tag_comparison),
        Scorer::Composite { scorers } => composite(scorers),
        Scorer::Scaled { inner } => check(inner),
        Scorer::MetadataTrust { default_score } => unit("default_score", *default_score),
        Scorer::MetadataKey { boost, .. } => positive("boost", *boost),
        Scorer::Decay { curve, null_timestamp_score, .. } => {
            self::curve(curve)?;
            unit("nullTimestampScore", null_timestamp_score.unwrap_or(0.5))
        }
    }
}

fn refuse(text: String) -> ErrorAnswer {
    ErrorAnswer::new("scorer_config", text)
}

fn require(holds: bool, name: &str, value: f64) -> Checked {
    if holds { Ok(()) } else { Err(refuse(format!("{name} cannot be {value}"))) }
}

fn positive(name: &str, value: f64) -> Checked {
    require(value.is_finite() && value > 0.0, name, value)
}

fn not_negative(name: &str, value: f64) -> Checked {
    require(value.is_finite() && value >= 0.0, name, value)
}

fn unit(name: &str, value: f64) -> Checked {
    require((0.0..=1.0).contains(&value), name, value)
}

fn tags(weights: &[TagWeight], comparison: Option<TagComparison>) -> Checked {
    for (position, entry) in weights.iter().enumerate() {
        not_negative("a tag's weight", entry.weight)?;
        let is_same = |other: &TagWeight| match comparison {
            None | Some(TagComparison::Exact) => other.tag == entry.tag,
            Some(TagComparison::AsciiCaseless) => other.tag.eq_ignore_ascii_case(&entry.tag),
        };
        if weights[..position].iter().any(is_same) {
            return Err(refuse(format!("tag `{}` has two weights", entry.tag)));
        }
    }
    finite_sum(weights.iter().map(|entry| entry.weight))
}

fn finite_sum(weights: impl Iterator<Item = f64>) -> Checked {
    let sum: f64 = weights.sum();
    require(sum.is_finite(), "the sum of all weights", sum)
}

fn composite(entries: &[WeightedScorer]) -> Checked {
    if entries.is_empty() {
        return Err(refuse("a composite needs at least one scorer".to_owned()));
    }
    for entry in entries {
        check(&entry.scorer)?;
        positive("a scorer's weight", entry.weight)?;
    }
    finite_sum(entries.iter().map(|entry| entry.weight))
}

fn curve(curve: &Curve) -> Checked {
    match curve {
        Curve::Exponential { half_life_secs } => age("halfLife", *half_life_secs).map(drop),
        Curve::Window { max_age_secs } => age("maxAge", *max_age_secs).map(drop),
        Curve::Step { windows } => step_windows(windows),
    }
}

fn age(name: &str, seconds: f64) -> Result<TimeDelta, ErrorAnswer> {
    let positive = duration(seconds).filter(|duration| *duration > TimeDelta::zero());
    positive.ok_or_else(|| refuse(format!("{name} cannot be {seconds} seconds")))
}

fn step_windows(windows: &[StepWindow]) -> Checked {
    if windows.is_empty() {
        return Err(refuse("a step curve needs at least one window".to_owned()));
    }
    let mut earlier = TimeDelta::zero();
    for window in windows {
        let max_age = age("maxAge", window.max_age_secs)?;
        if earlier >= max_age {
            return Err(refuse("the windows of a step curve must get longer".to_owned()));
        }
        unit("a window's score", window.score)?;
        earlier = max_age;
    }
    Ok(())
}
