//! Texts that were taken in already.

use std::collections::HashSet;
use std::hash::{Hash, Hasher};

use crate::ContextItem;

/// The texts of items, kept by way of their handles.
#[derive(Default)]
pub(super) struct SeenTexts(HashSet<ByContent, foldhash::fast::RandomState>);

impl SeenTexts {
    /// Keeps what has a new text; returns the rest.
    pub(super) fn drop_repeated<'i>(
        &mut self,
        survivors: &mut Vec<u32>,
        item: impl Fn(usize) -> &'i ContextItem,
    ) -> Vec<u32> {
        let mut repeated = Vec::new();
        survivors.retain(|at| {
            let is_new = self.0.insert(ByContent(item(*at as usize).clone()));
            if !is_new {
                repeated.push(*at);
            }
            is_new
        });
        repeated
    }
}

/// An item that is found by its text.
struct ByContent(ContextItem);

impl PartialEq for ByContent {
    fn eq(&self, other: &Self) -> bool {
        self.0.content() == other.0.content()
    }
}

impl Eq for ByContent {}

impl Hash for ByContent {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.content().hash(state);
    }
}
