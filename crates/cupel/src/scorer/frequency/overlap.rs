//! Counts, for every set of tags, the items that share at least one of them.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;

use super::pairs::Pairs;
use super::union::Union;
use crate::ContextItem;
use crate::model::{Caseless, NumberTable};

/// Lists of small integers, one after the other in one allocation.
#[derive(Default)]
pub(super) struct Lists {
    values: Vec<u32>,
    ends: Vec<usize>,
}

impl Lists {
    pub(super) fn get(&self, list: usize) -> &[u32] {
        let start = if list == 0 { 0 } else { self.ends[list - 1] };
        &self.values[start..self.ends[list]]
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u32]> + Clone {
        (0..self.len()).map(|list| self.get(list))
    }

    /// Number of values all lists have together.
    pub(super) fn total(&self) -> usize {
        self.values.len()
    }

    /// So many lists, from pairs of list and value. Each list keeps the order of its values.
    pub(super) fn grouped(
        lists: usize,
        members: impl Iterator<Item = (usize, u32)> + Clone,
    ) -> Self {
        let mut ends = vec![0; lists];
        members.clone().for_each(|(list, _)| ends[list] += 1);
        let mut total = 0;
        for end in &mut ends {
            // For now the start of each list; filling it moves it to the end.
            (*end, total) = (total, total + *end);
        }
        let mut values = vec![0; total];
        members.for_each(|(list, value)| {
            values[ends[list]] = value;
            ends[list] += 1;
        });
        Self { values, ends }
    }
}

/// Items by tag.
pub(super) struct TagIndex {
    pub(super) item_count: usize,
    /// The tags of each item: numbered, sorted, without repetition.
    pub(super) tags_of_item: Lists,
    /// The items that carry each tag, ascending.
    pub(super) items_of_tag: Lists,
}

impl TagIndex {
    pub(super) fn new(items: &[ContextItem]) -> Self {
        let (tags_of_item, tag_count) = number_tags(items);
        let members = (0..).zip(tags_of_item.iter());
        let members =
            members.flat_map(|(item, tags)| tags.iter().map(move |tag| (*tag as usize, item)));
        let items_of_tag = Lists::grouped(tag_count, members);
        Self { item_count: items.len(), tags_of_item, items_of_tag }
    }

    /// Calls back with every tagged item and the number of items, itself included, that share a
    /// tag with it.
    pub(super) fn for_each_overlap(&self, mut report: impl FnMut(u32, usize)) {
        let state = RandomState::default();
        let mut counter = match Pairs::new(self) {
            Some(pairs) => Counter::Pairs(pairs),
            None => Counter::Union(Union::new(self)),
        };
        // Items with the same tags are counted once.
        let mut table = NumberTable::with_capacity(self.item_count);
        let mut counts = vec![0; self.item_count];
        let tags_of = |item: u32| self.tags_of_item.get(item as usize);
        for item in 0..self.item_count as u32 {
            let tags = tags_of(item);
            if tags.is_empty() {
                continue;
            }
            let is_same = |other| tags_of(other) == tags;
            let first = table.find_or_insert(state.hash_one(tags), item, is_same);
            if first == item {
                counts[item as usize] = counter.count(tags) as u32;
            }
            report(item, counts[first as usize] as usize);
        }
    }
}

/// Two ways to count the items that carry one of several tags.
enum Counter<'a> {
    Pairs(Pairs<'a>),
    Union(Union<'a>),
}

impl Counter<'_> {
    fn count(&mut self, tags: &[u32]) -> usize {
        match self {
            Self::Pairs(pairs) => pairs.count(tags),
            Self::Union(union) => union.count(tags),
        }
    }
}

fn number_tags(items: &[ContextItem]) -> (Lists, usize) {
    let mut numbers = TagNumbers::new(items.iter().map(|item| item.tags().len()).sum());
    let mut lists = Lists::default();
    let mut own: Vec<u32> = Vec::new();
    let (mut tags_of, mut tags, mut hashes) = (Vec::new(), Vec::new(), Vec::new());
    for block in items.chunks(BLOCK) {
        // Each step reads what the one before has found, for all items of the block at once.
        // Item by item, the processor would wait for memory again and again.
        tags_of.clear();
        tags_of.extend(block.iter().map(ContextItem::tags));
        tags.clear();
        tags.extend(tags_of.iter().copied().flatten().map(|tag| Caseless(tag)));
        hashes.clear();
        hashes.extend(tags.iter().map(|tag| numbers.state.hash_one(tag)));
        let mut hashed = tags.iter().zip(&hashes);
        for tags in &tags_of {
            let hashed = hashed.by_ref().take(tags.len());
            own.extend(hashed.map(|(tag, hash)| numbers.number(*tag, *hash)));
            own.sort_unstable();
            own.dedup();
            lists.values.append(&mut own);
            lists.ends.push(lists.values.len());
        }
    }
    (lists, numbers.tags.len())
}

const BLOCK: usize = 64;

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
