//! The 0/1 knapsack by dynamic programming, with the table's useless parts left out.
//!
//! The textbook table has a row per candidate and a column per bucket, and marks where a candidate
//! strictly improves on those before it; walking it back from the last row gives the selection.
//! Four things never change that walk, and are not computed:
//!
//! - candidates of value 0, or larger than the capacity: they never improve;
//! - a candidate behind as many others of its weight as the capacity holds, none worth less: any
//!   packing that has it lacks one of those, which could take its place;
//! - columns beyond the weight of all candidates so far: they equal the last column before;
//! - columns so small that the walk cannot get there with the candidates that are left.

use std::collections::HashMap;
use std::ops::Add;

/// A candidate for the knapsack.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packable {
    /// Where it stands in the caller's list.
    pub(super) position: usize,
    /// Buckets that it takes.
    pub(super) weight: u64,
    /// Value of the item.
    pub(super) value: u64,
}

/// Positions of the best packing, in the order in which the table is walked back: last first.
pub(super) fn best_packing(packables: impl Iterator<Item = Packable>, capacity: u64) -> Vec<usize> {
    let relevant = relevant(packables, capacity);
    let total: u128 = relevant.iter().map(|packable| u128::from(packable.value)).sum();
    // Narrow sums let the compiler work on more columns at a time.
    if total <= u128::from(u32::MAX) {
        pack(&relevant, capacity as usize, |value| value as u32)
    } else if total <= u128::from(u64::MAX) {
        pack(&relevant, capacity as usize, |value| value)
    } else {
        pack(&relevant, capacity as usize, u128::from)
    }
}

fn relevant(packables: impl Iterator<Item = Packable>, capacity: u64) -> Vec<Packable> {
    struct SameWeight {
        count: u64,
        least_value: u64,
    }
    let mut seen: HashMap<u64, SameWeight, foldhash::fast::RandomState> = HashMap::default();
    let mut relevant = Vec::new();
    for packable in packables {
        if packable.value == 0 || packable.weight > capacity {
            continue;
        }
        let same = seen
            .entry(packable.weight)
            .or_insert(SameWeight { count: 0, least_value: packable.value });
        let is_full = same.count >= capacity / packable.weight;
        if is_full && packable.value <= same.least_value {
            continue;
        }
        same.count += 1;
        same.least_value = same.least_value.min(packable.value);
        relevant.push(packable);
    }
    relevant
}

/// Marks of one candidate: whether it improves, for the columns from `first` on.
struct Row {
    first: usize,
    last: usize,
    /// Where its bits begin, in bytes.
    offset: usize,
}

fn pack<T>(packables: &[Packable], capacity: usize, value_of: fn(u64) -> T) -> Vec<usize>
where
    T: Copy + Default + PartialOrd + Add<Output = T>,
{
    let mut weight_left: u64 = packables.iter().map(|packable| packable.weight).sum();
    let mut columns_used = 0;
    let mut best = vec![T::default(); capacity + 1];
    let mut next = best.clone();
    let mut improves = vec![0_u8; capacity + 8];
    let mut bits: Vec<u8> = Vec::new();
    let mut rows = Vec::with_capacity(packables.len());
    for packable in packables {
        let weight = packable.weight as usize;
        weight_left -= packable.weight;
        let last = capacity.min(columns_used + weight);
        let plateau = best[columns_used];
        best[columns_used + 1..=last].fill(plateau);
        columns_used = last;
        let reachable = (capacity as u64).saturating_sub(weight_left) as usize;
        // Beyond the last column everything equals it, so that one must be there.
        let first = weight.max(reachable).min(last);
        rows.push(Row { first, last, offset: bits.len() });
        let width = last - first + 1;
        next[..first].copy_from_slice(&best[..first]);
        improve(
            &best[first..=last],
            &best[first - weight..=last - weight],
            value_of(packable.value),
            &mut next[first..=last],
            &mut improves[..width],
        );
        improves[width..width + 7].fill(0);
        bits.extend(improves[..width.next_multiple_of(8)].chunks_exact(8).map(pack_bits));
        std::mem::swap(&mut best, &mut next);
    }
    walk_back(packables, &rows, &bits, capacity)
}

/// One row: for each column, with or without the candidate, whichever is strictly better.
fn improve<T>(without: &[T], base: &[T], value: T, best: &mut [T], improves: &mut [u8])
where
    T: Copy + PartialOrd + Add<Output = T>,
{
    let columns = without.iter().zip(base).zip(best.iter_mut().zip(improves));
    for ((without, base), (best, improves)) in columns {
        let with = *base + value;
        let is_better = with > *without;
        *best = if is_better { with } else { *without };
        *improves = u8::from(is_better);
    }
}

/// Eight bytes of 0 or 1 as the bits of one.
fn pack_bits(bytes: &[u8]) -> u8 {
    let mut packed = 0;
    for (bit, byte) in bytes.iter().enumerate() {
        packed |= byte << bit;
    }
    packed
}

fn walk_back(packables: &[Packable], rows: &[Row], bits: &[u8], capacity: usize) -> Vec<usize> {
    let mut selected = Vec::new();
    let mut remaining = capacity;
    for (packable, row) in packables.iter().zip(rows).rev() {
        let column = remaining.min(row.last);
        if column < row.first {
            continue;
        }
        let bit = column - row.first;
        if bits[row.offset + bit / 8] >> (bit % 8) & 1 == 1 {
            selected.push(packable.position);
            remaining -= packable.weight as usize;
        }
    }
    selected
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The textbook algorithm, cell by cell.
    fn textbook(packables: &[Packable], capacity: usize) -> Vec<usize> {
        let mut best = vec![0_u128; capacity + 1];
        let mut keep = vec![vec![false; capacity + 1]; packables.len()];
        for (packable, keep) in packables.iter().zip(&mut keep) {
            let weight = packable.weight as usize;
            for column in (weight..=capacity).rev() {
                let with = best[column - weight] + u128::from(packable.value);
                if with > best[column] {
                    best[column] = with;
                    keep[column] = true;
                }
            }
        }
        let mut remaining = capacity;
        let mut selected = Vec::new();
        for (packable, keep) in packables.iter().zip(&keep).rev() {
            if keep[remaining] {
                selected.push(packable.position);
                remaining -= packable.weight as usize;
            }
        }
        selected
    }

    #[test]
    fn the_short_cuts_select_exactly_what_the_textbook_does() {
        let mut state = 1_u64;
        let mut random = move |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for round in 0..4_000 {
            let count = random(14) as usize;
            let (weights, values) = (1 + random(6), 1 + random(5));
            let scale = if round % 3 == 0 { u64::MAX / 20 } else { 1 + random(9_000_000_000) };
            let mut packables: Vec<Packable> = (0..count)
                .map(|position| Packable {
                    position,
                    weight: 1 + random(weights),
                    value: random(values) * scale,
                })
                .collect();
            if round % 2 == 0 {
                packables.sort_by_key(|packable| std::cmp::Reverse(packable.value));
            }
            let capacity = 1 + random(25);
            let expected = textbook(&packables, capacity as usize);
            let selected = best_packing(packables.iter().copied(), capacity);
            assert_eq!(selected, expected, "{packables:?} {capacity}");
        }
    }
}
