//! Scores by rank, shared by recency and priority.

use crate::order::positions_by_key;

/// Score of an item ranked by `key` among `keys`: the share of ranked peers below it.
pub(super) fn rank_score<K: Ord>(key: Option<K>, keys: impl Iterator<Item = Option<K>>) -> f64 {
    let Some(key) = key else { return 0.0 };
    let (mut ranked, mut below) = (0_usize, 0_usize);
    for peer in keys.flatten() {
        ranked += 1;
        below += usize::from(peer < key);
    }
    normalized(below, ranked)
}

/// The same for a whole list, with one sort. `lead` stands for a key, as in [`positions_by_key`].
pub(super) fn rank_scores<K: Ord>(
    keys: impl Iterator<Item = Option<K>>,
    lead: impl Fn(&K) -> u64,
    scores: &mut [f64],
) {
    scores.fill(0.0);
    let capacity = scores.len();
    let (mut ranked, mut positions) = (Vec::with_capacity(capacity), Vec::with_capacity(capacity));
    for (key, position) in keys.zip(0_u32..) {
        if let Some(key) = key {
            ranked.push(key);
            positions.push(position);
        }
    }
    let (mut below, mut previous) = (0, None);
    for (rank, at) in positions_by_key(&ranked, lead).into_iter().enumerate() {
        let key = &ranked[at as usize];
        if previous.replace(key) != Some(key) {
            below = rank;
        }
        scores[positions[at as usize] as usize] = normalized(below, ranked.len());
    }
}

fn normalized(below: usize, ranked: usize) -> f64 {
    // A lone ranked item is the top of its list.
    if ranked <= 1 { 1.0 } else { below as f64 / (ranked - 1) as f64 }
}
