//! Stage 2: every item that competes gets a score.

use std::borrow::Cow;

use super::classify::{Classified, Positions};
use crate::{ContextItem, Scorer};

/// The items that compete, with their scores.
pub(super) struct Scored<'c, 'a> {
    pub(super) items: &'a [ContextItem],
    pub(super) positions: &'c Positions,
    /// One for each position.
    pub(super) scores: Vec<f64>,
}

pub(super) fn score<'c, 'a>(classified: &'c Classified<'a>, scorer: &dyn Scorer) -> Scored<'c, 'a> {
    let positions = &classified.scoreable;
    let scoreable: Cow<'_, [ContextItem]> = match positions {
        Positions::All(_) => classified.items.into(),
        Positions::Some(positions) => {
            positions.iter().map(|at| classified.items[*at as usize].clone()).collect()
        }
    };
    let mut scores = vec![0.0; scoreable.len()];
    if !scoreable.is_empty() {
        scorer.score_all(&scoreable, &mut scores);
    }
    Scored { items: classified.items, positions, scores }
}

impl<'a> Scored<'_, 'a> {
    pub(super) fn len(&self) -> usize {
        self.scores.len()
    }

    /// The item with the given number among those that compete.
    pub(super) fn item(&self, index: usize) -> &'a ContextItem {
        &self.items[self.positions.get(index) as usize]
    }
}
