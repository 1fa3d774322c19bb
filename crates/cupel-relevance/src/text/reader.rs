//! The words of items by number, cut out of their texts once for all who ask about them.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cupel::ContextItem;

use super::detect::{MOST_WORDS, Telling};
use super::for_each_word;
use super::table::{Guess, Table};
use crate::identity::ItemNumbers;

/// Number of words that are looked up at once.
const AT_ONCE: usize = 128;

/// Number of words of items that are kept: those that a language is told by, for some lists of items.
const MOST_KEPT: usize = 4 * MOST_WORDS as usize;

/// Numbers every distinct word, and keeps the words of items that were asked for their language: who
/// indexes them next needs not look for words again.
#[derive(Default)]
pub(crate) struct Reader {
    words: Table<Telling>,
    /// The items whose words are kept, and where.
    items: ItemNumbers,
    places: Vec<Range<usize>>,
    kept: Vec<u32>,
    /// Words that nobody asks for again.
    passing: Vec<u32>,
}

/// A reader that several share.
#[derive(Clone, Default)]
pub(crate) struct SharedReader(Arc<Mutex<Reader>>);

impl SharedReader {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Reader> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for SharedReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedReader").finish_non_exhaustive()
    }
}

/// The words of a text, in order.
#[derive(Clone, Copy)]
pub(crate) struct Words<'r> {
    table: &'r Table<Telling>,
    pub(super) numbers: &'r [u32],
}

impl<'r> Words<'r> {
    /// A word as it stands in the text.
    pub(super) fn text(&self, number: u32) -> &'r str {
        self.table.text(number)
    }

    /// Number of words all words are numbered below.
    pub(super) fn count(&self) -> usize {
        self.table.len()
    }
}

impl Reader {
    /// The words of an item.
    pub(crate) fn item(&mut self, item: &ContextItem) -> Words<'_> {
        match self.place(item) {
            Some(place) => Words { table: &self.words, numbers: &self.kept[place] },
            None => self.text(item.content()),
        }
    }

    /// The words of a text.
    pub(crate) fn text(&mut self, text: &str) -> Words<'_> {
        self.passing.clear();
        read(&mut self.words, text, &mut self.passing);
        Words { table: &self.words, numbers: &self.passing }
    }

    /// Evidence of each word of an item, in order.
    pub(super) fn for_each_telling(&mut self, item: &ContextItem, mut tell: impl FnMut(Telling)) {
        let place = self.keep(item);
        for number in &self.kept[place] {
            let telling = match self.words.known(*number) {
                Telling::Unasked => {
                    let told = Telling::of(self.words.text(*number));
                    *self.words.known_mut(*number) = told;
                    told
                }
                told => told,
            };
            tell(telling);
        }
    }

    fn keep(&mut self, item: &ContextItem) -> Range<usize> {
        if let Some(place) = self.place(item) {
            return place;
        }
        if self.kept.len() > MOST_KEPT {
            self.items.clear();
            self.places.clear();
            self.kept.clear();
        }
        let start = self.kept.len();
        read(&mut self.words, item.content(), &mut self.kept);
        let place = start..self.kept.len();
        self.items.enter(item);
        self.places.push(place.clone());
        place
    }

    /// Where the words of an item are kept, if they are.
    fn place(&self, item: &ContextItem) -> Option<Range<usize>> {
        self.items.get(item).map(|number| self.places[number as usize].clone())
    }
}

/// Adds the numbers of the words of a text.
///
/// Words are looked up in two walks, some hundred at a time: what is needed lies scattered in
/// memory, and the processor fetches it for many words at once if none waits for another.
fn read(table: &mut Table<Telling>, text: &str, numbers: &mut Vec<u32>) {
    fn look_up(table: &mut Table<Telling>, words: &mut Vec<(&str, Guess)>, numbers: &mut Vec<u32>) {
        numbers.extend(words.drain(..).map(|(word, guess)| table.enter_guessed(word, guess)));
    }
    // A word and what parts it from the next have two bytes at least.
    let mut words: Vec<(&str, Guess)> = Vec::with_capacity(AT_ONCE.min(text.len() / 2 + 1));
    for_each_word(text, |word| {
        words.push((word, table.guess(table.hash(word))));
        if words.len() == AT_ONCE {
            look_up(table, &mut words, numbers);
        }
    });
    look_up(table, &mut words, numbers);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::texts;

    fn written(words: Words<'_>) -> Vec<&str> {
        words.numbers.iter().map(|number| words.text(*number)).collect()
    }

    #[test]
    fn the_words_of_an_item_are_the_same_whoever_asked_before() {
        let items = texts(&["The key of src/lib.rs", "the key", " "]);
        let long = texts(&[&"word and more ".repeat(AT_ONCE)]);
        let mut reader = Reader::default();
        let fresh: Vec<String> =
            written(reader.item(&long[0])).into_iter().map(Into::into).collect();
        assert_eq!(fresh.len(), 3 * AT_ONCE);
        let compound = ["The", "key", "of", "src", "lib", "rs", "src/lib.rs"];
        for _ in 0..2 {
            assert_eq!(written(reader.item(&items[0])), compound);
            assert_eq!(written(reader.item(&items[1])), ["the", "key"]);
            assert!(written(reader.item(&items[2])).is_empty());
            assert_eq!(written(reader.item(&long[0])), fresh);
            let mut told = Vec::new();
            reader.for_each_telling(&items[0], |telling| told.push(telling));
            assert_eq!(told.len(), compound.len());
            assert_eq!(told.last(), Some(&Telling::Compound));
            assert_eq!(told[1], Telling::Nothing);
            assert!(matches!(told[0], Telling::Of(_)));
        }
        assert_eq!(reader.items.len(), 1);
    }

    #[test]
    fn no_more_words_are_kept_than_languages_are_told_by() {
        let mut reader = Reader::default();
        for _ in 0..10 {
            let items = texts(&[&"the key ".repeat(MOST_WORDS as usize / 2)]);
            reader.for_each_telling(&items[0], |_| {});
        }
        assert!(reader.kept.len() <= MOST_KEPT + MOST_WORDS as usize, "{}", reader.kept.len());
        assert_eq!(reader.items.len(), reader.places.len());
    }
}
