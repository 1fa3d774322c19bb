//! Stage 1: pinned items go straight to Place, invalid ones go nowhere, the rest competes.

use std::borrow::Cow;

use super::fate::Exclusion;
use crate::diagnostics::ExclusionReason;
use crate::model::{TokenSum, clamp_to_i64};
use crate::{Candidate, ContextBudget, ContextItem, CupelError};

/// The candidates, told apart.
pub(super) struct Classified<'a> {
    pub(super) items: &'a [ContextItem],
    /// The tokens of each item. Later stages visit items in order of score, at random places in
    /// memory; here they need not fetch an item for this number.
    pub(super) tokens: Vec<i64>,
    /// Positions of pinned items, in input order.
    pub(super) pinned: Vec<u32>,
    pub(super) pinned_tokens: TokenSum,
    /// Positions of the items that compete, in input order.
    pub(super) scoreable: Positions,
    /// Positions of the items with a negative token count.
    negative: Vec<u32>,
}

/// Positions in the caller's list, ascending.
pub(super) enum Positions {
    /// All of them: the usual case, which needs no list.
    All(usize),
    Some(Vec<u32>),
}

impl Positions {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::All(len) => *len,
            Self::Some(positions) => positions.len(),
        }
    }

    /// Which of these positions the given one is.
    pub(super) fn find(&self, position: usize) -> Option<usize> {
        match self {
            Self::All(len) => Some(position).filter(|position| position < len),
            Self::Some(positions) => positions.binary_search(&u32::try_from(position).ok()?).ok(),
        }
    }

    pub(super) fn get(&self, index: usize) -> u32 {
        match self {
            Self::All(_) => index as u32,
            Self::Some(positions) => positions[index],
        }
    }
}

pub(super) fn classify(items: &[ContextItem]) -> Result<Classified<'_>, CupelError> {
    if u32::try_from(items.len()).is_err() {
        let text =
            format!("{} items are more than the {} that one run takes", items.len(), u32::MAX);
        return Err(CupelError::PipelineConfig(text));
    }
    let (mut pinned, mut negative) = (Vec::new(), Vec::new());
    let mut tokens = Vec::with_capacity(items.len());
    let mut pinned_tokens = TokenSum::default();
    for (position, item) in (0..).zip(items) {
        tokens.push(item.tokens());
        if item.tokens() < 0 {
            negative.push(position);
        } else if item.pinned() {
            pinned.push(position);
            pinned_tokens.add(item.tokens());
        }
    }
    let scoreable = if pinned.is_empty() && negative.is_empty() {
        Positions::All(items.len())
    } else {
        let competes = |item: &ContextItem| item.tokens() >= 0 && !item.pinned();
        let positions = (0..).zip(items).filter(|(_, item)| competes(item));
        Positions::Some(positions.map(|(position, _)| position).collect())
    };
    Ok(Classified { items, tokens, pinned, pinned_tokens, scoreable, negative })
}

impl<'a> Classified<'a> {
    /// Number of items that are left: pinned and scoreable.
    pub(super) fn len(&self) -> usize {
        self.pinned.len() + self.scoreable.len()
    }

    /// The tokens of the items that compete.
    pub(super) fn competing_tokens(&self) -> TokenSum {
        let positions = (0..self.scoreable.len()).map(|at| self.scoreable.get(at));
        positions.map(|position| self.tokens[position as usize]).sum()
    }

    /// The items that compete, as scorers see them.
    pub(super) fn scoreable_items(&self) -> Cow<'a, [ContextItem]> {
        match &self.scoreable {
            Positions::All(_) => self.items.into(),
            Positions::Some(positions) => {
                positions.iter().map(|at| self.items[*at as usize].clone()).collect()
            }
        }
    }

    /// The item at this position, with its score.
    pub(super) fn candidate(&self, position: u32, score: f64) -> Candidate<'a> {
        let position = position as usize;
        Candidate::with_tokens(&self.items[position], score, self.tokens[position]).at(position)
    }

    pub(super) fn exclusions(&self) -> impl Iterator<Item = Exclusion<'a>> {
        self.negative.iter().map(|position| {
            let item = &self.items[*position as usize];
            let reason = ExclusionReason::NegativeTokens { tokens: item.tokens() };
            Exclusion { position: *position, item, score: 0.0, reason }
        })
    }

    /// The pinned item with the most tokens, the first among equals.
    pub(super) fn largest_pinned(&self) -> Option<&'a ContextItem> {
        largest(self.pinned.iter().map(|position| &self.items[*position as usize]))
    }
}

/// Pinned items must fit into what the model's answer leaves of the window.
pub(super) fn require_pinned_fit(
    pinned_tokens: TokenSum,
    budget: &ContextBudget,
) -> Result<(), CupelError> {
    let available = i128::from(budget.max_tokens()) - i128::from(budget.output_reserve());
    if pinned_tokens.0 <= available {
        return Ok(());
    }
    Err(CupelError::PinnedExceedsBudget {
        pinned_tokens: pinned_tokens.clamped(),
        available: clamp_to_i64(available),
    })
}

/// Number of tokens an item may have to get in, and how many it might have with nothing pinned.
#[derive(Clone, Copy)]
pub(super) struct Room {
    pub(super) tokens: i128,
    pub(super) without_pins: i128,
}

impl Room {
    /// Why an item did not fit: pins alone keep it out, or there was too little left for it.
    pub(super) fn misfit<'p>(
        self,
        item_tokens: i64,
        available_tokens: i64,
        largest_pinned: impl FnOnce() -> Option<&'p ContextItem>,
    ) -> ExclusionReason {
        if (self.tokens + 1..=self.without_pins).contains(&i128::from(item_tokens)) {
            if let Some(pinned) = largest_pinned() {
                let displaced_by = pinned.content().to_owned();
                return ExclusionReason::PinnedOverride { displaced_by };
            }
        }
        ExclusionReason::BudgetExceeded { item_tokens, available_tokens }
    }
}

/// The item with the most tokens, the first among equals.
pub(super) fn largest<'p>(
    items: impl DoubleEndedIterator<Item = &'p ContextItem>,
) -> Option<&'p ContextItem> {
    // Reversed, because of equal maxima the last one is taken.
    items.rev().max_by_key(|item| item.tokens())
}
