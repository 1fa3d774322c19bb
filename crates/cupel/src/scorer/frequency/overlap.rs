//! Counts, for every set of tags, the items that share at least one of them.

use std::collections::HashMap;

use crate::ContextItem;
use crate::model::Caseless;

type FastMap<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// Lists of small integers, one after the other in one allocation.
#[derive(Default)]
struct Lists {
    values: Vec<u32>,
    ends: Vec<usize>,
}

impl Lists {
    fn get(&self, list: usize) -> &[u32] {
        let start = if list == 0 { 0 } else { self.ends[list - 1] };
        &self.values[start..self.ends[list]]
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len()).map(|list| self.get(list))
    }
}

/// Who carries which tag.
pub(super) struct TagIndex {
    item_count: usize,
    /// The tags of each item: numbered, sorted, without repetition.
    tags_of_item: Lists,
    /// The items that carry each tag, ascending.
    items_of_tag: Lists,
}

impl TagIndex {
    pub(super) fn new(items: &[ContextItem]) -> Self {
        let (tags_of_item, tag_count) = number_tags(items);
        let items_of_tag = invert(&tags_of_item, tag_count);
        Self { item_count: items.len(), tags_of_item, items_of_tag }
    }

    /// Calls back with every tagged item and the number of items, itself included, that share a
    /// tag with it.
    pub(super) fn for_each_overlap(&self, mut report: impl FnMut(u32, usize)) {
        let mut union = Union::new(self);
        let mut known: FastMap<&[u32], usize> = FastMap::default();
        for (item, tags) in (0..).zip(self.tags_of_item.iter()) {
            if !tags.is_empty() {
                report(item, *known.entry(tags).or_insert_with(|| union.count(tags)));
            }
        }
    }
}

fn number_tags(items: &[ContextItem]) -> (Lists, usize) {
    let mut numbers: FastMap<Caseless<'_>, u32> = FastMap::default();
    let mut lists = Lists::default();
    let mut tags: Vec<u32> = Vec::new();
    for item in items {
        for tag in item.tags() {
            let next = numbers.len() as u32;
            tags.push(*numbers.entry(Caseless(tag)).or_insert(next));
        }
        tags.sort_unstable();
        tags.dedup();
        lists.values.append(&mut tags);
        lists.ends.push(lists.values.len());
    }
    (lists, numbers.len())
}

fn invert(tags_of_item: &Lists, tag_count: usize) -> Lists {
    let mut ends = vec![0; tag_count];
    for tag in &tags_of_item.values {
        ends[*tag as usize] += 1;
    }
    let mut total = 0;
    for end in &mut ends {
        // For now the start of each list; filling it moves it to the end.
        (*end, total) = (total, total + *end);
    }
    let mut values = vec![0; tags_of_item.values.len()];
    for (item, tags) in (0..).zip(tags_of_item.iter()) {
        for tag in tags {
            let slot = &mut ends[*tag as usize];
            values[*slot] = item;
            *slot += 1;
        }
    }
    Lists { values, ends }
}

const WORD: usize = u64::BITS as usize;

/// Computes the size of unions of the items of several tags.
///
/// A tag carried by more than one item in 64 has its items as a row of bits as well, so that
/// joining it takes a step per 64 items; there are at most 64 such tags for each tag that an item
/// carries on average, which bounds the memory. Rarer tags are joined item by item.
struct Union<'a> {
    index: &'a TagIndex,
    rows: Vec<Vec<u64>>,
    row_of_tag: Vec<Option<u32>>,
    tagged_items: usize,
    /// The union so far; all zero between two counts.
    scratch: Vec<u64>,
}

impl<'a> Union<'a> {
    fn new(index: &'a TagIndex) -> Self {
        let words = index.item_count.div_ceil(WORD);
        let mut rows = Vec::new();
        let row_of_tag = index.items_of_tag.iter().map(|items| {
            let common = items.len() > words;
            common.then(|| {
                rows.push(bit_row(items, words));
                rows.len() as u32 - 1
            })
        });
        let row_of_tag = row_of_tag.collect();
        let tagged_items = index.tags_of_item.iter().filter(|tags| !tags.is_empty()).count();
        Self { index, rows, row_of_tag, tagged_items, scratch: vec![0; words] }
    }

    fn count(&mut self, tags: &[u32]) -> usize {
        let items_of = |tag: &u32| self.index.items_of_tag.get(*tag as usize);
        if let [tag] = tags {
            return items_of(tag).len();
        }
        if tags.iter().any(|tag| items_of(tag).len() == self.tagged_items) {
            return self.tagged_items;
        }
        let mut count = self.join_rows(tags);
        let any_row = count > 0;
        for tag in tags.iter().filter(|tag| self.row_of_tag[**tag as usize].is_none()) {
            for item in self.index.items_of_tag.get(*tag as usize) {
                let word = &mut self.scratch[*item as usize / WORD];
                let bit = 1_u64 << (*item as usize % WORD);
                count += usize::from(*word & bit == 0);
                *word |= bit;
            }
        }
        self.clear(tags, any_row);
        count
    }

    /// Joins the tags that have a row, and counts the result.
    fn join_rows(&mut self, tags: &[u32]) -> usize {
        let mut rows =
            tags.iter().filter_map(|tag| self.row_of_tag[*tag as usize]).map(|row| row as usize);
        let Some(first) = rows.next() else { return 0 };
        self.scratch.copy_from_slice(&self.rows[first]);
        for row in rows {
            for (word, other) in self.scratch.iter_mut().zip(&self.rows[row]) {
                *word |= other;
            }
        }
        self.scratch.iter().map(|word| word.count_ones() as usize).sum()
    }

    fn clear(&mut self, tags: &[u32], any_row: bool) {
        if any_row {
            self.scratch.fill(0);
            return;
        }
        for tag in tags {
            for item in self.index.items_of_tag.get(*tag as usize) {
                self.scratch[*item as usize / WORD] = 0;
            }
        }
    }
}

fn bit_row(items: &[u32], words: usize) -> Vec<u64> {
    let mut row = vec![0; words];
    for item in items {
        row[*item as usize / WORD] |= 1 << (*item as usize % WORD);
    }
    row
}
