//! A list of items as the index sees it.

use cupel::ContextItem;

use super::store::{Posting, Store};
use crate::text::lexicon::TermId;

/// A list of items as the index sees it.
pub(crate) struct ListView<'s> {
    store: &'s Store,
    /// For each item of the list its number in the index.
    numbers: Vec<u32>,
    /// For each item of the index how often the list has it; absent if the list is the whole index
    /// in its order.
    occurrences: Option<Vec<u32>>,
}

impl<'s> ListView<'s> {
    /// `None` if the index lacks one of the items.
    pub(super) fn new(store: &'s Store, items: &[ContextItem]) -> Option<Self> {
        let mut numbers = Vec::with_capacity(items.len());
        let mut expected = 0_u32;
        for item in items {
            // Items mostly come in the order in which they were added.
            let number = store.numbers.get_expecting(item, expected)?;
            numbers.push(number);
            expected = number + 1;
        }
        let is_whole =
            numbers.len() == store.len() && numbers.iter().copied().eq(0..numbers.len() as u32);
        let occurrences = (!is_whole).then(|| {
            let mut occurrences = vec![0; store.len()];
            for number in &numbers {
                occurrences[*number as usize] += 1;
            }
            occurrences
        });
        Some(Self { store, numbers, occurrences })
    }

    /// Number of items the list has.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// A term by its text, if the index has it.
    pub(crate) fn find(&self, term: &str) -> Option<TermId> {
        self.store.lexicon.find(term)
    }

    /// Number of terms all terms are numbered below.
    pub(crate) fn term_count(&self) -> usize {
        self.store.lexicon.term_count()
    }

    /// The text of a term.
    pub(crate) fn text(&self, term: TermId) -> &'s str {
        self.store.lexicon.text(term)
    }

    /// For each item of the list its number in the index.
    #[cfg(feature = "word-vectors")]
    pub(super) fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    #[cfg(feature = "word-vectors")]
    pub(super) fn cache(&self) -> &'s std::sync::Mutex<super::like::LikeCache> {
        &self.store.like
    }

    /// For each term of the index in how many items of the list it occurs.
    #[cfg(feature = "word-vectors")]
    pub(super) fn frequencies(&self) -> Vec<u32> {
        let mut frequencies = vec![0; self.term_count()];
        for number in &self.numbers {
            for posting in self.store.postings(*number) {
                frequencies[posting.term as usize] += 1;
            }
        }
        frequencies
    }

    /// Rarity of a term that so many items of the list have: the idf of BM25.
    pub(crate) fn rarity(&self, having: usize) -> f64 {
        let (all, having) = (self.len() as f64, having as f64);
        (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
    }

    /// In how many items of the list a term occurs.
    pub(crate) fn frequency(&self, term: TermId) -> usize {
        match &self.occurrences {
            None => self.store.frequency(term),
            Some(occurrences) => self
                .store
                .chain(term)
                .map(|posting| occurrences[posting.item as usize] as usize)
                .sum(),
        }
    }

    /// Number of terms an item of the list has.
    pub(crate) fn length(&self, position: usize) -> f64 {
        self.store.lengths[self.numbers[position] as usize]
    }

    /// The mean number of terms of an item; 1 if there are none at all.
    pub(crate) fn mean_length(&self) -> f64 {
        let total: f64 = (0..self.len()).map(|position| self.length(position)).sum();
        if total > 0.0 { total / self.len() as f64 } else { 1.0 }
    }

    /// The distinct terms of an item of the list, in the order in which they first occur.
    pub(crate) fn terms(&self, position: usize) -> &'s [Posting] {
        self.store.postings(self.numbers[position])
    }

    /// The numbers of the ids of an item of the list, each once. Only in a list with ids.
    pub(crate) fn ids(&self, position: usize) -> &'s [u32] {
        self.store.ids.of(self.numbers[position] as usize)
    }

    /// The number below which all ids are.
    pub(crate) fn id_count(&self) -> usize {
        self.store.ids.count()
    }

    /// Lets `add` sum something up for every item of the index, and hands it to the items of the
    /// list.
    pub(crate) fn sum_up(&self, sums: &mut [f64], add: impl FnOnce(&mut [f64])) {
        if self.occurrences.is_none() {
            sums.fill(0.0);
            return add(sums);
        }
        let mut all = vec![0.0; self.store.len()];
        add(&mut all);
        for (sum, number) in sums.iter_mut().zip(&self.numbers) {
            *sum = all[*number as usize];
        }
    }

    /// Calls `hit` for every item of the index with a term: its number, how often it has the term,
    /// and how many terms it has in all. Items that the list lacks are among them.
    pub(crate) fn for_each_hit(&self, term: TermId, mut hit: impl FnMut(usize, f64, f64)) {
        for posting in self.store.chain(term) {
            let item = posting.item as usize;
            hit(item, f64::from(posting.count), self.store.lengths[item]);
        }
    }
}
