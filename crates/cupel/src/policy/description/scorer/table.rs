//! Reading of scorers.

use std::collections::{BTreeMap, HashMap};

use super::super::custom::CustomStrategy;
use super::super::defaults;
use super::super::table::{self, strategies};
use super::{ScorerDescription, WeightedScorer};
use crate::wire::{Fields, Problem, Read, Value};

strategies! {
    ScorerDescription, else Custom;
    Recency = "recency": |_| Ok(Self::Recency),
    Priority = "priority": |_| Ok(Self::Priority),
    Kind = "kind": |fields| {
        Ok(Self::Kind { weights: fields.optional::<HashMap<_, _>>("weights")?.map(sorted) })
    },
    Tag = "tag": |fields| Ok(Self::Tag {
        weights: sorted(fields.required("weights")?),
        caseless: fields.or_default("caseless")?,
    }),
    Frequency = "frequency": |_| Ok(Self::Frequency),
    Reflexive = "reflexive": |_| Ok(Self::Reflexive),
    Composite = "composite": |fields| Ok(Self::Composite { scorers: fields.required("scorers")? }),
    Scaled = "scaled": |fields| Ok(Self::Scaled { scorer: fields.required("scorer")? }),
    MetadataTrust = "metadata-trust": |fields| Ok(Self::MetadataTrust {
        default_score: fields.or_else("default_score", defaults::neutral_score)?,
    }),
    MetadataKey = "metadata-key": |fields| Ok(Self::MetadataKey {
        key: fields.required("key")?,
        value: fields.required("value")?,
        boost: fields.required("boost")?,
    }),
    Decay = "decay": |fields| Ok(Self::Decay {
        curve: fields.required("curve")?,
        null_timestamp_score: fields.or_else("null_timestamp_score", defaults::neutral_score)?,
        reference_time: fields.optional("reference_time")?,
    }),
}

fn sorted(weights: HashMap<String, f64>) -> BTreeMap<String, f64> {
    weights.into_iter().collect()
}

fn read_scorer(name: &str, fields: &mut Fields<'_>) -> Result<ScorerDescription, Problem> {
    match table::find(ScorerDescription::TABLE, name) {
        Some(strategy) => (strategy.read)(fields),
        None => Ok(CustomStrategy::read(name, fields).into()),
    }
}

impl Read for ScorerDescription {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        let (name, mut fields) = table::name_and_options(value)?;
        let scorer = read_scorer(&name, &mut fields)?;
        fields.deny_rest()?;
        Ok(scorer)
    }
}

impl Read for WeightedScorer {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        let (name, mut fields) = table::name_and_options(value)?;
        let weight = fields.or_else("weight", defaults::weight)?;
        let scorer = read_scorer(&name, &mut fields)?;
        fields.deny_rest()?;
        Ok(Self { weight, scorer })
    }
}
