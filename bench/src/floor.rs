//! What nobody can avoid: read every text once to know duplicates, put the
//! items in order, hand out the winners.

use std::hash::{BuildHasher, RandomState};
use std::hint::black_box;

use crate::ours::lib::ContextItem;

/// Hashes every text with the standard library's default hasher, orders one
/// 64-bit key an item (moment and position), and clones the handles of the
/// newest quarter, newest first.
pub fn floor(items: &[ContextItem]) -> Vec<ContextItem> {
    let hasher = RandomState::new();
    for item in items {
        black_box(hasher.hash_one(item.content()));
    }

    let mut keys: Vec<u64> = items.iter().zip(0..).map(|(item, at)| key(item) << 32 | at).collect();
    keys.sort_unstable();

    let position = |key: &u64| (key & u64::from(u32::MAX)) as usize;
    keys.iter().rev().take(items.len() / 4).map(|key| items[position(key)].clone()).collect()
}

/// The data's timestamps are seconds that fit 32 bits.
fn key(item: &ContextItem) -> u64 {
    item.timestamp().map_or(0, |moment| moment.timestamp().cast_unsigned())
}
