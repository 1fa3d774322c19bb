//! Scorers, by the rules of their construction.

use chrono::TimeDelta;

use super::build::kind;
use crate::oracle::{self, TagMatching, default_kind_weights};
use crate::protocol::{
    Curve, ErrorAnswer, KindWeight, Scorer, StepWindow, TagComparison, TagWeight, WeightedScorer,
    duration,
};

type Result<T> = std::result::Result<T, ErrorAnswer>;

pub(super) fn scorer(scorer: &Scorer) -> Result<oracle::Scorer> {
    Ok(match scorer {
        Scorer::Recency => oracle::Scorer::Recency,
        Scorer::Priority => oracle::Scorer::Priority,
        Scorer::Frequency => oracle::Scorer::Frequency,
        Scorer::Reflexive => oracle::Scorer::Reflexive,
        Scorer::Kind { weights } => {
            oracle::Scorer::Kind { weights: kind_weights(weights.as_deref())? }
        }
        Scorer::Tag { tag_weights, tag_comparison } => {
            tag(tag_weights, tag_comparison.unwrap_or(TagComparison::Exact))?
        }
        Scorer::Composite { scorers } => composite(scorers)?,
        Scorer::Scaled { inner } => {
            oracle::Scorer::Scaled { inner: Box::new(self::scorer(inner)?) }
        }
        Scorer::MetadataTrust { default_score } => {
            oracle::Scorer::MetadataTrust { default_score: unit("default_score", *default_score)? }
        }
        Scorer::MetadataKey { key, value, boost } => oracle::Scorer::MetadataKey {
            key: key.clone(),
            value: value.clone(),
            boost: positive("boost", *boost)?,
        },
        Scorer::Decay { reference_time, curve, null_timestamp_score } => oracle::Scorer::Decay {
            now: *reference_time,
            curve: self::curve(curve)?,
            null_timestamp_score: unit("nullTimestampScore", null_timestamp_score.unwrap_or(0.5))?,
        },
    })
}

fn refuse(text: String) -> ErrorAnswer {
    ErrorAnswer::new("scorer_config", text)
}

fn check(holds: bool, name: &str, value: f64) -> Result<f64> {
    if holds { Ok(value) } else { Err(refuse(format!("{name} cannot be {value}"))) }
}

fn positive(name: &str, value: f64) -> Result<f64> {
    check(value.is_finite() && value > 0.0, name, value)
}

fn not_negative(name: &str, value: f64) -> Result<f64> {
    check(value.is_finite() && value >= 0.0, name, value)
}

fn unit(name: &str, value: f64) -> Result<f64> {
    check((0.0..=1.0).contains(&value), name, value)
}

fn kind_weights(weights: Option<&[KindWeight]>) -> Result<Vec<(String, f64)>> {
    let Some(weights) = weights else { return Ok(default_kind_weights()) };
    let checked = weights
        .iter()
        .map(|entry| Ok((kind(&entry.kind)?, not_negative("a kind's weight", entry.weight)?)));
    checked.collect()
}

fn tag(weights: &[TagWeight], comparison: TagComparison) -> Result<oracle::Scorer> {
    let matching = match comparison {
        TagComparison::Exact => TagMatching::Exact,
        TagComparison::AsciiCaseless => TagMatching::AsciiCaseless,
    };
    for (position, entry) in weights.iter().enumerate() {
        not_negative("a tag's weight", entry.weight)?;
        let is_same = |other: &TagWeight| match comparison {
            TagComparison::Exact => other.tag == entry.tag,
            TagComparison::AsciiCaseless => other.tag.eq_ignore_ascii_case(&entry.tag),
        };
        if weights[..position].iter().any(is_same) {
            return Err(refuse(format!("tag `{}` has two weights", entry.tag)));
        }
    }
    finite_sum(weights.iter().map(|entry| entry.weight))?;
    let weights = weights.iter().map(|entry| (entry.tag.clone(), entry.weight)).collect();
    Ok(oracle::Scorer::Tag { weights, matching })
}

fn finite_sum(weights: impl Iterator<Item = f64>) -> Result<()> {
    let sum: f64 = weights.sum();
    check(sum.is_finite(), "the sum of all weights", sum).map(drop)
}

fn composite(entries: &[WeightedScorer]) -> Result<oracle::Scorer> {
    if entries.is_empty() {
        return Err(refuse("a composite needs at least one scorer".to_owned()));
    }
    let children = entries
        .iter()
        .map(|entry| Ok((scorer(&entry.scorer)?, positive("a scorer's weight", entry.weight)?)));
    let children = children.collect::<Result<_>>()?;
    finite_sum(entries.iter().map(|entry| entry.weight))?;
    Ok(oracle::Scorer::Composite { children })
}

fn curve(curve: &Curve) -> Result<oracle::Curve> {
    Ok(match curve {
        Curve::Exponential { half_life_secs } => {
            oracle::Curve::Exponential { half_life: age("halfLife", *half_life_secs)? }
        }
        Curve::Window { max_age_secs } => {
            oracle::Curve::Window { max_age: age("maxAge", *max_age_secs)? }
        }
        Curve::Step { windows } => oracle::Curve::Step { windows: step_windows(windows)? },
    })
}

fn age(name: &str, seconds: f64) -> Result<TimeDelta> {
    let positive = duration(seconds).filter(|duration| *duration > TimeDelta::zero());
    positive.ok_or_else(|| refuse(format!("{name} cannot be {seconds} seconds")))
}

fn step_windows(windows: &[StepWindow]) -> Result<Vec<(TimeDelta, f64)>> {
    if windows.is_empty() {
        return Err(refuse("a step curve needs at least one window".to_owned()));
    }
    let mut checked: Vec<(TimeDelta, f64)> = Vec::new();
    for window in windows {
        let max_age = age("maxAge", window.max_age_secs)?;
        if checked.last().is_some_and(|(earlier, _)| *earlier >= max_age) {
            return Err(refuse("the windows of a step curve must get longer".to_owned()));
        }
        checked.push((max_age, unit("a window's score", window.score)?));
    }
    Ok(checked)
}
