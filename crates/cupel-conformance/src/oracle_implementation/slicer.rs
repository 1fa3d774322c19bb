//! Validation rules of slicers.

use super::Checked;
use super::rules::kind;
use crate::protocol::{CountEntry, ErrorAnswer, Quota, Slicer};

pub(super) fn check(slicer: &Slicer) -> Checked {
    match slicer {
        Slicer::Greedy => Ok(()),
        Slicer::Knapsack { bucket_size } => self::bucket_size(*bucket_size),
        Slicer::Quota { quotas, inner } => {
            self::quotas(quotas)?;
            check(inner)
        }
        Slicer::CountQuota { entries, inner, .. } => {
            if uses_knapsack(inner) {
                return Err(refuse("a knapsack cannot be inside of a count quota".to_owned()));
            }
            count_entries(entries)?;
            check(inner)
        }
        Slicer::CountConstrainedKnapsack { entries, bucket_size, .. } => {
            count_entries(entries)?;
            self::bucket_size(*bucket_size)
        }
    }
}

fn refuse(text: String) -> ErrorAnswer {
    ErrorAnswer::new("slicer_config", text)
}

fn bucket_size(bucket_size: Option<i64>) -> Checked {
    match bucket_size {
        Some(size) if size <= 0 => Err(refuse(format!("bucket_size cannot be {size}"))),
        _ => Ok(()),
    }
}

/// Returns true if a knapsack is anywhere inside.
fn uses_knapsack(slicer: &Slicer) -> bool {
    match slicer {
        Slicer::Greedy => false,
        Slicer::Knapsack { .. } | Slicer::CountConstrainedKnapsack { .. } => true,
        Slicer::Quota { inner, .. } | Slicer::CountQuota { inner, .. } => uses_knapsack(inner),
    }
}

fn quotas(quotas: &[Quota]) -> Checked {
    distinct(quotas.iter().map(|quota| quota.kind.as_str()))?;
    let mut required = 0.0;
    for quota in quotas {
        let Quota { require, cap, .. } = *quota;
        let in_range = [require, cap].iter().all(|percent| (0.0..=100.0).contains(percent));
        if !in_range || require > cap {
            return Err(refuse(format!("{}: {require} to {cap} percent", quota.kind)));
        }
        required += require;
        kind(&quota.kind)?;
    }
    if required > 100.0 {
        return Err(refuse(format!("{required} percent are required together")));
    }
    Ok(())
}

fn count_entries(entries: &[CountEntry]) -> Checked {
    distinct(entries.iter().map(|entry| entry.kind.as_str()))?;
    entries.iter().try_for_each(|entry| {
        let CountEntry { require_count, cap_count, .. } = *entry;
        if require_count > cap_count {
            let text = format!("{}: {require_count} required, {cap_count} allowed", entry.kind);
            return Err(refuse(text));
        }
        kind(&entry.kind)
    })
}

/// Each kind has one entry, whatever its case.
fn distinct<'a>(kinds: impl Iterator<Item = &'a str>) -> Checked {
    let mut seen: Vec<&str> = Vec::new();
    for kind in kinds {
        if seen.iter().any(|other| other.eq_ignore_ascii_case(kind)) {
            return Err(refuse(format!("kind `{kind}` has two entries")));
        }
        seen.push(kind);
    }
    Ok(())
}
