//! What is worth its tokens behind a cut.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use cupel::slicer::Form;

use super::plan::{Situation, Unit};
use crate::prepare::Chosen;

/// What units that can be shorter pay for their size, at least: what they leave out now they can still
/// take when there is room.
const EXPONENT_OF_FORMS: f64 = 0.9;

/// What stands behind a cut.
#[derive(Default)]
pub(super) struct Fill {
    pub(super) behind: Vec<Chosen>,
    /// Of the whole window.
    pub(super) worth: f64,
    /// Tokens of what is behind the cut and not pinned.
    pub(super) paid_tokens: i64,
    pub(super) again_tokens: i64,
    /// Room that nothing took.
    pub(super) left_tokens: i64,
}

/// Fills windows up.
pub(super) struct Filler<'s> {
    situation: &'s Situation<'s>,
    /// What units that need no other offer to an empty window, the best first. With something
    /// covered they offer no more, so that only those that come up are looked at again.
    alone: Vec<Bid>,
    /// The other units that compete.
    dependent: Vec<usize>,
    /// For each value in which round it was last covered.
    covered: Vec<u32>,
    /// For each unit in which round it was last taken, and as what.
    taken: Vec<(u32, Form)>,
    /// For each unit the least that it can cost.
    least_tokens: Vec<i64>,
    /// For each unit that is in or out as a whole what its worth is divided by.
    size: Vec<f64>,
    round: u32,
}

