//! Counts the items that carry one of several tags by way of the items that carry two of them.
//!
//! Adding up how often each tag occurs counts an item once for each tag that it shares. Where tags
//! spread evenly few items share two, so it is quick to find those and to take off what was
//! counted too often.

use super::overlap::{Lists, TagIndex};

pub(super) struct Pairs<'a> {
    index: &'a TagIndex,
    /// The items that carry both tags of each pair.
    items_of_pair: Lists,
    /// In which step each item was last met.
    met: Vec<u32>,
    step: u32,
}

impl<'a> Pairs<'a> {
    /// None where rows of bits are cheaper, or where this would need much memory.
    pub(super) fn new(index: &'a TagIndex) -> Option<Self> {
        let TagIndex { item_count, tags_of_item, items_of_tag } = index;
        let pair_count = pairs_among(items_of_tag.len());
        let members: usize = tags_of_item.iter().map(|tags| pairs_among(tags.len())).sum();
        let is_small = pair_count <= 4 * item_count && members <= 8 * item_count;
        if !is_small || u32::try_from(tags_of_item.total()).is_err() {
            return None;
        }
        let members = (0..).zip(tags_of_item.iter());
        let members = members.flat_map(|(item, tags)| pairs_of(tags).map(move |pair| (pair, item)));
        let items_of_pair = Lists::grouped(pair_count, members);
        // Each item of a pair walks over all of them. With rows, each tag of an item walks over the
        // bits of all items, 64 in a step that takes about half as long.
        let steps: u128 = items_of_pair.iter().map(|items| (items.len() as u128).pow(2)).sum();
        let steps_with_rows = (tags_of_item.total() * (item_count / 128)) as u128;
        let met = vec![0; *item_count];
        (steps < steps_with_rows).then_some(Self { index, items_of_pair, met, step: 0 })
    }

    pub(super) fn count(&mut self, tags: &[u32]) -> usize {
        let items_of = |tag: &u32| self.index.items_of_tag.get(*tag as usize);
        let with_repetition: usize = tags.iter().map(|tag| items_of(tag).len()).sum();
        with_repetition - self.repetitions(tags)
    }

    /// Adds up, over all items, by how much the number of shared tags exceeds one: an item is met
    /// in the pairs of its first shared tag, once for each of the others.
    fn repetitions(&mut self, tags: &[u32]) -> usize {
        let start = self.step + 1;
        let mut repetitions = 0;
        for (at, first) in tags.iter().enumerate() {
            self.step += 1;
            for second in &tags[at + 1..] {
                for item in self.items_of_pair.get(pair(*first, *second)) {
                    let met = &mut self.met[*item as usize];
                    *met = if *met < start { self.step } else { *met };
                    repetitions += usize::from(*met == self.step);
                }
            }
        }
        repetitions
    }
}

/// Number of pairs so many tags make.
fn pairs_among(tags: usize) -> usize {
    tags.saturating_mul(tags.saturating_sub(1)) / 2
}

/// The number of a pair, the lower tag first.
fn pair(first: u32, second: u32) -> usize {
    pairs_among(second as usize) + first as usize
}

fn pairs_of(tags: &[u32]) -> impl Iterator<Item = usize> + Clone {
    (1..tags.len()).flat_map(move |at| tags[..at].iter().map(move |first| pair(*first, tags[at])))
}

#[cfg(test)]
mod tests {
    use super::super::union::Union;
    use super::*;
    use crate::{ContextItem, ContextItemBuilder};

    /// Items with up to five of so many tags.
    fn items(count: usize, tags: usize) -> Vec<ContextItem> {
        let item = |number: usize| {
            let tag = |at: usize| format!("tag {}", number.wrapping_mul(at * at + 7919) / 3 % tags);
            let own = (0..number % 6).map(tag).collect();
            ContextItemBuilder::new("x", 1).tags(own).build().unwrap()
        };
        (0..count).map(item).collect()
    }

    #[test]
    fn pairs_and_rows_count_the_same() {
        let index = TagIndex::new(&items(3000, 100));
        let mut pairs = Pairs::new(&index).expect("few items share two of a hundred tags");
        let mut rows = Union::new(&index);
        for tags in index.tags_of_item.iter().filter(|tags| !tags.is_empty()) {
            assert_eq!(pairs.count(tags), rows.count(tags), "{tags:?}");
        }
    }

    #[test]
    fn rows_are_preferred_where_many_items_share_two_tags_or_tags_are_many() {
        assert!(Pairs::new(&TagIndex::new(&items(3000, 5))).is_none());
        assert!(Pairs::new(&TagIndex::new(&items(3000, 3000))).is_none());
    }
}
