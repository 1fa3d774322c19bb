//! Strategies: by name with their options beside it, or as tables of their own.

use toml::Value;

use super::VectorError;
use super::fields::Fields;
use crate::protocol::{
    CountEntry, Curve, KindWeight, OverflowStrategy, Placer, Policy, Quota, ScarcityBehavior,
    Scorer, Slicer, StepWindow, TagComparison, TagWeight, WeightedScorer,
};

type Result<T> = std::result::Result<T, VectorError>;

/// A policy, from the table that holds all of its fields.
pub(super) fn policy(fields: &mut Fields) -> Result<Policy> {
    Ok(Policy {
        scorer: policy_scorer(fields)?,
        slicer: named(fields, &["slicer"], slicer)?.ok_or_else(|| fields.missing("slicer"))?,
        placer: placer(fields)?,
        deduplication: fields.flag("deduplication")?,
        overflow_strategy: one_of(
            fields,
            "overflow_strategy",
            &[
                ("throw", OverflowStrategy::Throw),
                ("truncate", OverflowStrategy::Truncate),
                ("proceed", OverflowStrategy::Proceed),
            ],
        )?,
    })
}

fn policy_scorer(fields: &mut Fields) -> Result<Scorer> {
    if let Some(scorer) = named(fields, &["scorer"], scorer)? {
        return Ok(scorer);
    }
    let mut children = children(fields)?.ok_or_else(|| fields.missing("scorers"))?;
    Ok(match children.pop() {
        Some(only) if children.is_empty() => only.scorer,
        last => {
            children.extend(last);
            Scorer::Composite { scorers: children }
        }
    })
}

/// The placer that a table names.
pub(super) fn placer(fields: &mut Fields) -> Result<Placer> {
    let placers = [("chronological", Placer::Chronological), ("u_shaped", Placer::UShaped)];
    one_of(fields, "placer", &placers)?.ok_or_else(|| fields.missing("placer"))
}

/// The strategy in a field: a name, with its options in `fields`, or a table with a `type`.
fn named<T>(
    fields: &mut Fields,
    spellings: &[&str],
    decode: fn(&str, &mut Fields) -> Result<T>,
) -> Result<Option<T>> {
    let name = spellings[0];
    match fields.take(spellings)? {
        None => Ok(None),
        Some(Value::String(strategy)) => decode(&plain(&strategy), fields).map(Some),
        Some(Value::Table(table)) => {
            let mut inner = fields.child(name, table);
            let strategy = inner.text(&["type"])?.ok_or_else(|| inner.missing("type"))?;
            let decoded = decode(&plain(&strategy), &mut inner)?;
            inner.finish();
            Ok(Some(decoded))
        }
        Some(other) => Err(fields.wrong_type(name, "a name or a table", &other)),
    }
}

/// Names are lower case; a dash may stand for an underscore.
fn plain(name: &str) -> String {
    name.to_ascii_lowercase().replace('-', "_")
}

fn one_of<T: Copy>(fields: &mut Fields, name: &str, choices: &[(&str, T)]) -> Result<Option<T>> {
    let Some(text) = fields.text(&[name])? else { return Ok(None) };
    let chosen = choices.iter().find(|(choice, _)| *choice == plain(&text));
    chosen
        .map(|(_, value)| Some(*value))
        .ok_or_else(|| fields.error(name, format_args!("has the unknown value `{text}`")))
}

/// The scorer called `name`, with its options in `fields`.
pub(super) fn scorer(name: &str, fields: &mut Fields) -> Result<Scorer> {
    Ok(match plain(name).as_str() {
        "recency" => Scorer::Recency,
        "priority" => Scorer::Priority,
        "frequency" => Scorer::Frequency,
        "reflexive" => Scorer::Reflexive,
        "raw_hint" => Scorer::RawHint,
        "kind" => Scorer::Kind { weights: kind_weights(fields)? },
        "tag" => Scorer::Tag {
            tag_weights: tag_weights(fields)?,
            tag_comparison: one_of(
                fields,
                "tag_comparison",
                &[
                    ("exact", TagComparison::Exact),
                    ("ascii_caseless", TagComparison::AsciiCaseless),
                ],
            )?,
        },
        "composite" => Scorer::Composite { scorers: children(fields)?.unwrap_or_default() },
        "scaled" => Scorer::Scaled {
            inner: named(fields, &["inner_scorer", "inner"], scorer)?
                .map(Box::new)
                .ok_or_else(|| fields.missing("inner_scorer"))?,
        },
        "metadata_trust" => {
            Scorer::MetadataTrust { default_score: number(fields, "default_score")? }
        }
        "metadata_key" => Scorer::MetadataKey {
            key: fields.text(&["key"])?.ok_or_else(|| fields.missing("key"))?,
            value: fields.text(&["value"])?.ok_or_else(|| fields.missing("value"))?,
            boost: number(fields, "boost")?,
        },
        "decay" => Scorer::Decay {
            reference_time: fields
                .time("reference_time")?
                .ok_or_else(|| fields.missing("reference_time"))?,
            curve: named(fields, &["curve"], curve)?.ok_or_else(|| fields.missing("curve"))?,
            null_timestamp_score: fields.float(&["null_timestamp_score"])?,
        },
        _ => return Err(VectorError::new(format!("there is no scorer `{name}`"))),
    })
}

fn number(fields: &mut Fields, name: &str) -> Result<f64> {
    fields.float(&[name])?.ok_or_else(|| fields.missing(name))
}

