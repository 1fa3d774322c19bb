//! Stage 2: every item that competes gets a score.

use super::classify::Classified;
use crate::{ContextItem, Scorer};

/// The items that compete, with their scores.
pub(super) struct Scored<'c, 'a> {
    pub(super) classified: &'c Classified<'a>,
    /// One for each item that competes.
    pub(super) scores: Vec<f64>,
}

pub(super) fn score<'c, 'a>(classified: &'c Classified<'a>, scorer: &dyn Scorer) -> Scored<'c, 'a> {
    let scoreable = classified.scoreable_items();
    let mut scores = vec![0.0; scoreable.len()];
    if !scoreable.is_empty() {
        scorer.score_all(&scoreable, &mut scores);
    }
    Scored { classified, scores }
}

impl<'a> Scored<'_, 'a> {
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
}
