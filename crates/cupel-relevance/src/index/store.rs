//! Terms and the items that have them.

use std::sync::Arc;

use cupel::ContextItem;

use super::Field;
use crate::identity::ItemNumbers;
use crate::text::lexicon::{Lexicon, TermId};
use crate::text::{Analysis, Ids, Reader, SharedReader, Words};

/// That a term occurs in an item.
///
/// The postings of an item lie side by side, in the order in which its terms first occur; those of a
/// term are chained, from the newest item to the oldest. So one list serves both ways, and adding an
/// item appends to it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Posting {
    pub(crate) term: TermId,
    /// The item's number in the index.
    pub(super) item: u32,
    /// Occurrences, weighted by field.
    pub(crate) count: f32,
    /// Number of the term's next older posting plus one; 0 if there is none.
    older: u32,
}

/// Where the postings of a term begin.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Chain {
    /// Number of the newest posting plus one; 0 if there is none.
    newest: u32,
    /// The item of the newest posting.
    item: u32,
    pub(super) length: u32,
}

/// Content of the index.
pub(super) struct Store {
    fields: Arc<[Field]>,
    /// Reader whose words the lexicon holds.
    reader: SharedReader,
    pub(super) lexicon: Lexicon,
    postings: Vec<Posting>,
    /// For each term.
    chains: Vec<Chain>,
    pub(super) numbers: ItemNumbers,
    /// For each item how many terms it has, weighted by field.
    pub(super) lengths: Vec<f64>,
    /// For each item where its postings end.
    ends: Vec<u32>,
    /// Those of the first items, or of all: nobody may ask for them.
    pub(super) ids: Ids,
    #[cfg(feature = "word-vectors")]
    pub(super) like: std::sync::Mutex<super::like::LikeCache>,
}

impl Store {
    pub(super) fn new(analysis: &Analysis, fields: Arc<[Field]>, reader: SharedReader) -> Self {
        Self {
            fields,
            reader,
            lexicon: Lexicon::new(analysis),
            postings: Vec::new(),
            chains: Vec::new(),
            numbers: ItemNumbers::default(),
            lengths: Vec::new(),
            ends: Vec::new(),
            ids: Ids::new(),
            #[cfg(feature = "word-vectors")]
            like: std::sync::Mutex::default(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    pub(super) fn lacks_ids(&self) -> bool {
        self.ids.len() < self.numbers.len()
    }

    pub(super) fn find_ids(&mut self) {
        for item in &self.numbers.items()[self.ids.len()..] {
            self.ids.add(item.content());
        }
    }

    pub(super) fn extend(&mut self, items: &[ContextItem]) {
        let reader = self.reader.clone();
        let mut reader = reader.lock();
        for item in items {
            if let Some(number) = self.numbers.enter(item) {
                self.add(item, number, &mut reader);
            }
        }
    }

    /// In how many items a term occurs.
    pub(super) fn frequency(&self, term: TermId) -> usize {
        self.chains[term as usize].length as usize
    }

    /// The postings of a term, from the newest item to the oldest.
    pub(super) fn chain(&self, term: TermId) -> impl Iterator<Item = &Posting> {
        let posting = |number: u32| self.postings.get((number as usize).checked_sub(1)?);
        let newest = posting(self.chains[term as usize].newest);
        std::iter::successors(newest, move |previous| posting(previous.older))
    }

    /// The postings of an item, in the order in which its terms first occur.
    pub(super) fn postings(&self, item: u32) -> &[Posting] {
        let item = item as usize;
        let start = if item == 0 { 0 } else { self.ends[item - 1] };
        &self.postings[start as usize..self.ends[item] as usize]
    }

    fn add(&mut self, item: &ContextItem, number: u32, reader: &mut Reader) {
        let mut length = self.add_words(reader.item(item), number, 1.0);
        let fields = self.fields.clone();
        for tag in item.tags() {
            for field in fields.iter() {
                if let Some(value) = field.value(tag) {
                    length += self.add_words(reader.text(value), number, field.weight);
                }
            }
        }
        self.lengths.push(length);
        self.ends.push(self.postings.len() as u32);
    }

    /// Adds the words of a text to those of an item, and returns how many terms they have.
    fn add_words(&mut self, words: Words<'_>, item: u32, weight: f64) -> f64 {
        let Self { lexicon, postings, chains, .. } = self;
        let mut terms = 0_u32;
        lexicon.for_each_term(words, |term| {
            terms += 1;
            count_term(postings, chains, term, item, weight as f32);
        });
        f64::from(terms) * weight
    }
}

fn count_term(
    postings: &mut Vec<Posting>,
    chains: &mut Vec<Chain>,
    term: TermId,
    item: u32,
    weight: f32,
) {
    if term as usize >= chains.len() {
        chains.resize(term as usize + 1, Chain::default());
    }
    let chain = &mut chains[term as usize];
    if chain.newest != 0 && chain.item == item {
        postings[chain.newest as usize - 1].count += weight;
    } else {
        postings.push(Posting { term, item, count: weight, older: chain.newest });
        *chain = Chain { newest: postings.len() as u32, item, length: chain.length + 1 };
    }
}
