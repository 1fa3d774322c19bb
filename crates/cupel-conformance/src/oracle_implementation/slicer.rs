//! Slicers, by the rules of their construction.

use super::build::kind;
use crate::oracle;
use crate::protocol::{CountEntry, ErrorAnswer, Quota, ScarcityBehavior, Slicer};

type Result<T> = std::result::Result<T, ErrorAnswer>;

const DEFAULT_BUCKET_SIZE: i64 = 100;

pub(super) fn slicer(slicer: &Slicer) -> Result<oracle::Slicer> {
    Ok(match slicer {
        Slicer::Greedy => oracle::Slicer::Greedy,
        Slicer::Knapsack { bucket_size } => {
            oracle::Slicer::Knapsack { bucket_size: self::bucket_size(*bucket_size)? }
        }
        Slicer::Quota { quotas, inner } => oracle::Slicer::Quota {
            entries: self::quotas(quotas)?,
            inner: Box::new(self::slicer(inner)?),
        },
        Slicer::CountQuota { entries, scarcity_behavior, inner } => {
            if uses_knapsack(inner) {
                return Err(refuse("a knapsack cannot be inside of a count quota".to_owned()));
            }
            oracle::Slicer::CountQuota {
                entries: count_entries(entries)?,
                inner: Box::new(self::slicer(inner)?),
                scarcity: scarcity(*scarcity_behavior),
            }
        }
        Slicer::CountConstrainedKnapsack { entries, scarcity_behavior, bucket_size } => {
            oracle::Slicer::CountConstrainedKnapsack {
                entries: count_entries(entries)?,
                bucket_size: self::bucket_size(*bucket_size)?,
                scarcity: scarcity(*scarcity_behavior),
            }
        }
    })
}

fn refuse(text: String) -> ErrorAnswer {
    ErrorAnswer::new("slicer_config", text)
}

fn bucket_size(bucket_size: Option<i64>) -> Result<i64> {
    match bucket_size.unwrap_or(DEFAULT_BUCKET_SIZE) {
        bucket_size if bucket_size > 0 => Ok(bucket_size),
        bucket_size => Err(refuse(format!("bucket_size cannot be {bucket_size}"))),
    }
}

fn scarcity(behavior: Option<ScarcityBehavior>) -> oracle::Scarcity {
    match behavior {
        None | Some(ScarcityBehavior::Degrade) => oracle::Scarcity::Degrade,
        Some(ScarcityBehavior::Throw) => oracle::Scarcity::Throw,
    }
}

/// Whether a knapsack is anywhere inside.
fn uses_knapsack(slicer: &Slicer) -> bool {
    match slicer {
        Slicer::Greedy => false,
        Slicer::Knapsack { .. } | Slicer::CountConstrainedKnapsack { .. } => true,
        Slicer::Quota { inner, .. } | Slicer::CountQuota { inner, .. } => uses_knapsack(inner),
    }
}

fn quotas(quotas: &[Quota]) -> Result<Vec<oracle::QuotaEntry>> {
    distinct(quotas.iter().map(|quota| quota.kind.as_str()))?;
    let mut entries = Vec::new();
    let mut required = 0.0;
    for quota in quotas {
        let Quota { require, cap, .. } = *quota;
        let in_range = [require, cap].iter().all(|percent| (0.0..=100.0).contains(percent));
        if !in_range || require > cap {
            return Err(refuse(format!("{}: {require} to {cap} percent", quota.kind)));
        }
        required += require;
        entries.push(oracle::QuotaEntry { kind: kind(&quota.kind)?, require, cap });
    }
    if required > 100.0 {
        return Err(refuse(format!("{required} percent are required together")));
    }
    Ok(entries)
}

fn count_entries(entries: &[CountEntry]) -> Result<Vec<oracle::CountEntry>> {
    distinct(entries.iter().map(|entry| entry.kind.as_str()))?;
    let checked = entries.iter().map(|entry| {
        let CountEntry { require_count, cap_count, .. } = *entry;
        if require_count > cap_count {
            let text = format!("{}: {require_count} required, {cap_count} allowed", entry.kind);
            return Err(refuse(text));
        }
        Ok(oracle::CountEntry { kind: kind(&entry.kind)?, require_count, cap_count })
    });
    checked.collect()
}

/// Each kind has one entry, whatever its case.
fn distinct<'a>(kinds: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut seen: Vec<&str> = Vec::new();
    for kind in kinds {
        if seen.iter().any(|other| other.eq_ignore_ascii_case(kind)) {
            return Err(refuse(format!("kind `{kind}` has two entries")));
        }
        seen.push(kind);
    }
    Ok(())
}
