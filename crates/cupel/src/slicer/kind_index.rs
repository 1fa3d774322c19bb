//! Kinds, numbered in the order in which they first appear.

use std::collections::HashMap;

use crate::ContextKind;

/// Gives each kind a small number.
#[derive(Debug, Default)]
pub(super) struct KindIndex<'a> {
    numbers: HashMap<&'a ContextKind, usize, foldhash::fast::RandomState>,
}

impl<'a> KindIndex<'a> {
    /// The number of a kind, a new one if it has none yet.
    pub(super) fn number(&mut self, kind: &'a ContextKind) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(kind).or_insert(next)
    }

    /// The number of a kind, if it has one.
    pub(super) fn get(&self, kind: &ContextKind) -> Option<usize> {
        self.numbers.get(kind).copied()
    }

    pub(super) fn contains(&self, kind: &ContextKind) -> bool {
        self.numbers.contains_key(kind)
    }
}

/// Numbers the kinds of a list of entries.
///
/// # Errors
///
/// The first kind that occurs twice.
pub(super) fn distinct<'a>(
    kinds: impl Iterator<Item = &'a ContextKind>,
) -> Result<KindIndex<'a>, &'a ContextKind> {
    let mut index = KindIndex::default();
    for (at, kind) in kinds.enumerate() {
        if index.number(kind) != at {
            return Err(kind);
        }
    }
    Ok(index)
}
