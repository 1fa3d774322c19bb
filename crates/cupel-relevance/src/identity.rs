//! Which item is this? For tables of what is known about items.

use std::collections::HashMap;

use cupel::ContextItem;
use foldhash::fast::RandomState;

/// A key that an item shares with its clones and with no other item, as long as it lives: where its
/// text lies. Whoever keeps the key must keep a handle too, or the place may be given to another.
pub(crate) fn key(item: &ContextItem) -> usize {
    item.content().as_ptr().addr()
}

/// Looks items up by identity.
pub(crate) type ByItem<T> = HashMap<usize, T, RandomState>;

/// Where an item stands in a list.
pub(crate) fn position(item: &ContextItem, items: &[ContextItem]) -> Option<usize> {
    items.iter().position(|other| other.is_same_item(item))
}
