//! Strategies, by the library's constructors.

use chrono::TimeDelta;
use cupel::{
    ChronologicalPlacer, CompositeScorer, ContextItem, ContextKind, CountConstrainedKnapsackSlice,
    CountQuotaEntry, CountQuotaSlice, CupelError, DecayCurve, DecayScorer, FixedClock,
    FrequencyScorer, GreedySlice, KindScorer, KnapsackSlice, MetadataKeyScorer,
    MetadataTrustScorer, PriorityScorer, QuotaEntry, QuotaSlice, RecencyScorer, ReflexiveScorer,
    ScaledScorer, TagScorer, UShapedPlacer,
};

use crate::protocol::{
    CountEntry, Curve, OverflowStrategy, Placer, Policy, Quota, ScarcityBehavior, Scorer, Slicer,
    TagComparison, duration,
};

type Result<T> = std::result::Result<T, CupelError>;

/// A policy.
///
/// # Errors
///
/// Errors of the constructors of its strategies.
pub fn policy(policy: &Policy) -> Result<cupel::Policy> {
    let mut builder = cupel::PolicyBuilder::new()
        .scorer(scorer(&policy.scorer)?)
        .slicer(slicer(&policy.slicer)?)
        .placer(placer(policy.placer));
    if let Some(deduplication) = policy.deduplication {
        builder = builder.deduplication(deduplication);
    }
    if let Some(strategy) = policy.overflow_strategy {
        builder = builder.overflow_strategy(match strategy {
            OverflowStrategy::Throw => cupel::OverflowStrategy::Throw,
            OverflowStrategy::Truncate => cupel::OverflowStrategy::Truncate,
            OverflowStrategy::Proceed => cupel::OverflowStrategy::Proceed,
        });
    }
    builder.build()
}

/// A placer.
pub fn placer(placer: Placer) -> Box<dyn cupel::Placer> {
    match placer {
        Placer::Chronological => Box::new(ChronologicalPlacer),
        Placer::UShaped => Box::new(UShapedPlacer),
    }
}

/// A scorer.
///
/// # Errors
///
/// Errors of its constructor.
pub fn scorer(scorer: &Scorer) -> Result<Box<dyn cupel::Scorer>> {
    Ok(match scorer {
        Scorer::Recency => Box::new(RecencyScorer),
        Scorer::Priority => Box::new(PriorityScorer),
        Scorer::Frequency => Box::new(FrequencyScorer),
        Scorer::Reflexive => Box::new(ReflexiveScorer),
        Scorer::Kind { weights: None } => Box::new(KindScorer::with_default_weights()),
        Scorer::Kind { weights: Some(weights) } => {
            let weights =
                weights.iter().map(|entry| Ok((ContextKind::new(&entry.kind)?, entry.weight)));
            Box::new(KindScorer::new(weights.collect::<Result<_>>()?)?)
        }
        Scorer::Tag { tag_weights, tag_comparison } => {
            let weights = tag_weights.iter().map(|entry| (entry.tag.clone(), entry.weight));
            let weights = weights.collect();
            Box::new(match tag_comparison {
                None => TagScorer::new(weights)?,
                Some(comparison) => TagScorer::with_comparison(weights, matching(*comparison))?,
            })
        }
        Scorer::Composite { scorers } => {
            let children =
                scorers.iter().map(|child| Ok((self::scorer(&child.scorer)?, child.weight)));
            Box::new(CompositeScorer::new(children.collect::<Result<_>>()?)?)
        }
        Scorer::Scaled { inner } => Box::new(ScaledScorer::new(self::scorer(inner)?)),
        Scorer::MetadataTrust { default_score } => {
            Box::new(MetadataTrustScorer::new(*default_score)?)
        }
        Scorer::MetadataKey { key, value, boost } => {
            Box::new(MetadataKeyScorer::new(key, value, *boost)?)
        }
        Scorer::Decay { reference_time, curve, null_timestamp_score } => {
            let clock = Box::new(FixedClock(*reference_time));
            let missing = null_timestamp_score.unwrap_or(0.5);
            Box::new(DecayScorer::new(clock, self::curve(curve)?, missing)?)
        }
        Scorer::RawHint => Box::new(RawHint),
    })
}

