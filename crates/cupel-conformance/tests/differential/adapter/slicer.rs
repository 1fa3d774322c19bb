//! Slicers.

use cupel::{
    CountConstrainedKnapsackSlice, CountQuotaEntry, CountQuotaSlice, GreedySlice, KnapsackSlice,
    QuotaSlice, ScarcityBehavior,
};
use cupel_conformance::oracle::{CountEntry, QuotaEntry, Scarcity, Slicer};

use super::kind;

pub(crate) fn slicer(slicer: &Slicer) -> Box<dyn cupel::Slicer> {
    match slicer {
        Slicer::Greedy => Box::new(GreedySlice),
        Slicer::Knapsack { bucket_size } => Box::new(knapsack(*bucket_size)),
        Slicer::Quota { entries, inner } => Box::new(
            QuotaSlice::new(quota_entries(entries), self::slicer(inner)).expect("valid quotas"),
        ),
        Slicer::CountQuota { entries, inner, scarcity } => Box::new(
            CountQuotaSlice::new(
                count_entries(entries),
                self::slicer(inner),
                scarcity_behavior(*scarcity),
            )
            .expect("valid count quotas"),
        ),
        Slicer::CountConstrainedKnapsack { entries, bucket_size, scarcity } => Box::new(
            CountConstrainedKnapsackSlice::new(
                count_entries(entries),
                knapsack(*bucket_size),
                scarcity_behavior(*scarcity),
            )
            .expect("valid count quotas"),
        ),
    }
}

fn knapsack(bucket_size: i64) -> KnapsackSlice {
    KnapsackSlice::new(bucket_size).expect("a positive bucket size")
}

fn quota_entries(entries: &[QuotaEntry]) -> Vec<cupel::QuotaEntry> {
    let entry = |entry: &QuotaEntry| {
        cupel::QuotaEntry::new(kind(&entry.kind), entry.require, entry.cap).expect("a valid share")
    };
    entries.iter().map(entry).collect()
}

fn count_entries(entries: &[CountEntry]) -> Vec<CountQuotaEntry> {
    let entry = |entry: &CountEntry| {
        CountQuotaEntry::new(kind(&entry.kind), entry.require_count, entry.cap_count)
            .expect("valid counts")
    };
    entries.iter().map(entry).collect()
}

fn scarcity_behavior(scarcity: Scarcity) -> ScarcityBehavior {
    match scarcity {
        Scarcity::Degrade => ScarcityBehavior::Degrade,
        Scarcity::Throw => ScarcityBehavior::Throw,
    }
}
