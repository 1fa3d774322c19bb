//! Stage 2: every item that competes gets a score.

use super::classify::Classified;
use crate::{ContextItem, ItemList, RunContext, Scorer};

/// The items that compete, with their scores.
pub(super) struct Scored<'a> {
    pub(super) classified: Classified<'a>,
    /// One for each item that competes.
    pub(super) scores: Vec<f64>,
}

pub(super) fn score<'a>(
    classified: Classified<'a>,
    scorer: &dyn Scorer,
    context: &RunContext,
) -> Scored<'a> {
    let scoreable = classified.scoreable_items();
    let mut scores = vec![0.0; scoreable.len()];
    if !scoreable.is_empty() {
        scorer.score_all(&ItemList::new(&scoreable).in_context(context), &mut scores);
    }
    Scored { classified, scores }
}

impl<'a> Scored<'a> {
    pub(super) fn len(&self) -> usize {
        self.scores.len()
    }

    /// Where the item with the given number among those that compete stands in the caller's list.
    pub(super) fn position(&self, index: usize) -> u32 {
        self.classified.scoreable.get(index)
    }

    /// The item with the given number among those that compete.
    pub(super) fn item(&self, index: usize) -> &'a ContextItem {
        &self.classified.items[self.position(index) as usize]
    }

    /// The score of the item at this position of the caller's list; `None` for pinned and invalid
    /// items, and beyond the list.
    pub(super) fn score_at(&self, position: usize) -> Option<f64> {
        self.classified.scoreable.find(position).map(|index| self.scores[index])
    }
}