/// A user's own scorer that returns the hint as it is.
struct RawHint;

impl cupel::Scorer for RawHint {
    fn score(&self, item: &ContextItem, _all_items: &[ContextItem]) -> f64 {
        item.future_relevance_hint().unwrap_or(0.0)
    }
}

fn matching(comparison: TagComparison) -> cupel::TagComparison {
    match comparison {
        TagComparison::Exact => cupel::TagComparison::Exact,
        TagComparison::AsciiCaseless => cupel::TagComparison::AsciiCaseless,
    }
}

fn curve(curve: &Curve) -> Result<DecayCurve> {
    match curve {
        Curve::Exponential { half_life_secs } => DecayCurve::exponential(time(*half_life_secs)?),
        Curve::Window { max_age_secs } => DecayCurve::window(time(*max_age_secs)?),
        Curve::Step { windows } => {
            let windows =
                windows.iter().map(|window| Ok((time(window.max_age_secs)?, window.score)));
            DecayCurve::step(windows.collect::<Result<_>>()?)
        }
    }
}

fn time(seconds: f64) -> Result<TimeDelta> {
    let text = || format!("{seconds} seconds are not a duration");
    duration(seconds).ok_or_else(|| CupelError::ScorerConfig(text()))
}

/// A slicer.
///
/// # Errors
///
/// Errors of its constructor.
pub fn slicer(slicer: &Slicer) -> Result<Box<dyn cupel::Slicer>> {
    Ok(match slicer {
        Slicer::Greedy => Box::new(GreedySlice),
        Slicer::Knapsack { bucket_size } => Box::new(knapsack(*bucket_size)?),
        Slicer::Quota { quotas, inner } => {
            Box::new(QuotaSlice::new(self::quotas(quotas)?, self::slicer(inner)?)?)
        }
        Slicer::CountQuota { entries, scarcity_behavior, inner } => Box::new(CountQuotaSlice::new(
            count_entries(entries)?,
            self::slicer(inner)?,
            scarcity(*scarcity_behavior),
        )?),
        Slicer::CountConstrainedKnapsack { entries, scarcity_behavior, bucket_size } => {
            Box::new(CountConstrainedKnapsackSlice::new(
                count_entries(entries)?,
                knapsack(*bucket_size)?,
                scarcity(*scarcity_behavior),
            )?)
        }
    })
}

fn knapsack(bucket_size: Option<i64>) -> Result<KnapsackSlice> {
    bucket_size.map_or_else(|| Ok(KnapsackSlice::with_default_bucket_size()), KnapsackSlice::new)
}

fn scarcity(behavior: Option<ScarcityBehavior>) -> cupel::ScarcityBehavior {
    match behavior {
        None => cupel::ScarcityBehavior::default(),
        Some(ScarcityBehavior::Degrade) => cupel::ScarcityBehavior::Degrade,
        Some(ScarcityBehavior::Throw) => cupel::ScarcityBehavior::Throw,
    }
}

fn quotas(quotas: &[Quota]) -> Result<Vec<QuotaEntry>> {
    let entry =
        |quota: &Quota| QuotaEntry::new(ContextKind::new(&quota.kind)?, quota.require, quota.cap);
    quotas.iter().map(entry).collect()
}

fn count_entries(entries: &[CountEntry]) -> Result<Vec<CountQuotaEntry>> {
    let entry = |entry: &CountEntry| {
        CountQuotaEntry::new(ContextKind::new(&entry.kind)?, entry.require_count, entry.cap_count)
    };
    entries.iter().map(entry).collect()
}
