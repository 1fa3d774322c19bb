//! Scores by rank, shared by recency and priority.

/// What an item ranked by `key` scores among `keys`: the share of ranked peers below it.
pub(super) fn rank_score<K: Ord>(
    key: Option<K>,
    keys: impl Iterator<Item = Option<K>>,
) -> f64 {
    let Some(key) = key else { return 0.0 };
    let (mut ranked, mut below) = (0_usize, 0_usize);
    for peer in keys.flatten() {
        ranked += 1;
        below += usize::from(peer < key);
    }
    normalized(below, ranked)
}

/// The same for a whole list, with one sort.
pub(super) fn rank_scores<K: Ord>(keys: impl Iterator<Item = Option<K>>, scores: &mut [f64]) {
    scores.fill(0.0);
    let mut ranked: Vec<(K, u32)> =
        keys.zip(0..).filter_map(|(key, position)| Some((key?, position))).collect();
    ranked.sort_unstable();
    let mut below = 0;
    for (index, (key, position)) in ranked.iter().enumerate() {
        if index > 0 && ranked[index - 1].0 != *key {
            below = index;
        }
        scores[*position as usize] = normalized(below, ranked.len());
    }
}

fn normalized(below: usize, ranked: usize) -> f64 {
    // A lone ranked item is the top of its list.
    if ranked <= 1 { 1.0 } else { below as f64 / (ranked - 1) as f64 }
}
