//! Counts the items that carry one of several tags with rows of bits.

use super::overlap::TagIndex;

/// Bits of so many items, one each. Rows consist of blocks because the compiler makes much better
/// code where a length is known.
type Block = [u64; WORDS];

const WORD: usize = u64::BITS as usize;
const WORDS: usize = 16;
const BLOCK: usize = WORDS * WORD;

/// Computes the size of unions of the items of several tags.
///
/// A tag carried by more than one item in 64 has its items as a row of bits as well, so that
/// joining it takes a step per 64 items; there are at most 64 such tags for each tag that an item
/// carries on average, which bounds the memory. Rarer tags are joined item by item.
pub(super) struct Union<'a> {
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
    pub(super) fn new(index: &'a TagIndex) -> Self {
        let empty = vec![[0; WORDS]; index.item_count.div_ceil(BLOCK)];
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

    pub(super) fn count(&mut self, tags: &[u32]) -> usize {
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
            let count = join_rows(&mut self.dense, &rows);
            return count + rare().map(|items| join_items(&mut self.dense, items)).sum::<usize>();
        }
        let count = rare().map(|items| join_items(&mut self.sparse, items)).sum();
        for item in rare().flatten() {
            self.sparse[*item as usize / BLOCK] = [0; WORDS];
        }
        count
    }
}

/// Joins rows, whatever the union was before, and returns how many bits are set.
fn join_rows<'r>(union: &mut [Block], rows: &(impl Iterator<Item = &'r [Block]> + Clone)) -> usize {
    let mut count = 0;
    for (at, union) in union.iter_mut().enumerate() {
        let mut block = [0; WORDS];
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
