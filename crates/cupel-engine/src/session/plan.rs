//! Where to cut the window, and what is worth sending again behind the cut.
//!
//! Cutting off the end of a window costs nothing: what stands before the cut is in the provider's
//! cache. What stands behind it is paid for in full. So for each place to cut the window is filled
//! up again with what is worth its tokens, and the best of these windows is taken.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use cupel::Worth;

/// At how many places a cut is tried, at most.
const MOST_CUTS: usize = 48;

/// What is in or out as a whole, in the order of the request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Unit {
    pub(super) tokens: i64,
    /// Whether it must be in.
    pub(super) is_pinned: bool,
    /// Whether the provider has never had it.
    pub(super) is_new: bool,
    /// Whether it may be sent again.
    pub(super) competes: bool,
    /// The unit without which it cannot stand.
    pub(super) needs: Option<usize>,
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

/// What is decided.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    /// How many units of the window before stay as they are.
    pub(super) prefix: usize,
    /// The units behind them, ascending.
    pub(super) behind: Vec<usize>,
    /// Tokens of those that the provider has had before.
    pub(super) again_tokens: i64,
    /// What a token had to be worth.
    pub(super) price: f64,
}

impl Plan {
    /// The whole window, ascending.
    pub(super) fn window(&self, before: &[usize]) -> Vec<usize> {
        before[..self.prefix].iter().chain(&self.behind).copied().collect()
    }
}

