//! Texts by number.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::RandomState;

/// Distinct texts, numbered in the order in which they came.
///
/// A hash table of its own, because words are looked up by the million: all texts lie in one buffer,
/// and a slot holds half of the hash, so that a look-up seldom visits more than one text.
pub(super) struct Table {
    hasher: RandomState,
    /// Number of a text plus one in the lower half, upper half of its hash in the upper; 0 if free.
    slots: Vec<u64>,
    texts: String,
    /// Where each text ends.
    ends: Vec<usize>,
}

const FIRST_SLOTS: usize = 1 << 10;

impl Table {
    pub(super) fn new() -> Self {
        Self {
            hasher: RandomState::default(),
            slots: vec![0; FIRST_SLOTS],
            texts: String::new(),
            ends: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn text(&self, number: u32) -> &str {
        let number = number as usize;
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.texts[start..self.ends[number]]
    }

    pub(super) fn find(&self, text: &str) -> Option<u32> {
        number_of(self.slots[self.slot(text, self.hash(text))])
    }

    /// The number of a text, new or known.
    pub(super) fn enter(&mut self, text: &str) -> u32 {
        let hash = self.hash(text);
        let slot = self.slot(text, hash);
        if let Some(number) = number_of(self.slots[slot]) {
            return number;
        }
        let number = self.len() as u32;
        self.texts.push_str(text);
        self.ends.push(self.texts.len());
        self.slots[slot] = slot_value(hash, number);
        if self.len() * 2 > self.slots.len() {
            self.grow();
        }
        number
    }

    /// Where a text stands, or the free slot where it belongs. At least half of the slots are free.
    fn slot(&self, text: &str, hash: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let value = self.slots[slot];
            match number_of(value) {
                Some(number) if value >> 32 != hash >> 32 || self.text(number) != text => {}
                _ => return slot,
            }
            slot = (slot + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        let mut slots = vec![0; mask + 1];
        for number in 0..self.len() as u32 {
            let hash = self.hash(self.text(number));
            let mut slot = hash as usize & mask;
            while slots[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            slots[slot] = slot_value(hash, number);
        }
        self.slots = slots;
    }

    fn hash(&self, text: &str) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(text.as_bytes());
        hasher.finish()
    }
}

fn slot_value(hash: u64, number: u32) -> u64 {
    hash >> 32 << 32 | (u64::from(number) + 1)
}

fn number_of(slot: u64) -> Option<u32> {
    (slot as u32).checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_numbered_as_they_come_and_found_again() {
        let mut table = Table::new();
        for number in 0..5_000_u32 {
            assert_eq!(table.enter(&format!("w{number}")), number);
        }
        for number in 0..5_000_u32 {
            let text = format!("w{number}");
            assert_eq!((table.enter(&text), table.find(&text)), (number, Some(number)));
            assert_eq!(table.text(number), text);
        }
        assert_eq!((table.find("w5000"), table.len()), (None, 5_000));
    }
}
