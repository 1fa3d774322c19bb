//! From data to scorers.

use std::collections::{BTreeMap, HashMap};

use super::super::environment::Environment;
use super::{ScorerDescription, WeightedScorer};
use crate::wire::Problem;
use crate::{
    CompositeScorer, ContextKind, DecayScorer, FixedClock, FrequencyScorer, KindScorer,
    MetadataKeyScorer, MetadataTrustScorer, PriorityScorer, RecencyScorer, ReflexiveScorer,
    ScaledScorer, Scorer, TagComparison, TagScorer,
};

/// The scorer for a list of weighted ones.
pub(in super::super) fn combine(
    scorers: &[WeightedScorer],
    environment: Environment<'_>,
) -> Result<Box<dyn Scorer>, Problem> {
    let entries = build_all(scorers, environment).map_err(|problem| problem.in_field("scorers"))?;
    // Its messages name the position and the weight.
    Ok(CompositeScorer::new(entries)?.simplified())
}

/// Scorers, each with its weight.
pub type WeightedScorers = Vec<(Box<dyn Scorer>, f64)>;

/// Scorers with their weights, which are not checked here.
pub(in super::super) fn build_all(
    scorers: &[WeightedScorer],
    environment: Environment<'_>,
) -> Result<WeightedScorers, Problem> {
    let entries = scorers.iter().enumerate().map(|(index, weighted)| {
        let built = weighted.scorer.build(environment);
        let scorer = built.map_err(|problem| problem.in_list(index))?;
        Ok((scorer, weighted.weight))
    });
    entries.collect()
}

impl ScorerDescription {
    /// The scorer itself, and the path to what is wrong with it otherwise.
    pub(in super::super) fn build(
        &self,
        environment: Environment<'_>,
    ) -> Result<Box<dyn Scorer>, Problem> {
        Ok(match self {
            Self::Recency => Box::new(RecencyScorer),
            Self::Priority => Box::new(PriorityScorer),
            Self::Kind { weights: None } => Box::new(KindScorer::with_default_weights()),
            Self::Kind { weights: Some(weights) } => Box::new(kind_scorer(weights)?),
            Self::Tag { weights, caseless } => {
                let comparison =
                    if *caseless { TagComparison::AsciiCaseless } else { TagComparison::Exact };
                let weights = weights.iter().map(|(tag, weight)| (tag.clone(), *weight)).collect();
                Box::new(TagScorer::with_comparison(weights, comparison)?)
            }
            Self::Frequency => Box::new(FrequencyScorer),
            Self::Reflexive => Box::new(ReflexiveScorer),
            Self::Composite { scorers } => combine(scorers, environment)?,
            Self::Scaled { scorer } => {
                let inner = scorer.build(environment);
                let inner = inner.map_err(|problem| problem.in_field("scorer"))?;
                Box::new(ScaledScorer::new(inner))
            }
            Self::MetadataTrust { default_score } => {
                Box::new(MetadataTrustScorer::new(*default_score)?)
            }
            Self::MetadataKey { key, value, boost } => {
                Box::new(MetadataKeyScorer::new(key, value, *boost)?)
            }
            Self::Decay { curve, null_timestamp_score, reference_time } => {
                let of = |clock| DecayScorer::new(clock, curve.curve(), *null_timestamp_score);
                Box::new(match reference_time {
                    Some(now) => of(Box::new(FixedClock(*now)))?,
                    None => of(Box::new(environment.clock.clone()))?.following_run(),
                })
            }
            Self::Custom(custom) => environment.scorer(custom)?,
        })
    }
}

fn kind_scorer(weights: &BTreeMap<String, f64>) -> Result<KindScorer, Problem> {
    let mut by_kind = HashMap::new();
    for (name, weight) in weights {
        let kind = ContextKind::new(name.clone())
            .map_err(|error| Problem::from(error).in_field("weights"))?;
        if by_kind.insert(kind, *weight).is_some() {
            let text = format!("kind `{name}` occurs more than once");
            return Err(Problem::new(text).in_field("weights"));
        }
    }
    Ok(KindScorer::new(by_kind)?)
}
