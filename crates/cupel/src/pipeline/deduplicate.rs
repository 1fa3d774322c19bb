//! Stage 3: of items with the same text, byte for byte, the best one survives.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::score::Scored;
use crate::ContextItem;
use crate::diagnostics::ExclusionReason;
use crate::order::descending_key;

/// Which items survive. Numbers count the items that were scored.
pub(super) struct Unique {
    /// In input order.
    pub(super) survivors: Vec<u32>,
    /// Each dropped item with the survivor of the same text, in input order.
    duplicates: Vec<(u32, u32)>,
}

pub(super) fn deduplicate(scored: &Scored<'_, '_>, enabled: bool) -> Unique {
    let count = scored.len();
    let mut survivors: Vec<u32> = Vec::with_capacity(count);
    if !enabled {
        survivors.extend(0..count as u32);
        return Unique { survivors, duplicates: Vec::new() };
    }
    let mut best: HashMap<&str, u32, foldhash::fast::RandomState> =
        HashMap::with_capacity_and_hasher(count, foldhash::fast::RandomState::default());
    let key = |index: u32| descending_key(scored.scores[index as usize]);
    for index in 0..count as u32 {
        match best.entry(scored.item(index as usize).content()) {
            Entry::Vacant(vacant) => {
                vacant.insert(index);
            }
            // On a tie the earlier one stays.
            Entry::Occupied(mut best) if key(index) < key(*best.get()) => {
                best.insert(index);
            }
            Entry::Occupied(_) => {}
        }
    }
    if best.len() == count {
        survivors.extend(0..count as u32);
        return Unique { survivors, duplicates: Vec::new() };
    }
    let mut duplicates = Vec::new();
    for index in 0..count as u32 {
        match best.get(scored.item(index as usize).content()) {
            Some(survivor) if *survivor != index => duplicates.push((index, *survivor)),
            _ => survivors.push(index),
        }
    }
    Unique { survivors, duplicates }
}

impl Unique {
    pub(super) fn len(&self) -> usize {
        self.survivors.len()
    }

    pub(super) fn exclusions<'a>(
        &self,
        scored: &Scored<'_, 'a>,
    ) -> impl Iterator<Item = (&'a ContextItem, f64, ExclusionReason)> {
        self.duplicates.iter().map(|(duplicate, survivor)| {
            let deduplicated_against = scored.item(*survivor as usize).content().to_owned();
            let reason = ExclusionReason::Deduplicated { deduplicated_against };
            (scored.item(*duplicate as usize), scored.scores[*duplicate as usize], reason)
        })
    }
}
