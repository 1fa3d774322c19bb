//! Texts by number.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::RandomState;

/// Distinct texts, numbered in the order in which they came, each with something that is known
/// about it.
///
/// A hash table of its own, because words are looked up by the million: short texts lie beside
/// what is known about them, and a slot has part of the hash, so that a look-up visits two places in
/// memory and growing visits none.
pub(crate) struct Table<T> {
    hasher: RandomState,
    slots: Vec<Slot>,
    entries: Vec<Entry<T>>,
    long: Vec<Box<str>>,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    hash: u32,
    /// The number of the text plus one; 0 if the slot is free.
    number: u32,
}

/// Guess from the hash of a text.
#[derive(Clone, Copy)]
pub(super) struct Guess {
    hash: u32,
    /// The number of a text with that hash plus one; 0 if there is none nearby.
    number: u32,
}

struct Entry<T> {
    text: Text,
    known: T,
}

/// The most bytes of a text that lies within its entry.
const SHORT: usize = 14;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Text {
    Short {
        length: u8,
        bytes: [u8; SHORT],
    },
    /// By its place among the long ones.
    Long(u32),
}

impl Text {
    /// Returns true if this is a text that lies within its entry.
    fn is_short(&self, text: &str) -> bool {
        match self {
            Self::Short { length, bytes } => {
                bytes.get(..usize::from(*length)) == Some(text.as_bytes())
            }
            Self::Long(_) => false,
        }
    }

    fn short(text: &str) -> Option<Self> {
        let mut bytes = [0; SHORT];
        bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Some(Self::Short { length: text.len() as u8, bytes })
    }
}

const FIRST_SLOTS: usize = 1 << 10;

impl<T: Copy + Default> Default for Table<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Copy + Default> Table<T> {
    pub(crate) fn new() -> Self {
        Self {
            hasher: RandomState::default(),
            slots: Vec::new(),
            entries: Vec::new(),
            long: Vec::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// A text by its number.
    pub(super) fn text(&self, number: u32) -> &str {
        match &self.entries[number as usize].text {
            Text::Short { length, bytes } => {
                std::str::from_utf8(&bytes[..usize::from(*length)]).unwrap_or_default()
            }
            Text::Long(place) => &self.long[*place as usize],
        }
    }

    /// Value that is known about a text.
    pub(crate) fn known(&self, number: u32) -> T {
        self.entries[number as usize].known
    }

    pub(crate) fn known_mut(&mut self, number: u32) -> &mut T {
        &mut self.entries[number as usize].known
    }

    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        self.slots[self.slot(text, Text::short(text), self.hash(text))].number.checked_sub(1)
    }

    /// The number of a text, new or known.
    pub(crate) fn enter(&mut self, text: &str) -> u32 {
        self.enter_hashed(text, self.hash(text))
    }

    /// A text that probably has this hash, if any has it.
    pub(super) fn guess(&self, hash: u32) -> Guess {
        let place = hash as usize & self.slots.len().wrapping_sub(1);
        let slot = self.slots.get(place).filter(|slot| slot.hash == hash);
        Guess { hash, number: slot.map_or(0, |slot| slot.number) }
    }

    /// The number of a text, new or known, given what was guessed by its hash.
    pub(super) fn enter_guessed(&mut self, text: &str, guess: Guess) -> u32 {
        match self.entries.get((guess.number as usize).wrapping_sub(1)) {
            Some(entry) if entry.text.is_short(text) => guess.number - 1,
            _ => self.enter_hashed(text, guess.hash),
        }
    }

    fn enter_hashed(&mut self, text: &str, hash: u32) -> u32 {
        if self.entries.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let short = Text::short(text);
        let slot = self.slot(text, short, hash);
        if let Some(number) = self.slots[slot].number.checked_sub(1) {
            return number;
        }
        let text = short.unwrap_or_else(|| {
            self.long.push(text.into());
            Text::Long(self.long.len() as u32 - 1)
        });
        self.entries.push(Entry { text, known: T::default() });
        let number = self.entries.len() as u32;
        self.slots[slot] = Slot { hash, number };
        number - 1
    }

    /// Where a text stands, or the free slot where it belongs. At least half of the slots are free.
    fn slot(&self, text: &str, short: Option<Text>, hash: u32) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot.number == 0 || slot.hash == hash && self.is_meant(slot, text, short) {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    fn is_meant(&self, slot: Slot, text: &str, short: Option<Text>) -> bool {
        match (self.entries[slot.number as usize - 1].text, short) {
            (Text::Long(place), None) => *self.long[place as usize] == *text,
            (known, Some(short)) => known == short,
            _ => false,
        }
    }

    fn grow(&mut self) {
        let mask = (self.slots.len() * 2).max(FIRST_SLOTS) - 1;
        let mut slots = vec![Slot::default(); mask + 1];
        for slot in self.slots.iter().filter(|slot| slot.number != 0) {
            let mut at = slot.hash as usize & mask;
            while slots[at].number != 0 {
                at = (at + 1) & mask;
            }
            slots[at] = *slot;
        }
        self.slots = slots;
    }

    pub(super) fn hash(&self, text: &str) -> u32 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(text.as_bytes());
        hasher.finish() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_numbered_as_they_come_and_found_again() {
        let mut table: Table<u32> = Table::new();
        let texts =
            || (0..5_000_u32).map(|number| format!("{}{number}", "x".repeat(number as usize % 20)));
        for (number, text) in (0..).zip(texts()) {
            assert_eq!(table.enter(&text), number);
            *table.known_mut(number) = number + 7;
        }
        for (number, text) in (0..).zip(texts()) {
            assert_eq!((table.enter(&text), table.find(&text)), (number, Some(number)));
            assert_eq!(table.known(number), number + 7);
        }
        assert_eq!(
            (table.find("y"), table.find(&"y".repeat(50)), table.len()),
            (None, None, 5_000)
        );
    }

    #[test]
    fn texts_that_differ_only_in_zero_bytes_are_told_apart() {
        let mut table: Table<()> = Table::new();
        assert_eq!(["a", "a\0", "a\0\0", "a"].map(|text| table.enter(text)), [0, 1, 2, 0]);
    }
}