/// The best window, or `None` if not even what is pinned can be had.
pub(super) fn plan(situation: &Situation<'_>) -> Option<Plan> {
    let mut filler = Filler::new(situation);
    let window = situation.window;
    let first = window.iter().take_while(|at| situation.units[**at].is_pinned).count();
    // Where nothing stands, nothing is sent again: all that fits is taken.
    let threshold = if first == window.len() { 0.0 } else { situation.threshold };
    let price = threshold * filler.average_worth();
    filler.forget_cheap(price);
    let mut best: Option<(Rank, Plan)> = None;
    for prefix in cuts(first, window.len()) {
        let Some(fill) = filler.within_credit(prefix, price) else { continue };
        let rank = Rank {
            overdraft: (fill.again_tokens - situation.credit).max(0),
            score: fill.worth - price * fill.paid_tokens as f64,
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

/// What stands behind a cut.
struct Fill {
    behind: Vec<usize>,
    /// Of the whole window.
    worth: f64,
    /// Tokens of what is behind the cut and not pinned.
    paid_tokens: i64,
    again_tokens: i64,
}

/// Fills windows up.
struct Filler<'s> {
    situation: &'s Situation<'s>,
    /// What units that need no other offer to an empty window, the best first. With something
    /// covered they offer no more, so that only those that come up are looked at again.
    alone: Vec<Bid>,
    /// The other units that compete.
    dependent: Vec<usize>,
    /// For each value in which round it was last covered.
    covered: Vec<u32>,
    /// For each unit in which round it was last taken.
    taken: Vec<u32>,
    round: u32,
}

impl<'s> Filler<'s> {
    fn new(situation: &'s Situation<'s>) -> Self {
        let units = situation.units;
        let competes = |at: &usize| units[*at].competes && !units[*at].is_pinned;
        let competitors = (0..units.len()).filter(competes);
        let (dependent, independent): (Vec<usize>, Vec<usize>) =
            competitors.partition(|at| units[*at].needs.is_some());
        let mut filler = Self {
            situation,
            alone: Vec::new(),
            dependent,
            covered: vec![0; situation.worth.value_count()],
            taken: vec![0; units.len()],
            // Of round 0 is what was never covered or taken.
            round: 1,
        };
        filler.alone = independent.into_iter().filter_map(|at| filler.bid(at, 0)).collect();
        filler.alone.sort_unstable_by(|a, b| b.cmp(a));
        filler
    }

    /// What a token of a window is worth on average if nothing has to stay, the head aside.
    fn average_worth(&mut self) -> f64 {
        let Situation { units, worth, room, .. } = *self.situation;
        let Some(fill) = self.fill(0, 0.0, |_| true) else { return 0.0 };
        let Some(pinned) = worth.pinned() else { return fill.worth / room.max(1) as f64 };
        let behind_head = units.iter().skip_while(|unit| unit.is_pinned);
        let pinned_tokens = behind_head.filter(|unit| unit.is_pinned).map(|unit| unit.tokens);
        let tokens = pinned_tokens.fold(room, i64::saturating_add);
        (fill.worth + pinned) / tokens.max(1) as f64
    }

    /// Drops units that can never be worth their tokens.
    fn forget_cheap(&mut self, price: f64) {
        let Situation { units, worth, .. } = *self.situation;
        let is_dear = |at: &usize| {
            let opening = units[*at].needs.map_or(0.0, |needed| worth.alone(needed));
            worth.alone(*at) + opening > price * units[*at].tokens as f64
        };
        self.dependent.retain(is_dear);
        self.alone.retain(|bid| bid.pays(price));
    }

    /// The best fill behind a cut; only with what is new if anything else is beyond the credit.
    fn within_credit(&mut self, prefix: usize, price: f64) -> Option<Fill> {
        let fill = self.fill(prefix, price, |_| true)?;
        if fill.again_tokens <= self.situation.credit {
            return Some(fill);
        }
        self.fill(prefix, price, |unit| unit.is_new)
    }

    /// What is pinned, then the most worth for its size that fits and is worth its tokens.
    fn fill(&mut self, prefix: usize, price: f64, may: impl Fn(&Unit) -> bool) -> Option<Fill> {
        self.round += 1;
        let Situation { units, window, room, .. } = *self.situation;
        let mut fill = Fill { behind: Vec::new(), worth: 0.0, paid_tokens: 0, again_tokens: 0 };
        let mut left = room;
        for at in &window[..prefix] {
            fill.worth += self.take(*at);
            if !units[*at].is_pinned {
                left = left.saturating_sub(units[*at].tokens);
            }
        }
        let from = prefix.checked_sub(1).map_or(0, |last| window[last] + 1);
        for at in (0..units.len()).filter(|at| units[*at].is_pinned) {
            self.require(at, from, &mut left, &mut fill)?;
        }
        if left < 0 {
            return None;
        }
        let may_follow = |at: usize| at >= from && may(&units[at]);
        let dependent = self.dependent.iter().filter(|at| may_follow(**at));
        let bids = dependent.filter_map(|at| self.bid(*at, from));
        let mut heap: BinaryHeap<Bid> = bids.filter(|bid| bid.pays(price)).collect();
        let mut next_alone = 0;
        loop {
            let alone = self.alone.get(next_alone).copied();
            let is_alone = alone.is_some_and(|bid| heap.peek().is_none_or(|best| bid > *best));
            next_alone += usize::from(is_alone);
            let Some(bid) = (if is_alone { alone } else { heap.pop() }) else { break };
            if !may_follow(bid.unit) || self.is_taken(bid.unit) || bid.tokens > left {
                continue;
            }
            let Some(now) = self.bid(bid.unit, from) else { continue };
            if now.key < bid.key {
                if now.pays(price) {
                    heap.push(now);
                }
                continue;
            }
            if let Some(opening) = units[bid.unit].needs.filter(|at| !self.is_taken(*at)) {
                if !may(&units[opening]) {
                    continue;
                }
                self.put(opening, &mut fill);
            }
            left -= now.tokens;
            self.put(bid.unit, &mut fill);
        }
        fill.behind.sort_unstable();
        Some(fill)
    }

    /// Puts what must be in behind the cut, with what it needs; `None` if its place is before it.
    fn require(&mut self, at: usize, from: usize, left: &mut i64, fill: &mut Fill) -> Option<()> {
        let units = self.situation.units;
        for at in units[at].needs.into_iter().chain([at]) {
            if self.is_taken(at) {
                continue;
            }
            if at < from {
                return None;
            }
            if !units[at].is_pinned {
                *left = left.saturating_sub(units[at].tokens);
            }
            self.put(at, fill);
        }
        Some(())
    }

    fn put(&mut self, at: usize, fill: &mut Fill) {
        let unit = self.situation.units[at];
        fill.worth += self.take(at);
        fill.behind.push(at);
        if !unit.is_pinned {
            fill.paid_tokens = fill.paid_tokens.saturating_add(unit.tokens);
        }
        if !unit.is_new {
            fill.again_tokens = fill.again_tokens.saturating_add(unit.tokens);
        }
    }

    /// Takes a unit, and says what it adds.
    fn take(&mut self, at: usize) -> f64 {
        let worth = self.situation.worth;
        self.taken[at] = self.round;
        let mut sum = worth.own(at);
        for value in worth.values(at) {
            let covered = &mut self.covered[*value as usize];
            if *covered != self.round {
                *covered = self.round;
                sum += worth.of_value(*value);
            }
        }
        sum
    }

    fn is_taken(&self, at: usize) -> bool {
        self.taken[at] == self.round
    }

    /// What a unit would add.
    fn gain(&self, at: usize) -> f64 {
        let worth = self.situation.worth;
        let open = worth.values(at).iter().filter(|v| self.covered[**v as usize] != self.round);
        open.fold(worth.own(at), |sum, value| sum + worth.of_value(*value))
    }

    /// What a unit offers, with the one that it needs; `None` if it cannot be had any more.
    fn bid(&self, at: usize, from: usize) -> Option<Bid> {
        let units = self.situation.units;
        let (mut gain, mut tokens) = (self.gain(at), units[at].tokens.max(0));
        if let Some(opening) = units[at].needs.filter(|needed| !self.is_taken(*needed)) {
            if opening < from {
                return None;
            }
            gain += self.gain(opening);
            tokens = tokens.saturating_add(units[opening].tokens.max(0));
        }
        let key = gain / (tokens.max(1) as f64).powf(self.situation.size_exponent);
        (gain > 0.0).then_some(Bid { key, gain, tokens, unit: at })
    }
}

/// What a unit offers. The greater the better, of equals the newer.
#[derive(Clone, Copy)]
struct Bid {
    key: f64,
    gain: f64,
    tokens: i64,
    unit: usize,
}

impl Bid {
    fn pays(&self, price: f64) -> bool {
        self.gain > price * self.tokens as f64
    }
}

impl Ord for Bid {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.total_cmp(&other.key).then(self.unit.cmp(&other.unit))
    }
}

impl PartialOrd for Bid {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Bid {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Bid {}
