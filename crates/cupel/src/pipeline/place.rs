//! Stage 6: merges pinned and sliced items, handles overflow, and orders.

use std::collections::HashSet;

use super::classify::{Classified, Room};
use super::fate::{Exclusion, Inclusion, Rendered};
use super::pins::Pins;
use super::shape::Shape;
use super::slice::Sliced;
use super::sort::Sorted;
use crate::diagnostics::InclusionReason;
use crate::model::{TokenSum, clamp_to_i64};
use crate::policy::Policy;
use crate::{Candidate, ContextBudget, ContextItem, CupelError, Needs, OverflowStrategy};

/// Score of a pinned item.
const PINNED_SCORE: f64 = 1.0;

/// The window.
pub(super) struct Placed {
    /// In final order.
    pub(super) entries: Vec<Entry>,
    /// Items that Truncate dropped, in merged order, with the tokens that were left for each.
    truncated: Vec<(Entry, i64)>,
    /// By how much Proceed exceeded the target, and all that was merged.
    pub(super) overflow: Option<(i64, Vec<Entry>)>,
    /// Up to which effective target the slicer would choose the same, if it says so.
    pub(super) next_target: Option<i64>,
}

/// An item of a window: where it stands in the caller's list, and what it scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlacedItem {
    /// Its position in the list.
    pub position: usize,
    /// Its score; 1 if it is pinned.
    pub score: f64,
    /// Which of its [renderings](ContextItem::renderings) it goes in as; `None` if it is whole.
    pub rendering: Option<usize>,
}

/// The same in half the space, for the way there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) position: u32,
    pub(super) shape: Shape,
    pub(super) score: f64,
}

pub(super) fn place(
    classified: &Classified<'_>,
    pins: &Pins,
    sorted: &Sorted<'_>,
    sliced: &Sliced,
    budget: &ContextBudget,
    policy: &Policy,
    needs: Option<&Needs>,
) -> Result<Placed, CupelError> {
    let mut merged = merge(classified, pins, sorted, sliced);
    let tokens_of = |entry: &Entry| entry.tokens(classified);
    let merged_tokens: TokenSum = merged.iter().map(tokens_of).sum();
    let over = merged_tokens.0 - i128::from(budget.target_tokens());
    let mut truncated = Vec::new();
    let mut overflow = None;
    if over > 0 {
        match policy.overflow_strategy {
            OverflowStrategy::Throw => {
                return Err(CupelError::Overflow {
                    merged_tokens: merged_tokens.clamped(),
                    target_tokens: budget.target_tokens(),
                });
            }
            OverflowStrategy::Truncate => {
                (merged, truncated) = truncate(classified, merged, budget.target_tokens(), needs);
            }
            OverflowStrategy::Proceed => overflow = Some((clamp_to_i64(over), merged.clone())),
        }
    }
    let candidates: Vec<Candidate<'_>> =
        merged.iter().map(|entry| classified.candidate(entry.position, entry.score)).collect();
    let order = policy.placer.arrange(&candidates)?;
    require_permutation(&order, merged.len())?;
    let entries = order.into_iter().map(|at| merged[at]).collect();
    let next_target = sliced.next_target.filter(|_| pins.are_whole());
    Ok(Placed { entries, truncated, overflow, next_target })
}

/// Pinned items in input order, then what was sliced, best first.
fn merge(
    classified: &Classified<'_>,
    pins: &Pins,
    sorted: &Sorted<'_>,
    sliced: &Sliced,
) -> Vec<Entry> {
    let mut merged = Vec::with_capacity(classified.pinned.len() + sliced.len());
    merged.extend(classified.pinned.iter().map(|position| Entry {
        position: *position,
        shape: pins.shape(*position),
        score: PINNED_SCORE,
    }));
    for (at, is_selected) in sliced.is_selected.iter().enumerate() {
        if *is_selected {
            let score = sorted.candidates[at].score();
            merged.push(Entry { position: sorted.positions[at], shape: sliced.shape(at), score });
        }
    }
    merged
}

