//! Counts, for every set of tags, the items that share at least one of them.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;

use crate::ContextItem;
use crate::model::{Caseless, NumberTable};

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
        let state = RandomState::default();
        let mut union = Union::new(self);
        // Items with the same tags are counted once.
        let mut table = NumberTable::with_capacity(self.item_count);
        let mut counts = vec![0; self.item_count];
        let tags_of = |item: u32| self.tags_of_item.get(item as usize);
        for item in 0..self.item_count as u32 {
            let tags = tags_of(item);
            if tags.is_empty() {
                continue;
            }
            let same = |other| tags_of(other) == tags;
            let first = table.find_or_insert(state.hash_one(tags), item, same);
            if first == item {
                counts[item as usize] = union.count(tags) as u32;
            }
            report(item, counts[first as usize] as usize);
        }
    }
}

fn number_tags(items: &[ContextItem]) -> (Lists, usize) {
    let mut numbers = TagNumbers::new(items.iter().map(|item| item.tags().len()).sum());
    let mut lists = Lists::default();
    let (mut hashes, mut tags): (Vec<u64>, Vec<u32>) = (Vec::new(), Vec::new());
    for block in items.chunks(AHEAD) {
        hashes.clear();
        let texts = block.iter().flat_map(|item| item.tags());
        hashes.extend(texts.map(|tag| numbers.state.hash_one(Caseless(tag))));
        let mut hashes = hashes.iter();
        for item in block {
            let with_hashes = item.tags().iter().zip(&mut hashes);
            tags.extend(with_hashes.map(|(tag, hash)| numbers.number(Caseless(tag), *hash)));
            tags.sort_unstable();
            tags.dedup();
            lists.values.append(&mut tags);
            lists.ends.push(lists.values.len());
        }
    }
    (lists, numbers.tags.len())
}

/// As many items are hashed ahead, so that the processor can wait for several of them at once.
const AHEAD: usize = 32;

/// Numbers tags in the order in which they first appear.
struct TagNumbers<'a> {
    state: RandomState,
    table: NumberTable,
    tags: Vec<(Caseless<'a>, u64)>,
}

impl<'a> TagNumbers<'a> {
    fn new(capacity: usize) -> Self {
        let table = NumberTable::with_capacity(capacity);
        Self { state: RandomState::default(), table, tags: Vec::new() }
    }

    fn number(&mut self, tag: Caseless<'a>, hash: u64) -> u32 {
        let next = self.tags.len() as u32;
        let same = |number| self.tags[number as usize] == (tag, hash);
        let number = self.table.find_or_insert(hash, next, same);
        if number == next {
            self.tags.push((tag, hash));
        }
        number
    }
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

/// Bits of so many items, one each. Rows consist of blocks because the compiler makes much better
/// code where a length is known.
type Block = [u64; 16];

const WORD: usize = u64::BITS as usize;
const BLOCK: usize = 16 * WORD;

/// Computes the size of unions of the items of several tags.
///
/// A tag carried by more than one item in 64 has its items as a row of bits as well, so that
/// joining it takes a step per 64 items; there are at most 64 such tags for each tag that an item
/// carries on average, which bounds the memory. Rarer tags are joined item by item.
struct Union<'a> {
    index: &'a TagIndex,
    rows: Vec<Vec<Block>>,
    row_of_tag: Vec<Option<u32>>,
    tagged_items: usize,
    /// The union so far, where a tag has a row.
    dense: Vec<Block>,
    /// The union so far, where no tag has a row; all zero between two counts.
    sparse: Vec<Block>,
}

impl<'a> Union<'a> {
    fn new(index: &'a TagIndex) -> Self {
        let empty = vec![[0; 16]; index.item_count.div_ceil(BLOCK)];
        let mut rows = Vec::new();
        let row_of_tag = index.items_of_tag.iter().map(|items| {
            let is_common = items.len() > index.item_count / WORD;
            is_common.then(|| {
                let mut row = empty.clone();
                join_items(&mut row, items);
                rows.push(row);
                rows.len() as u32 - 1
            })
        });
        let row_of_tag = row_of_tag.collect();
        let tagged_items = index.tags_of_item.iter().filter(|tags| !tags.is_empty()).count();
        Self { index, rows, row_of_tag, tagged_items, dense: empty.clone(), sparse: empty }
    }

    fn count(&mut self, tags: &[u32]) -> usize {
        let items_of = |tag: &u32| self.index.items_of_tag.get(*tag as usize);
        if let [tag] = tags {
            return items_of(tag).len();
        }
        if tags.iter().any(|tag| items_of(tag).len() == self.tagged_items) {
            return self.tagged_items;
        }
        let row_of = |tag: &u32| self.row_of_tag[*tag as usize];
        let rows = tags.iter().filter_map(row_of).map(|row| &*self.rows[row as usize]);
        let rare = || tags.iter().filter(|tag| row_of(tag).is_none()).map(items_of);
        if rows.clone().next().is_some() {
            let count = join_rows(&mut self.dense, rows);
            return count + rare().map(|items| join_items(&mut self.dense, items)).sum::<usize>();
        }
        let count = rare().map(|items| join_items(&mut self.sparse, items)).sum();
        for item in rare().flatten() {
            self.sparse[*item as usize / BLOCK] = [0; 16];
        }
        count
    }
}

/// Joins rows, whatever the union was before, and returns how many bits are set.
fn join_rows<'r>(union: &mut [Block], rows: impl Iterator<Item = &'r [Block]> + Clone) -> usize {
    let mut count = 0;
    for (at, union) in union.iter_mut().enumerate() {
        let mut block = [0; 16];
        for row in rows.clone() {
            for (word, other) in block.iter_mut().zip(&row[at]) {
                *word |= other;
            }
        }
        count += block.iter().map(|word| word.count_ones()).sum::<u32>() as usize;
        *union = block;
    }
    count
}

/// Joins items and returns how many of them are new.
fn join_items(union: &mut [Block], items: &[u32]) -> usize {
    let is_new = |item: &&u32| {
        let item = **item as usize;
        let word = &mut union[item / BLOCK][item % BLOCK / WORD];
        let bit = 1 << (item % WORD);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    };
    items.iter().filter(is_new).count()
}
