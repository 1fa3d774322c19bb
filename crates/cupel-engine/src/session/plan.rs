//! Where to cut the window, and what is worth sending again behind the cut.
//!
//! Cutting off the end of a window costs nothing: what stands before the cut is in the provider's
//! cache. What stands behind it is paid for in full. So for each place to cut the window is filled
//! up again with what is worth its tokens, and the best of these windows is taken.

use std::cmp::Ordering;

use cupel::Worth;
use cupel::slicer::Form;

use super::fill::{Fill, Filler};
use crate::prepare::Chosen;

/// At how many places a cut is tried, at most.
const MOST_CUTS: usize = 48;

/// What room that is left is worth, as a share of what it would cost to send something again: the
/// next message then needs no cut.
const WORTH_OF_ROOM: f64 = 0.4;

/// How much of the window is worth leaving free at most.
const MOST_ROOM: f64 = 0.2;

/// What is in or out as a whole, in the order of the request.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Unit {
    pub(super) tokens: i64,
    /// As what it could be sent, the shortest first and the whole last; empty where it can only be
    /// whole.
    pub(super) forms: Vec<Form>,
    /// What it was sent as, if it stands in the window; what it must be sent as, if it is pinned.
    pub(super) stands_as: Option<usize>,
    /// Whether it must be in.
    pub(super) is_pinned: bool,
    /// Whether the provider has never had it.
    pub(super) is_new: bool,
    /// Whether it may be sent again.
    pub(super) competes: bool,
    /// The unit without which it cannot stand.
    pub(super) needs: Option<usize>,
}

impl Unit {
    /// One of its forms; the whole if it has no such form.
    pub(super) fn form(&self, rendering: Option<usize>) -> Form {
        let whole = Form { rendering: None, tokens: self.tokens, share: 1.0 };
        let known = self.forms.iter().find(|form| form.rendering == rendering);
        known.copied().unwrap_or(whole)
    }

    /// What it stands as.
    pub(super) fn standing(&self) -> Form {
        self.form(self.stands_as)
    }
}

/// What there is to decide.
pub(super) struct Situation<'s> {
    /// All units of the request.
    pub(super) units: &'s [Unit],
    /// What they are worth together.
    pub(super) worth: &'s Worth,
    /// The units of the window before, as far as it stands unchanged, in order.
    pub(super) window: &'s [usize],
    /// What units that are not pinned may cost together.
    pub(super) room: i64,
    /// What may be sent again.
    pub(super) credit: i64,
    /// The share of the average worth of a token that one must have to be sent again.
    pub(super) threshold: f64,
    /// What a unit pays for its size when they compete: its worth is divided by tokens to this power.
    pub(super) size_exponent: f64,
}

/// Whether nothing of the window before stands, but for what must be in.
pub(super) fn is_first(units: &[Unit], window: &[usize]) -> bool {
    window.iter().all(|at| units[*at].is_pinned)
}

/// What is decided.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    /// How many units of the window before stay as they are.
    pub(super) prefix: usize,
    /// The units behind them, ascending, and which of their renderings is sent; `None` for the whole.
    pub(super) behind: Vec<Chosen>,
    /// Tokens of those that the provider has had before.
    pub(super) again_tokens: i64,
    /// What a token had to be worth.
    pub(super) price: f64,
}

impl Plan {
    /// The whole window, ascending.
    pub(super) fn window(&self, before: &[usize], units: &[Unit]) -> Vec<Chosen> {
        let stays = before[..self.prefix].iter().map(|at| (*at, units[*at].stands_as));
        stays.chain(self.behind.iter().copied()).collect()
    }

    /// Whether a unit is behind the cut.
    pub(super) fn is_behind(&self, at: usize) -> bool {
        self.behind.binary_search_by_key(&at, |(unit, _)| *unit).is_ok()
    }
}

/// The best window, or `None` if not even what is pinned can be had.
pub(super) fn plan(situation: &Situation<'_>) -> Option<Plan> {
    let mut filler = Filler::new(situation);
    let window = situation.window;
    let first = window.iter().take_while(|at| situation.units[**at].is_pinned).count();
    // Where nothing stands, nothing is sent again: all that fits is taken.
    let threshold = if is_first(situation.units, window) { 0.0 } else { situation.threshold };
    let price = threshold * filler.average_worth();
    filler.forget_cheap(price);
    let mut best: Option<(Rank, Plan)> = None;
    for prefix in cuts(first, window.len()) {
        let Some(fill) = filler.within_credit(prefix, price) else { continue };
        let room_ahead = (fill.left_tokens as f64).min(MOST_ROOM * situation.room as f64);
        let rank = Rank {
            overdraft: (fill.again_tokens - situation.credit).max(0),
            score: fill.worth + price * (WORTH_OF_ROOM * room_ahead - fill.paid_tokens as f64),
        };
        let is_better = best.as_ref().is_none_or(|(known, _)| rank.cmp(known).is_gt());
        if is_better {
            let Fill { behind, again_tokens, .. } = fill;
            best = Some((rank, Plan { prefix, behind, again_tokens, price }));
        }
    }
    best.map(|(_, plan)| plan)
}

/// The places to try, the last first.
fn cuts(first: usize, last: usize) -> impl Iterator<Item = usize> {
    let count = last - first + 1;
    let stride = count.div_ceil(MOST_CUTS);
    (0..count).rev().step_by(stride).chain((stride > 1).then_some(0)).map(move |at| first + at)
}

/// How good a window is: one that stays within its credit before one that does not.
#[derive(Debug, Clone, Copy)]
struct Rank {
    overdraft: i64,
    score: f64,
}

impl Rank {
    fn cmp(&self, other: &Self) -> Ordering {
        other.overdraft.cmp(&self.overdraft).then(self.score.total_cmp(&other.score))
    }
}
