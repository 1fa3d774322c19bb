//! The smallest hash table: it finds numbers, and their owner knows what they stand for.

/// A hash table of numbers below [`u32::MAX`]. It holds neither keys nor hashes, so that it stays
/// small and a lookup touches little memory; whoever looks something up compares.
pub(crate) struct NumberTable {
    /// At most half of them are taken, so a search is short and ends.
    slots: Vec<u32>,
}

impl NumberTable {
    const FREE: u32 = u32::MAX;

    /// Room for so many numbers, and no more.
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { slots: vec![Self::FREE; (2 * capacity).next_power_of_two()] }
    }

    /// The number that stands for the same as `number`, which is added if there is none.
    pub(crate) fn find_or_insert(
        &mut self,
        hash: u64,
        number: u32,
        is_same: impl Fn(u32) -> bool,
    ) -> u32 {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            match self.slots[at] {
                Self::FREE => {
                    self.slots[at] = number;
                    return number;
                }
                found if is_same(found) => return found,
                _ => at = (at + 1) & mask,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_again_also_where_hashes_collide() {
        let words = ["a", "b", "a", "c", "b", "d"];
        for bits in [0, 1, u64::MAX] {
            let mut table = NumberTable::with_capacity(words.len());
            let find = |(word, number): (&&str, u32)| {
                let hash = u64::from(word.as_bytes()[0]) & bits;
                table.find_or_insert(hash, number, |other| words[other as usize] == *word)
            };
            assert_eq!(words.iter().zip(0..).map(find).collect::<Vec<_>>(), [0, 1, 0, 3, 1, 5]);
        }
    }

    #[test]
    fn a_full_table_still_ends_its_search() {
        let mut table = NumberTable::with_capacity(1);
        assert_eq!(table.find_or_insert(9, 4, |_| false), 4);
        assert_eq!(table.find_or_insert(9, 5, |number| number == 4), 4);
    }
}
