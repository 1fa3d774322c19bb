//! Which item is this? For tables of what is known about items.

use std::collections::HashMap;

use cupel::ContextItem;
use foldhash::fast::RandomState;

/// Numbers items in the order in which they are met: an item has the number of its clones, and of no other
/// item, whatever its text says.
///
/// Items are told apart by where their texts lie. That is safe as long as the items live, so the table holds
/// them: the place of one that it knows is never given to another.
#[derive(Debug, Clone, Default)]
pub(crate) struct ItemNumbers {
    by_place: HashMap<usize, u32, RandomState>,
    items: Vec<ContextItem>,
}

impl ItemNumbers {
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// The items, by their numbers.
    pub(crate) fn items(&self) -> &[ContextItem] {
        &self.items
    }

    /// The number of an item, if it has one.
    #[inline]
    pub(crate) fn get(&self, item: &ContextItem) -> Option<u32> {
        self.by_place.get(&place(item)).copied()
    }

    /// The same, for whoever has an expectation, which is quicker to see through than to look up.
    #[inline]
    pub(crate) fn get_expecting(&self, item: &ContextItem, expected: u32) -> Option<u32> {
        match self.items.get(expected as usize) {
            Some(known) if known.is_same_item(item) => Some(expected),
            _ => self.get(item),
        }
    }

    /// Gives an item a number. `None` if it has one.
    #[inline]
    pub(crate) fn enter(&mut self, item: &ContextItem) -> Option<u32> {
        let next = self.items.len() as u32;
        if *self.by_place.entry(place(item)).or_insert(next) != next {
            return None;
        }
        self.items.push(item.clone());
        Some(next)
    }

    /// Forgets all of them.
    pub(crate) fn clear(&mut self) {
        self.by_place.clear();
        self.items.clear();
    }
}

/// Where the text of an item lies, which no item has empty.
#[inline]
fn place(item: &ContextItem) -> usize {
    item.content().as_ptr().addr()
}

/// Where an item stands in a list.
pub(crate) fn position(item: &ContextItem, items: &[ContextItem]) -> Option<usize> {
    items.iter().position(|other| other.is_same_item(item))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{build, item};

    #[test]
    fn clones_share_a_number_and_items_that_are_equal_do_not() {
        let items = build([item("a"), item("a"), item("b")]);
        let mut numbers = ItemNumbers::default();
        let entered: Vec<_> = items.iter().map(|item| numbers.enter(item)).collect();
        assert_eq!(entered, [Some(0), Some(1), Some(2)]);
        assert_eq!(numbers.enter(&items[1].clone()), None);
        assert_eq!((numbers.len(), numbers.get(&items[1].clone())), (3, Some(1)));
        for expected in 0..4 {
            assert_eq!(numbers.get_expecting(&items[2], expected), Some(2));
        }
        let [other] = &build([item("a")])[..] else { panic!("one") };
        assert_eq!((numbers.get(other), numbers.get_expecting(other, 0)), (None, None));
    }

    #[test]
    fn a_number_is_never_another_items_though_its_own_is_dropped_elsewhere() {
        let mut numbers = ItemNumbers::default();
        for at in 0..1_000 {
            // Where the last one lay would be free for this one, if nobody held it.
            assert_eq!(numbers.enter(&build([item("the same text")])[0]), Some(at));
        }
        numbers.clear();
        assert_eq!((numbers.len(), numbers.items().len()), (0, 0));
    }
}