fn children(fields: &mut Fields) -> Result<Option<Vec<WeightedScorer>>> {
    let Some(tables) = fields.tables(&["scorers", "children"])? else { return Ok(None) };
    let mut children = Vec::new();
    for mut child in tables {
        let weight = child.float(&["weight"])?.unwrap_or(1.0);
        let name = child.text(&["type"])?.ok_or_else(|| child.missing("type"))?;
        children.push(WeightedScorer { weight, scorer: scorer(&name, &mut child)? });
        child.finish();
    }
    Ok(Some(children))
}

fn kind_weights(fields: &mut Fields) -> Result<Option<Vec<KindWeight>>> {
    let use_defaults = fields.flag("use_default_weights")?;
    let tables = fields.tables(&["weights"])?;
    if use_defaults == Some(true) && tables.is_some() {
        return Err(fields.error("weights", "contradicts `use_default_weights = true`"));
    }
    let Some(tables) = tables else {
        return Ok((use_defaults == Some(false)).then(Vec::new));
    };
    let mut weights: Vec<KindWeight> = Vec::new();
    for mut entry in tables {
        let kind = entry.text(&["kind"])?.ok_or_else(|| entry.missing("kind"))?;
        if weights.iter().any(|other| other.kind.eq_ignore_ascii_case(&kind)) {
            return Err(entry.error("kind", "is given twice"));
        }
        weights.push(KindWeight { kind, weight: number(&mut entry, "weight")? });
        entry.finish();
    }
    Ok(Some(weights))
}

fn tag_weights(fields: &mut Fields) -> Result<Vec<TagWeight>> {
    let mut weights: Vec<TagWeight> = Vec::new();
    for mut entry in fields.tables(&["tag_weights"])?.unwrap_or_default() {
        let tag = entry.text(&["tag"])?.ok_or_else(|| entry.missing("tag"))?;
        if weights.iter().any(|other| other.tag == tag) {
            return Err(entry.error("tag", "is given twice"));
        }
        weights.push(TagWeight { tag, weight: number(&mut entry, "weight")? });
        entry.finish();
    }
    Ok(weights)
}

fn curve(name: &str, fields: &mut Fields) -> Result<Curve> {
    Ok(match name {
        "exponential" => Curve::Exponential { half_life_secs: number(fields, "half_life_secs")? },
        "window" => Curve::Window { max_age_secs: number(fields, "max_age_secs")? },
        "step" => Curve::Step { windows: step_windows(fields)? },
        _ => return Err(VectorError::new(format!("there is no curve `{name}`"))),
    })
}

fn step_windows(fields: &mut Fields) -> Result<Vec<StepWindow>> {
    let mut windows = Vec::new();
    for mut entry in fields.tables(&["windows"])?.unwrap_or_default() {
        windows.push(StepWindow {
            max_age_secs: number(&mut entry, "max_age_secs")?,
            score: number(&mut entry, "score")?,
        });
        entry.finish();
    }
    Ok(windows)
}

/// The slicer called `name`, with its options in `fields`.
pub(super) fn slicer(name: &str, fields: &mut Fields) -> Result<Slicer> {
    Ok(match plain(name).as_str() {
        "greedy" => Slicer::Greedy,
        "knapsack" => Slicer::Knapsack { bucket_size: fields.integer("bucket_size")? },
        "quota" => Slicer::Quota { quotas: quotas(fields)?, inner: inner_slicer(fields)? },
        "count_quota" => Slicer::CountQuota {
            entries: count_entries(fields)?,
            scarcity_behavior: scarcity_behavior(fields)?,
            inner: inner_slicer(fields)?,
        },
        "count_constrained_knapsack" => count_constrained_knapsack(fields)?,
        _ => return Err(VectorError::new(format!("there is no slicer `{name}`"))),
    })
}

fn inner_slicer(fields: &mut Fields) -> Result<Box<Slicer>> {
    let inner = named(fields, &["inner_slicer", "inner"], slicer)?;
    Ok(Box::new(inner.unwrap_or(Slicer::Greedy)))
}

fn count_constrained_knapsack(fields: &mut Fields) -> Result<Slicer> {
    let inner = fields.text(&["inner_slicer"])?;
    if inner.is_some_and(|inner| inner != "knapsack") {
        return Err(fields.error("inner_slicer", "can only be `knapsack` here"));
    }
    Ok(Slicer::CountConstrainedKnapsack {
        entries: count_entries(fields)?,
        scarcity_behavior: scarcity_behavior(fields)?,
        bucket_size: fields.integer("bucket_size")?,
    })
}

fn scarcity_behavior(fields: &mut Fields) -> Result<Option<ScarcityBehavior>> {
    let choices = [("degrade", ScarcityBehavior::Degrade), ("throw", ScarcityBehavior::Throw)];
    one_of(fields, "scarcity_behavior", &choices)
}

fn quotas(fields: &mut Fields) -> Result<Vec<Quota>> {
    let mut quotas = Vec::new();
    for mut entry in fields.tables(&["quotas"])?.unwrap_or_default() {
        quotas.push(Quota {
            kind: entry.text(&["kind"])?.ok_or_else(|| entry.missing("kind"))?,
            require: entry.float(&["require"])?.unwrap_or(0.0),
            cap: entry.float(&["cap"])?.unwrap_or(100.0),
        });
        entry.finish();
    }
    Ok(quotas)
}

fn count_entries(fields: &mut Fields) -> Result<Vec<CountEntry>> {
    let mut entries = Vec::new();
    for mut entry in fields.tables(&["entries"])?.unwrap_or_default() {
        entries.push(CountEntry {
            kind: entry.text(&["kind"])?.ok_or_else(|| entry.missing("kind"))?,
            require_count: entry
                .count("require_count")?
                .ok_or_else(|| entry.missing("require_count"))?,
            cap_count: entry.count("cap_count")?.ok_or_else(|| entry.missing("cap_count"))?,
        });
        entry.finish();
    }
    Ok(entries)
}
