//! Stage 4: best first; among equal scores, input order.

use super::deduplicate::Unique;
use super::score::Scored;
use crate::Candidate;
use crate::order::positions_descending;

/// The items that compete, best first.
pub(super) struct Sorted<'a> {
    pub(super) candidates: Vec<Candidate<'a>>,
    /// Where each stands in the caller's list.
    pub(super) positions: Vec<u32>,
}

pub(super) fn sort<'a>(scored: &Scored<'a>, unique: &Unique) -> Sorted<'a> {
    let score = |index: u32| scored.scores[index as usize];
    let order = positions_descending(unique.survivors.iter().map(|index| score(*index)));
    let (mut candidates, mut positions) =
        (Vec::with_capacity(order.len()), Vec::with_capacity(order.len()));
    for survivor in order {
        let index = unique.survivors[survivor as usize];
        let position = scored.position(index as usize);
        candidates.push(scored.classified.candidate(position, score(index)));
        positions.push(position);
    }
    Sorted { candidates, positions }
}

impl Sorted<'_> {
    pub(super) fn len(&self) -> usize {
        self.candidates.len()
    }
}
