//! Scorers.

use cupel::{
    CompositeScorer, ContextItem, DecayCurve, DecayScorer, FixedClock, FrequencyScorer, KindScorer,
    MetadataKeyScorer, MetadataTrustScorer, PriorityScorer, RecencyScorer, ReflexiveScorer,
    ScaledScorer, TagComparison, TagScorer,
};
use cupel_conformance::oracle::{Curve, Scorer, TagMatching};

use super::kind;

pub(crate) fn scorer(scorer: &Scorer) -> Box<dyn cupel::Scorer> {
    match scorer {
        Scorer::Recency => Box::new(RecencyScorer),
        Scorer::Priority => Box::new(PriorityScorer),
        Scorer::Kind { weights } => Box::new(kind_scorer(weights)),
        Scorer::Tag { weights, matching } => {
            let weights = weights.clone().into_iter().collect();
            let comparison = match matching {
                TagMatching::Exact => TagComparison::Exact,
                TagMatching::AsciiCaseless => TagComparison::AsciiCaseless,
            };
            Box::new(TagScorer::with_comparison(weights, comparison).expect("valid tag weights"))
        }
        Scorer::Frequency => Box::new(FrequencyScorer),
        Scorer::Reflexive => Box::new(ReflexiveScorer),
        Scorer::Composite { children } => Box::new(composite(children)),
        Scorer::Scaled { inner } => Box::new(ScaledScorer::new(self::scorer(inner))),
        Scorer::MetadataTrust { default_score } => {
            Box::new(MetadataTrustScorer::new(*default_score).expect("a score within 0 and 1"))
        }
        Scorer::MetadataKey { key, value, boost } => Box::new(
            MetadataKeyScorer::new(key.as_str(), value.as_str(), *boost).expect("a positive boost"),
        ),
        Scorer::Decay { now, curve, null_timestamp_score } => Box::new(
            DecayScorer::new(Box::new(FixedClock(*now)), decay_curve(curve), *null_timestamp_score)
                .expect("a valid curve"),
        ),
        Scorer::RawHint => Box::new(RawHint),
    }
}

fn kind_scorer(weights: &[(String, f64)]) -> KindScorer {
    let weights = weights.iter().map(|(name, weight)| (kind(name), *weight)).collect();
    KindScorer::new(weights).expect("valid kind weights")
}

fn composite(children: &[(Scorer, f64)]) -> CompositeScorer {
    let children = children.iter().map(|(child, weight)| (scorer(child), *weight)).collect();
    CompositeScorer::new(children).expect("positive weights")
}

fn decay_curve(curve: &Curve) -> DecayCurve {
    match curve {
        Curve::Exponential { half_life } => DecayCurve::exponential(*half_life),
        Curve::Step { windows } => DecayCurve::step(windows.clone()),
        Curve::Window { max_age } => DecayCurve::window(*max_age),
    }
    .expect("a valid curve")
}

/// A user's own scorer that returns the hint untouched.
struct RawHint;

impl cupel::Scorer for RawHint {
    fn score(&self, item: &ContextItem, _all_items: &[ContextItem]) -> f64 {
        item.future_relevance_hint().unwrap_or(0.0)
    }
}
