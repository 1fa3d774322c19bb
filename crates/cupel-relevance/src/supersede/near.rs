//! Texts that say nearly the same.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};

use cupel::ContextItem;
use foldhash::fast::FixedState;

use super::{Found, Reason};
use crate::overlap::{in_common, jaccard};
use crate::text::{Ids, for_each_word};

/// Number of words a text must have: what is shorter is too easily alike.
const FEWEST_WORDS: usize = 10;
const RUN: usize = 3;
/// Number of newer texts a text is compared with.
const MOST: usize = 32;

pub(super) fn find(found: &mut Found<'_>, likeness: f64) {
    let texts = found.current();
    let runs: Vec<Vec<u64>> = texts.iter().map(|at| runs_of(&found.items[*at])).collect();
    let frequencies = frequencies(&runs);
    let mut ids = Ids::new();
    for at in &texts {
        ids.add(found.items[*at].content());
    }
    // For each run the newer texts that have it among their rarest.
    let mut newer_by_run: HashMap<u64, Vec<usize>, FixedState> = HashMap::default();
    for (older, runs_of_older) in runs.iter().enumerate() {
        let rarest = rarest(runs_of_older, &frequencies, likeness);
        let mut tried = Vec::new();
        let newer = rarest.iter().filter_map(|run| newer_by_run.get(run)).flatten().copied();
        let alike = newer.take(MOST).find_map(|newer| {
            if tried.contains(&newer) {
                return None;
            }
            tried.push(newer);
            let similarity = jaccard(runs_of_older, &runs[newer]);
            let ids_of_older = ids.of(older);
            let keeps_ids = in_common(ids_of_older, ids.of(newer)) == ids_of_older.len();
            (similarity >= likeness && keeps_ids).then_some((newer, similarity))
        });
        if let Some((newer, similarity)) = alike {
            found.note(texts[older], texts[newer], Reason::NearDuplicate { similarity });
        }
        if found.is_current(texts[older]) {
            for run in rarest {
                newer_by_run.entry(run).or_default().push(older);
            }
        }
    }
}

/// The distinct runs of words of a text as numbers, sorted; none for a short text.
fn runs_of(item: &ContextItem) -> Vec<u64> {
    let hasher = FixedState::default();
    let mut words = Vec::new();
    for_each_word(item.content(), |word| {
        let mut state = hasher.build_hasher();
        word.chars().flat_map(char::to_lowercase).for_each(|letter| state.write_u32(letter.into()));
        words.push(state.finish());
    });
    if words.len() < FEWEST_WORDS {
        return Vec::new();
    }
    let mut runs: Vec<u64> = words.windows(RUN).map(|run| hasher.hash_one(run)).collect();
    runs.sort_unstable();
    runs.dedup();
    runs
}

fn frequencies(runs: &[Vec<u64>]) -> HashMap<u64, u32, FixedState> {
    let mut frequencies: HashMap<u64, u32, FixedState> = HashMap::default();
    for run in runs.iter().flatten() {
        let frequency = frequencies.entry(*run).or_default();
        *frequency = frequency.saturating_add(1);
    }
    frequencies
}

/// So many of the rarest runs that two texts as alike as that must share one of them.
fn rarest(runs: &[u64], frequencies: &HashMap<u64, u32, FixedState>, likeness: f64) -> Vec<u64> {
    let mut rarest = runs.to_vec();
    rarest.sort_unstable_by_key(|run| (frequencies[run], *run));
    let shared = (likeness * runs.len() as f64).ceil() as usize;
    rarest.truncate((runs.len() + 1).saturating_sub(shared.max(1)).min(runs.len()));
    rarest
}