impl<'s> Filler<'s> {
    pub(super) fn new(situation: &'s Situation<'s>) -> Self {
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
            taken: units.iter().map(|unit| (0, unit.standing())).collect(),
            least_tokens: units.iter().map(least_tokens).collect(),
            size: units.iter().map(|unit| size(unit.tokens, situation.size_exponent)).collect(),
            // Of round 0 is what was never covered or taken.
            round: 1,
        };
        let offer = |at: usize| filler.bid(at, 0, 0.0, i64::MAX);
        let mut alone: Vec<Bid> = independent.into_iter().filter_map(offer).collect();
        alone.sort_unstable_by(|a, b| b.cmp(a));
        filler.alone = alone;
        filler
    }

    /// What a token of a window is worth on average if nothing has to stay, the head aside.
    pub(super) fn average_worth(&mut self) -> f64 {
        let Situation { units, worth, room, .. } = *self.situation;
        let Some(fill) = self.fill(0, 0.0, |_| true) else { return 0.0 };
        let Some(pinned) = worth.pinned() else { return fill.worth / room.max(1) as f64 };
        let behind_head = units.iter().skip_while(|unit| unit.is_pinned);
        let pinned_tokens = behind_head.filter(|unit| unit.is_pinned).map(|unit| unit.tokens);
        let tokens = pinned_tokens.fold(room, i64::saturating_add);
        (fill.worth + pinned) / tokens.max(1) as f64
    }

    /// Drops units that can never be worth their tokens, in no form.
    pub(super) fn forget_cheap(&mut self, price: f64) {
        let Situation { units, worth, .. } = *self.situation;
        let is_dear = |at: &usize| {
            let opening = units[*at].needs.map_or(0.0, |needed| worth.alone(needed));
            let whole = units[*at].form(None);
            options(&units[*at], &whole).iter().any(|form| {
                let gain = worth.gain(*at, form.rendering, 0.0, |_| true);
                gain + opening >= price * form.tokens as f64
            })
        };
        self.dependent.retain(is_dear);
        self.alone.retain(|bid| is_dear(&bid.unit));
    }

    /// The best fill behind a cut; only with what is new if anything else is beyond the credit.
    pub(super) fn within_credit(&mut self, prefix: usize, price: f64) -> Option<Fill> {
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
        let mut fill = Fill::default();
        let mut left = room;
        for at in &window[..prefix] {
            let form = units[*at].standing();
            fill.worth += self.take(*at, form);
            if !units[*at].is_pinned {
                left = left.saturating_sub(form.tokens);
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
        let bids = dependent.filter_map(|at| self.bid(*at, from, price, left));
        let mut heap: BinaryHeap<Bid> = bids.collect();
        let mut next_alone = 0;
        loop {
            let alone = self.alone.get(next_alone).copied();
            let is_alone = alone.is_some_and(|bid| heap.peek().is_none_or(|best| bid > *best));
            next_alone += usize::from(is_alone);
            let Some(bid) = (if is_alone { alone } else { heap.pop() }) else { break };
            // Most of what is left once the window is full.
            if is_alone && self.least_tokens[bid.unit] > left {
                continue;
            }
            if is_alone && (!may_follow(bid.unit) || self.is_taken(bid.unit)) {
                continue;
            }
            let Some(now) = self.bid(bid.unit, from, price, left) else { continue };
            if now.key < bid.key {
                heap.push(now);
                continue;
            }
            if let Some(opening) = units[bid.unit].needs.filter(|at| !self.is_taken(*at)) {
                if !may(&units[opening]) {
                    continue;
                }
                self.put(opening, units[opening].form(None), &mut fill);
            }
            left -= now.tokens;
            self.put(bid.unit, now.form, &mut fill);
            heap.extend(self.bid(bid.unit, from, price, left));
        }
        fill.left_tokens = left;
        fill.behind.sort_unstable();
        for (at, rendering) in &mut fill.behind {
            *rendering = self.taken[*at].1.rendering;
        }
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
            let form =
                if units[at].is_pinned { units[at].standing() } else { units[at].form(None) };
            if !units[at].is_pinned {
                *left = left.saturating_sub(form.tokens);
            }
            self.put(at, form, fill);
        }
        Some(())
    }

    /// Puts a unit behind the cut, or lets it grow there.
    fn put(&mut self, at: usize, form: Form, fill: &mut Fill) {
        let unit = &self.situation.units[at];
        let has = self.has(at);
        fill.worth += self.take(at, form);
        if has.is_none() {
            fill.behind.push((at, None));
        }
        let tokens = form.tokens.saturating_sub(has.map_or(0, |has| has.tokens));
        if !unit.is_pinned {
            fill.paid_tokens = fill.paid_tokens.saturating_add(tokens);
        }
        if !unit.is_new {
            fill.again_tokens = fill.again_tokens.saturating_add(tokens);
        }
    }

    /// Takes a unit as something, and says what it adds.
    fn take(&mut self, at: usize, form: Form) -> f64 {
        let gain = self.gain(at, form);
        self.taken[at] = (self.round, form);
        for value in self.situation.worth.values_of(at, form.rendering) {
            self.covered[*value as usize] = self.round;
        }
        gain
    }

    fn is_taken(&self, at: usize) -> bool {
        self.taken[at].0 == self.round
    }

    /// What a unit is taken as, if it is.
    fn has(&self, at: usize) -> Option<Form> {
        let (round, form) = self.taken[at];
        (round == self.round).then_some(form)
    }

    /// What a unit would add as something.
    fn gain(&self, at: usize, form: Form) -> f64 {
        let is_open = |value: u32| self.covered[value as usize] != self.round;
        let has = self.has(at).map_or(0.0, |has| has.share);
        self.situation.worth.gain(at, form.rendering, has, is_open)
    }

    /// What a unit offers, in the form that brings most for its size, fits and is worth its price, with
    /// the unit that it needs; `None` if there is no such form, or if it cannot be had any more.
    fn bid(&self, at: usize, from: usize, price: f64, left: i64) -> Option<Bid> {
        let units = self.situation.units;
        let has = self.has(at).map_or(0, |has| has.tokens);
        let (mut more_gain, mut more_tokens) = (0.0, 0);
        if let Some(opening) = units[at].needs.filter(|needed| !self.is_taken(*needed)) {
            if opening < from {
                return None;
            }
            let whole = units[opening].form(None);
            (more_gain, more_tokens) = (self.gain(opening, whole), whole.tokens.max(0));
        }
        let is_larger = |form: &&Form| !self.is_taken(at) || form.tokens > has;
        let size_exponent = self.situation.size_exponent.max(EXPONENT_OF_FORMS);
        let size_of = |tokens: i64| match units[at].forms.is_empty() {
            true if more_tokens == 0 => self.size[at],
            true => size(tokens, self.situation.size_exponent),
            false => size(tokens, size_exponent),
        };
        let whole = units[at].form(None);
        let offers = options(&units[at], &whole).iter().filter(is_larger).filter_map(|form| {
            let gain = more_gain + self.gain(at, *form);
            let tokens = form.tokens.saturating_sub(has).max(0).saturating_add(more_tokens);
            // Where nothing has a price, what is worth nothing is better than an empty window.
            let pays = gain > price * tokens as f64 || price <= 0.0;
            let key = gain / size_of(tokens);
            (tokens <= left && pays).then_some(Bid { key, tokens, unit: at, form: *form })
        });
        offers.max()
    }
}

/// What a worth is divided by.
fn size(tokens: i64, exponent: f64) -> f64 {
    (tokens.max(1) as f64).powf(exponent)
}

/// The least that a unit can cost.
fn least_tokens(unit: &Unit) -> i64 {
    let forms = unit.forms.iter().map(|form| form.tokens);
    forms.min().unwrap_or(unit.tokens).max(0)
}

/// As what a unit can be sent: its forms, or the whole.
fn options<'u>(unit: &'u Unit, whole: &'u Form) -> &'u [Form] {
    if unit.forms.is_empty() { std::slice::from_ref(whole) } else { &unit.forms }
}

/// What a unit offers. The greater the better, of equals the newer.
#[derive(Clone, Copy)]
struct Bid {
    key: f64,
    tokens: i64,
    unit: usize,
    form: Form,
}

impl Ord for Bid {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = self.key.total_cmp(&other.key).then(self.unit.cmp(&other.unit));
        key.then(self.tokens.cmp(&other.tokens))
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
