//! Sorts positions by keys, in about half the time that sorting pairs of both takes.
//!
//! The first 32 bits in which keys differ and the position are packed into one integer, which is
//! moved and compared at once. Where those 32 bits do not decide, the keys themselves do.

/// Positions of the given keys, smallest first; among equals the earlier first.
///
/// `lead` stands for a key: a number that never orders two keys otherwise than they are, though it
/// may be the same for both.
pub(crate) fn positions_by_key<K: Ord>(keys: &[K], lead: impl Fn(&K) -> u64) -> Vec<u32> {
    if keys.is_sorted() {
        return (0..keys.len() as u32).collect();
    }
    let mut packed = pack(keys.iter().map(lead).collect());
    if packed.len() < RADIX {
        packed.sort_unstable();
    } else {
        radix_sort(&mut packed);
    }
    // The lower half is the position.
    let mut positions: Vec<u32> = packed.iter().map(|packed| *packed as u32).collect();
    let mut start = 0;
    for run in packed.chunk_by(|a, b| prefix(*a) == prefix(*b)) {
        let end = start + run.len();
        if run.len() > 1 {
            // Stable, and quick where the keys are equal, so that order is as it should be.
            positions[start..end].sort_by(|a, b| keys[*a as usize].cmp(&keys[*b as usize]));
        }
        start = end;
    }
    positions
}

/// Cuts each lead to the upper 32 of the bits that differ, and puts its position below.
fn pack(mut leads: Vec<u64>) -> Vec<u64> {
    let least = leads.iter().copied().min().unwrap_or_default();
    let greatest = leads.iter().copied().max().unwrap_or_default();
    let spread = u64::BITS - (greatest - least).leading_zeros();
    let cut = spread.saturating_sub(u32::BITS);
    for (lead, position) in leads.iter_mut().zip(0..) {
        *lead = ((*lead - least) >> cut) << u32::BITS | position;
    }
    leads
}

fn prefix(packed: u64) -> u64 {
    packed >> u32::BITS
}

/// Number of piles one pass of the radix sort makes: three passes sort 32 bits. With fewer items
/// than piles, the general sort is faster.
const RADIX: usize = 1 << 11;

/// Sorts by prefix, and keeps the order of what has the same.
fn radix_sort(packed: &mut Vec<u64>) {
    let mut sorted = vec![0; packed.len()];
    for shift in [32, 43, 54] {
        let pile = |packed: u64| (packed >> shift) as usize % RADIX;
        // How many there are in each pile, and then where the next of each pile goes.
        let mut ends = [0_u32; RADIX];
        for packed in &*packed {
            ends[pile(*packed)] += 1;
        }
        if ends[0] as usize == packed.len() {
            continue;
        }
        let mut total = 0;
        for end in &mut ends {
            (*end, total) = (total, total + *end);
        }
        for packed in &*packed {
            let end = &mut ends[pile(*packed)];
            sorted[*end as usize] = *packed;
            *end += 1;
        }
        std::mem::swap(packed, &mut sorted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the sort against its definition, for lists on both sides of the radix sort's threshold.
    #[track_caller]
    fn assert_sorted<K: Ord + Copy>(key: impl Fn(u64) -> K, lead: impl Fn(&K) -> u64 + Copy) {
        for count in [0, 1, 2, 100, RADIX - 1, RADIX, 3 * RADIX + 1] {
            // Weyl's sequence: looks random, and is the same in every run.
            let numbers = (1..=count as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let keys: Vec<K> = numbers.map(&key).collect();
            let mut expected: Vec<u32> = (0..count as u32).collect();
            expected.sort_by_key(|position| keys[*position as usize]);
            assert_eq!(positions_by_key(&keys, lead), expected);
        }
    }

    #[test]
    fn keys_of_any_spread_are_sorted() {
        for bits in [0, 1, 10, 11, 12, 31, 32, 33, 43, 54, 63] {
            assert_sorted(|number| number >> bits, |key| *key);
            assert_sorted(|number| u64::MAX - (number >> bits), |key| *key);
        }
    }

    #[test]
    fn keys_that_differ_in_their_last_bits_only_are_told_apart() {
        let keys = |number: u64| if number % 64 == 0 { 0 } else { u64::MAX - number % 7 };
        assert_sorted(keys, |key| *key);
    }

    #[test]
    fn where_leads_are_equal_the_keys_decide() {
        assert_sorted(|number| number, |key| key >> 40);
        assert_sorted(|number| (number % 3, number), |_| 0);
    }

    #[test]
    fn equal_keys_keep_their_order() {
        assert_sorted(|number| number % 5, |key| *key);
        assert_sorted(|_| 7, |key| *key);
    }
}
