//! A borrowed item with its score.

use super::{ContextItem, ScoredItem};

/// A context item and its score, borrowed: what slicers and placers look at.
///
/// The light counterpart of [`ScoredItem`]: making one copies a pointer and two numbers.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    item: &'a ContextItem,
    score: f64,
    // Kept beside the pointer, because walking a sorted list would otherwise visit memory at
    // random for nothing but this number.
    tokens: i64,
    position: Option<u32>,
}

impl<'a> Candidate<'a> {
    /// An item with its score.
    #[must_use]
    pub fn new(item: &'a ContextItem, score: f64) -> Self {
        Self { item, score, tokens: item.tokens(), position: None }
    }

    /// The same for whoever knows the item's tokens already.
    pub(crate) fn with_tokens(item: &'a ContextItem, score: f64, tokens: i64) -> Self {
        Self { item, score, tokens, position: None }
    }

    /// With its position in the list of the run. A position that no run takes is none.
    #[must_use]
    pub fn at(mut self, position: usize) -> Self {
        self.position = u32::try_from(position).ok();
        self
    }

    /// Its position in the list of the run, if it is of one.
    pub fn position(&self) -> Option<usize> {
        self.position.map(|position| position as usize)
    }

    /// The item.
    pub fn item(&self) -> &'a ContextItem {
        self.item
    }

    /// The item's score.
    pub fn score(&self) -> f64 {
        self.score
    }

    /// The item's tokens.
    pub fn tokens(&self) -> i64 {
        self.tokens
    }

    /// The owned form.
    pub fn to_scored_item(&self) -> ScoredItem {
        ScoredItem { item: self.item.clone(), score: self.score }
    }
}

impl<'a> From<&'a ScoredItem> for Candidate<'a> {
    fn from(scored: &'a ScoredItem) -> Self {
        Self::new(&scored.item, scored.score)
    }
}