/// Keeps what is pinned with what that needs, and from the front what still fits and has what it
/// needs.
fn truncate(
    classified: &Classified<'_>,
    merged: Vec<Entry>,
    target_tokens: i64,
    needs: Option<&Needs>,
) -> (Vec<Entry>, Vec<(Entry, i64)>) {
    let (mut kept, mut dropped) = (Vec::new(), Vec::new());
    let stays = staying(classified, needs);
    let stays = |entry: &&Entry| stays.contains(&(entry.position as usize));
    let staying: TokenSum = merged.iter().filter(stays).map(|e| e.tokens(classified)).sum();
    let mut left = i128::from(target_tokens) - staying.0;
    for entry in merged {
        if stays(&&entry) {
            kept.push(entry);
            continue;
        }
        let item = &classified.items[entry.position as usize];
        let tokens = i128::from(entry.tokens(classified));
        if item.pinned() || tokens <= left {
            kept.push(entry);
            left -= tokens;
        } else {
            dropped.push((entry, clamp_to_i64(left)));
        }
    }
    while let Some(at) = needs.and_then(|needs| lacking(&kept, needs)) {
        dropped.push((kept.remove(at), clamp_to_i64(left)));
    }
    (kept, dropped)
}

/// The needs of pinned items, pinned items left aside.
fn staying(classified: &Classified<'_>, needs: Option<&Needs>) -> HashSet<usize> {
    let is_pinned = |at: usize| classified.items[at].pinned();
    let of_pinned = |pinned: &u32| {
        let missing = needs.map(|needs| needs.missing(*pinned as usize, is_pinned));
        missing.unwrap_or_default()
    };
    classified.pinned.iter().flat_map(of_pinned).collect()
}

/// The first of these entries that lacks what it needs.
fn lacking(kept: &[Entry], needs: &Needs) -> Option<usize> {
    let is_in: HashSet<usize> = kept.iter().map(|entry| entry.position as usize).collect();
    let lacks = |entry: &Entry| {
        !needs.of(entry.position as usize).iter().all(|needed| is_in.contains(needed))
    };
    kept.iter().position(lacks)
}

fn require_permutation(order: &[usize], len: usize) -> Result<(), CupelError> {
    let mut is_placed = vec![false; len];
    let is_new = |at: &usize| match is_placed.get_mut(*at) {
        Some(placed) => !std::mem::replace(placed, true),
        None => false,
    };
    if order.len() == len && order.iter().all(is_new) {
        return Ok(());
    }
    Err(CupelError::PipelineConfig(format!(
        "the placer must return each of its {len} positions once"
    )))
}

impl Entry {
    fn tokens(&self, classified: &Classified<'_>) -> i64 {
        match self.shape {
            Shape::WHOLE => classified.tokens[self.position as usize],
            shape => shape.tokens(&classified.items[self.position as usize]),
        }
    }
}

impl Placed {
    /// Handles of the window's items.
    pub(super) fn window(self, items: &[ContextItem]) -> Vec<ContextItem> {
        let item = |entry: &Entry| entry.shape.apply(&items[entry.position as usize]);
        self.entries.iter().map(item).collect()
    }

    /// The window as positions.
    pub(super) fn positions(self) -> Vec<PlacedItem> {
        let placed = |Entry { position, shape, score }| PlacedItem {
            position: position as usize,
            score,
            rendering: shape.rendering(),
        };
        self.entries.into_iter().map(placed).collect()
    }

    pub(super) fn exclusions<'a>(
        &'a self,
        classified: &'a Classified<'_>,
    ) -> impl Iterator<Item = Exclusion<'a>> {
        self.truncated.iter().map(|(Entry { position, score, .. }, available)| {
            let item = &classified.items[*position as usize];
            let tokens = i128::from(*available);
            let room = Room { tokens, without_pins: tokens + classified.pinned_tokens.0 };
            let reason = room.misfit(item.tokens(), *available, || classified.largest_pinned());
            Exclusion { position: *position, item, score: *score, reason }
        })
    }

    pub(super) fn inclusions<'a>(
        &'a self,
        items: &'a [ContextItem],
    ) -> impl Iterator<Item = Inclusion> {
        self.entries.iter().map(|Entry { position, shape, score }| {
            let item = &items[*position as usize];
            let reason = match item.tokens() {
                _ if item.pinned() => InclusionReason::Pinned,
                _ if *shape != Shape::WHOLE => InclusionReason::Shortened,
                0 => InclusionReason::ZeroToken,
                _ => InclusionReason::Scored,
            };
            let item = Rendered { item: shape.apply(item), rendering: shape.rendering() };
            Inclusion { position: *position, item, score: *score, reason }
        })
    }
}
