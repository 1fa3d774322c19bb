//! Messages behind a cut that are worth their tokens.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use cupel::Needs;
use cupel::slicer::Form;

use super::plan::{Situation, Unit};
use crate::prepare::Chosen;

/// Least exponent of size for units that can be shorter: the tokens that they leave out now they can still
/// take when there is room.
const EXPONENT_OF_FORMS: f64 = 0.9;

/// Messages behind a cut.
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
    needs: Needs,
    /// Offers of units that need no other to an empty window, the best first. With something
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
    /// Blocks that may still be sent again.
    blocks_left: usize,
}

impl<'s> Filler<'s> {
    pub(super) fn new(situation: &'s Situation<'s>) -> Self {
        let units = situation.units;
        let competes = |at: &usize| units[*at].competes && !units[*at].is_pinned;
        let competitors = (0..units.len()).filter(competes);
        let (dependent, independent): (Vec<usize>, Vec<usize>) =
            competitors.partition(|at| !units[*at].needs.is_empty());
        let mut needs = Needs::none(units.len());
        for (at, unit) in units.iter().enumerate() {
            for needed in &unit.needs {
                let added = needs.add(at, *needed);
                debug_assert!(added.is_ok(), "units need units");
            }
        }
        let mut filler = Self {
            situation,
            needs,
            alone: Vec::new(),
            dependent,
            covered: vec![0; situation.worth.value_count()],
            taken: units.iter().map(|unit| (0, unit.standing())).collect(),
            least_tokens: units.iter().map(least_tokens).collect(),
            size: units.iter().map(|unit| size(unit.tokens, situation.size_exponent)).collect(),
            // Of round 0 is what was never covered or taken.
            round: 1,
            blocks_left: usize::MAX,
        };
        let offer = |at: usize| filler.bid(at, 0, 0.0, i64::MAX);
        let mut alone: Vec<Bid> = independent.into_iter().filter_map(offer).collect();
        alone.sort_unstable_by(|a, b| b.cmp(a));
        filler.alone = alone;
        filler
    }

    /// Average worth of a token of a window if nothing has to stay, the head aside.
    pub(super) fn average_worth(&mut self) -> f64 {
        let Situation { units, worth, room, .. } = *self.situation;
        self.blocks_left = usize::MAX;
        // A window that is chosen anew, whatever it costs, is what everything that stands is held against.
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
            let needed = self.needs.missing(*at, |_| false).into_iter();
            let needed = needed.fold(0.0, |sum, needed| sum + worth.alone(needed));
            let whole = units[*at].form(None);
            options(&units[*at], &whole).iter().any(|form| {
                let gain = worth.gain(*at, form.rendering, 0.0, |_| true);
                gain + needed >= price * form.tokens as f64
            })
        };
        self.dependent.retain(is_dear);
        self.alone.retain(|bid| is_dear(&bid.unit));
    }

    /// The best fill behind a cut; only with what is new if anything else is beyond the credit.
    pub(super) fn within_credit(&mut self, prefix: usize, price: f64) -> Option<Fill> {
        self.blocks_left = self.situation.again_blocks(prefix);
        let fill = self.fill(prefix, price, |_| true)?;
        let credit = self.situation.credit.saturating_sub(self.situation.lost_tokens(prefix));
        if fill.again_tokens <= credit {
            return Some(fill);
        }
        // All or nothing: a later cut, which is tried too, has less to send again.
        self.fill(prefix, price, |unit| unit.is_new)
    }

    /// Takes the pinned units, then the most worth for its size that fits and is worth its tokens.
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
        let in_prefix = window[..prefix].iter().copied();
        for at in in_prefix.chain((0..units.len()).filter(|at| units[*at].is_pinned)) {
            self.require(at, from, &mut left, &mut fill)?;
        }
        if left < 0 {
            return None;
        }
        // A request is written in its own order: what belongs before the cut cannot be put behind it.
        let may_follow = |at: usize| at >= from && may(&units[at]);
        let dependent = self.dependent.iter().filter(|at| may_follow(**at));
        let bids = dependent.filter_map(|at| self.bid(*at, from, price, left));
        let mut heap: BinaryHeap<Bid> = bids.collect();
        let mut next_alone = 0;
        // The best of two sources: bids of units that need no other were sorted once for all cuts, the rest bids
        // for this cut.
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
            // Bids only fall, as others cover the same values. One that has fallen waits for its new turn.
            if now.key < bid.key {
                heap.push(now);
                continue;
            }
            let missing = self.missing(bid.unit);
            if !missing.iter().all(|needed| may(&units[*needed])) {
                continue;
            }
            let blocks: usize =
                missing.iter().chain([&bid.unit]).map(|at| self.blocks_again(*at)).sum();
            if blocks > self.blocks_left {
                continue;
            }
            for needed in missing {
                self.put(needed, units[needed].form(None), &mut fill);
            }
            left -= now.tokens;
            self.put(bid.unit, now.form, &mut fill);
            // What came in short may still grow.
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
        for at in self.missing(at).into_iter().chain([at]) {
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

    /// The blocks that a unit adds to those that are sent again.
    fn blocks_again(&self, at: usize) -> usize {
        let unit = &self.situation.units[at];
        if unit.is_new || self.is_taken(at) { 0 } else { unit.blocks }
    }

    /// Puts a unit behind the cut, or lets it grow there.
    fn put(&mut self, at: usize, form: Form, fill: &mut Fill) {
        self.blocks_left = self.blocks_left.saturating_sub(self.blocks_again(at));
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

    /// Returns the needs of a unit that are not in yet.
    fn missing(&self, at: usize) -> Vec<usize> {
        self.needs.missing(at, |needed| self.is_taken(needed))
    }

    fn is_taken(&self, at: usize) -> bool {
        self.taken[at].0 == self.round
    }

    /// Form that a unit is taken in, if it is.
    fn has(&self, at: usize) -> Option<Form> {
        let (round, form) = self.taken[at];
        (round == self.round).then_some(form)
    }

    /// Gain by a unit in a form.
    fn gain(&self, at: usize, form: Form) -> f64 {
        let is_open = |value: u32| self.covered[value as usize] != self.round;
        let has = self.has(at).map_or(0.0, |has| has.share);
        self.situation.worth.gain(at, form.rendering, has, is_open)
    }

    /// Offer of a unit, in the form that brings most for its size, fits and is worth its price, with
    /// the units that it needs; `None` if there is no such form, or if it cannot be had any more.
    fn bid(&self, at: usize, from: usize, price: f64, left: i64) -> Option<Bid> {
        let units = self.situation.units;
        let has = self.has(at).map_or(0, |has| has.tokens);
        let (mut more_gain, mut more_tokens) = (0.0, 0_i64);
        for needed in self.missing(at) {
            if needed < from {
                return None;
            }
            let whole = units[needed].form(None);
            more_gain += self.gain(needed, whole);
            more_tokens = whole.tokens.max(0).saturating_add(more_tokens);
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

/// Divisor of a worth.
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

/// Offer of a unit. The greater the better, of equals the newer.
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

#[cfg(test)]
mod tests {
    use cupel::Worth;

    use super::super::testing::{known, new, pinned, shortenable, situation, worth};
    use super::*;

    #[track_caller]
    fn fill(situation: &Situation<'_>, prefix: usize, price: f64) -> Fill {
        Filler::new(situation).within_credit(prefix, price).unwrap()
    }

    /// The units behind the cut, where all of them are whole.
    #[track_caller]
    fn behind(situation: &Situation<'_>, prefix: usize, price: f64) -> Vec<usize> {
        let chosen = fill(situation, prefix, price).behind;
        assert!(chosen.iter().all(|(_, rendering)| rendering.is_none()), "{chosen:?}");
        chosen.into_iter().map(|(at, _)| at).collect()
    }

    #[test]
    fn the_most_worth_for_its_size_goes_first() {
        let units = [new(10), new(10), new(20)];
        let worth = worth(&[1.0, 2.0, 3.0]);
        let by_token = Situation { room: 20, ..situation(&units, &worth, &[]) };
        let fill = fill(&by_token, 0, 0.0);
        assert_eq!(fill.behind, [(0, None), (1, None)]);
        assert_eq!((fill.worth, fill.paid_tokens, fill.again_tokens), (3.0, 20, 0));
        assert_eq!(fill.left_tokens, 0);
        assert_eq!(behind(&Situation { size_exponent: 0.0, ..by_token }, 0, 0.0), [2]);
    }

    #[test]
    fn of_equals_the_newer_goes_first() {
        let units = [new(10), new(10)];
        let worth = worth(&[1.0, 1.0]);
        assert_eq!(behind(&Situation { room: 19, ..situation(&units, &worth, &[]) }, 0, 0.0), [1]);
    }

    #[test]
    fn a_value_counts_once() {
        let mut worth = Worth::of_values(vec![4.0]);
        worth.push(1.0, [0]);
        worth.push(1.0, [0]);
        worth.push(2.0, []);
        let units = [new(10), new(10), new(10)];
        let fill = fill(&Situation { room: 20, ..situation(&units, &worth, &[]) }, 0, 0.0);
        assert_eq!((fill.behind, fill.worth), (vec![(1, None), (2, None)], 7.0));
    }

    #[test]
    fn what_stands_before_the_cut_covers_its_values() {
        let mut worth = Worth::of_values(vec![4.0]);
        worth.push(1.0, [0]);
        worth.push(1.0, [0]);
        let units = [known(10), new(10)];
        let situation = situation(&units, &worth, &[0]);
        assert_eq!(behind(&situation, 1, 0.2), [0; 0], "1 for 10 tokens is below the price");
        assert_eq!(behind(&situation, 0, 0.2), [1], "5 for 10 tokens is above it");
        assert_eq!(fill(&situation, 1, 0.2).worth, 5.0);
    }

    #[test]
    fn a_unit_must_be_worth_more_than_its_price_unless_nothing_has_one() {
        let units = [new(8)];
        let (one, none) = (worth(&[1.0]), worth(&[0.0]));
        assert_eq!(behind(&situation(&units, &one, &[]), 0, 0.125), [0; 0]);
        assert_eq!(behind(&situation(&units, &one, &[]), 0, 0.124), [0]);
        assert_eq!(behind(&situation(&units, &none, &[]), 0, 0.0), [0]);
    }

    #[test]
    fn what_does_not_compete_is_never_taken() {
        let units = [Unit { competes: false, ..new(1) }, new(1)];
        let worth = worth(&[9.0, 1.0]);
        assert_eq!(behind(&situation(&units, &worth, &[]), 0, 0.0), [1]);
    }

    #[test]
    fn exactly_the_credit_may_be_sent_again() {
        let units = [known(10), known(10), new(10)];
        let worth = worth(&[1.0, 9.0, 1.0]);
        let of = |credit| fill(&Situation { credit, ..situation(&units, &worth, &[0]) }, 1, 0.0);
        let (enough, too_little) = (of(10), of(9));
        assert_eq!((enough.behind, enough.again_tokens), (vec![(1, None), (2, None)], 10));
        assert_eq!((too_little.behind, too_little.again_tokens), (vec![(2, None)], 0));
    }

    #[test]
    fn an_opening_is_sent_again_within_the_credit_only() {
        let units = [known(30), Unit { needs: vec![0], ..new(10) }];
        let worth = worth(&[1.0, 9.0]);
        let of = |credit| fill(&Situation { credit, ..situation(&units, &worth, &[]) }, 0, 0.0);
        let (enough, too_little) = (of(30), of(29));
        assert_eq!((enough.behind, enough.again_tokens), (vec![(0, None), (1, None)], 30));
        assert_eq!((enough.worth, enough.paid_tokens, enough.left_tokens), (10.0, 40, 60));
        assert_eq!((too_little.behind, too_little.again_tokens), (vec![], 0));
    }

    #[test]
    fn nothing_is_put_before_the_cut() {
        let units = [known(10), new(10), known(10), new(10)];
        let worth = worth(&[1.0; 4]);
        let situation = Situation { credit: 10, ..situation(&units, &worth, &[0, 2]) };
        let late = fill(&situation, 2, 0.0);
        assert_eq!((late.behind, late.left_tokens), (vec![(3, None)], 70));
        assert_eq!((late.worth, late.paid_tokens), (3.0, 10));
        assert_eq!(behind(&situation, 1, 0.0), [1, 2, 3]);
    }

    #[test]
    fn a_unit_cannot_stand_where_its_opening_was_left_out_before_the_cut() {
        let units = [known(10), known(10), Unit { needs: vec![0], ..new(10) }];
        let worth = worth(&[1.0; 3]);
        let rich = Situation { credit: 10, ..situation(&units, &worth, &[1]) };
        assert_eq!(behind(&rich, 1, 0.0), [0; 0]);
        assert_eq!(behind(&situation(&units, &worth, &[0]), 1, 0.0), [2]);
    }

    #[test]
    fn a_unit_pays_for_its_opening_unless_that_is_in() {
        let units = [new(8), Unit { needs: vec![0], ..new(8) }];
        let worth = worth(&[1.0, 3.0]);
        let alone = situation(&units, &worth, &[]);
        assert_eq!(behind(&alone, 0, 0.25), [0; 0], "4 for 16 tokens");
        assert_eq!(behind(&alone, 0, 0.24), [0, 1]);
        assert_eq!(behind(&Situation { room: 16, ..alone }, 0, 0.0), [0, 1]);
        assert_eq!(behind(&Situation { room: 15, ..alone }, 0, 0.0), [0], "no room for both");
        let opened = situation(&units, &worth, &[0]);
        assert_eq!(behind(&opened, 1, 0.25), [1], "3 for 8 tokens");
    }

    #[test]
    fn a_unit_is_shorter_where_the_whole_does_not_fit_or_does_not_pay() {
        let mut worth = Worth::default();
        worth.push(2.0, []);
        worth.push_form(0.5, []);
        let units = [shortenable(10, 4)];
        let of =
            |room, price| fill(&Situation { room, ..situation(&units, &worth, &[]) }, 0, price);
        assert_eq!(of(3, 0.0).behind, []);
        let short = of(9, 0.0);
        assert_eq!((short.behind, short.worth), (vec![(0, Some(0))], 1.0));
        assert_eq!((short.paid_tokens, short.left_tokens), (4, 5));
        let whole = of(10, 0.0);
        assert_eq!((whole.behind, whole.worth), (vec![(0, None)], 2.0));
        assert_eq!((whole.paid_tokens, whole.left_tokens), (10, 0));
        assert_eq!(of(10, 0.2).behind, [(0, Some(0))], "the other half costs 6 tokens for 1");
        assert_eq!(of(10, 0.16).behind, [(0, None)]);
    }

    #[test]
    fn units_that_can_be_shorter_pay_for_their_size_even_if_others_do_not() {
        let mut worth = Worth::default();
        worth.push(2.0, []);
        worth.push_form(0.5, []);
        worth.push(0.9, []);
        let units = [shortenable(10, 4), new(6)];
        let by_worth = Situation { room: 10, size_exponent: 0.0, ..situation(&units, &worth, &[]) };
        assert_eq!(fill(&by_worth, 0, 0.0).behind, [(0, Some(0)), (1, None)]);
    }

    #[test]
    fn what_is_pinned_takes_no_room_and_counts_as_sent_again() {
        let units = [known(10), pinned(30), Unit { is_pinned: true, ..new(5) }];
        let worth = worth(&[1.0, 0.5, 0.25]);
        let fill = fill(&situation(&units, &worth, &[0]), 1, 0.0);
        assert_eq!(fill.behind, [(1, None), (2, None)]);
        assert_eq!((fill.again_tokens, fill.paid_tokens, fill.left_tokens), (30, 0, 90));
        assert_eq!(fill.worth, 1.75);
    }

    #[test]
    fn what_is_pinned_brings_what_it_needs_and_that_takes_room() {
        let units = [known(30), Unit { needs: vec![0], ..pinned(5) }];
        let worth = worth(&[1.0, 1.0]);
        let of = |room| Situation { room, ..situation(&units, &worth, &[]) };
        let roomy = fill(&of(30), 0, 0.0);
        assert_eq!(roomy.behind, [(0, None), (1, None)]);
        assert_eq!((roomy.again_tokens, roomy.paid_tokens, roomy.left_tokens), (35, 30, 0));
        assert!(Filler::new(&of(29)).within_credit(0, 0.0).is_none());
    }

    #[test]
    fn what_is_pinned_is_sent_in_the_form_that_it_must_have() {
        let unit = Unit { stands_as: Some(0), is_pinned: true, ..shortenable(10, 4) };
        let mut worth = Worth::default();
        worth.push(2.0, []);
        worth.push_form(0.5, []);
        let units = [unit];
        assert_eq!(fill(&situation(&units, &worth, &[]), 0, 0.0).behind, [(0, Some(0))]);
    }

    #[test]
    fn there_is_no_fill_behind_a_cut_that_is_behind_a_pin_that_is_out() {
        let units = [pinned(1), known(1)];
        let worth = worth(&[1.0, 1.0]);
        assert!(Filler::new(&situation(&units, &worth, &[1])).within_credit(1, 0.0).is_none());
        assert!(Filler::new(&situation(&units, &worth, &[1])).within_credit(0, 0.0).is_some());
    }

    #[test]
    fn there_is_no_fill_behind_more_than_the_room() {
        let units = [known(60), known(41)];
        let worth = worth(&[1.0, 1.0]);
        let situation = situation(&units, &worth, &[0, 1]);
        assert!(Filler::new(&situation).within_credit(2, 0.0).is_none());
        assert_eq!(fill(&situation, 1, 0.0).left_tokens, 40);
    }

    #[test]
    fn one_filler_fills_many_windows() {
        let units = [known(10), new(10)];
        let worth = worth(&[1.0, 1.0]);
        let situation = situation(&units, &worth, &[0]);
        let mut filler = Filler::new(&situation);
        for prefix in [1, 0, 1, 1] {
            let fill = filler.within_credit(prefix, 0.0).unwrap();
            assert_eq!(fill.behind, [(1, None)]);
            assert_eq!(fill.worth, if prefix == 1 { 2.0 } else { 1.0 });
        }
    }

    #[test]
    fn the_average_is_over_the_room_and_what_is_pinned_behind_the_head() {
        let units = [pinned(7), new(10), pinned(20)];
        let plain = worth(&[0.0, 3.0, 0.0]);
        let average = |worth: &Worth| {
            let situation = Situation { room: 12, ..situation(&units, worth, &[0]) };
            Filler::new(&situation).average_worth()
        };
        assert_eq!(average(&plain), 3.0 / 12.0);
        assert_eq!(average(&plain.clone().with_pinned(5.0)), 8.0 / 32.0);
    }

    #[test]
    fn the_average_of_no_room_is_nothing() {
        let units = [new(10), Unit { needs: vec![0], ..pinned(1) }];
        let worth = worth(&[1.0, 1.0]);
        let situation = Situation { room: 0, ..situation(&units, &worth, &[]) };
        assert_eq!(Filler::new(&situation).average_worth(), 0.0);
    }

    #[test]
    fn what_is_too_cheap_in_every_form_is_forgotten() {
        let dependent = |opening| {
            let units = [new(8), Unit { needs: vec![0], ..new(8) }, new(8)];
            let worth = worth(&[opening, 0.5, 0.99]);
            let situation = situation(&units, &worth, &[]);
            let mut filler = Filler::new(&situation);
            filler.forget_cheap(0.125);
            let behind = filler.within_credit(0, 0.0).unwrap().behind;
            behind.into_iter().map(|(at, _)| at).collect::<Vec<_>>()
        };
        assert_eq!(dependent(0.49), [0; 0]);
        assert_eq!(dependent(0.5), [0, 1], "with its opening it is worth its own tokens");
        assert_eq!(dependent(1.0), [0, 1], "exactly the price is enough");
    }

    #[test]
    fn one_form_that_pays_is_enough_to_be_remembered() {
        let mut worth = Worth::default();
        worth.push(2.0, []);
        worth.push_form(0.5, []);
        let units = [shortenable(100, 4)];
        let situation = situation(&units, &worth, &[]);
        let mut filler = Filler::new(&situation);
        filler.forget_cheap(0.25);
        assert_eq!(filler.within_credit(0, 0.2).unwrap().behind, [(0, Some(0))]);
    }

    #[test]
    fn a_unit_is_as_large_as_it_and_its_opening_when_units_compete() {
        let units = [new(30), Unit { needs: vec![0], ..new(10) }, new(10)];
        let worth = worth(&[0.0, 4.0, 2.0]);
        let tight = Situation { room: 40, ..situation(&units, &worth, &[]) };
        assert_eq!(behind(&tight, 0, 0.01), [2], "4 for 40 tokens, 2 for 10");
        let opened = Situation { room: 40, ..situation(&units, &worth, &[0]) };
        assert_eq!(behind(&opened, 1, 0.01), [1], "4 for 10 tokens, 2 for 10");
    }

    #[test]
    fn what_costs_nothing_has_room_in_a_full_window() {
        let units = [new(10), new(0)];
        let worth = worth(&[10.0, 0.5]);
        let full = Situation { room: 10, ..situation(&units, &worth, &[]) };
        assert_eq!(behind(&full, 0, 0.0), [0, 1]);
    }

    #[test]
    fn what_stands_before_the_cut_does_not_grow() {
        let short = Unit { needs: vec![0], stands_as: Some(0), ..shortenable(10, 4) };
        let units = [known(5), short];
        let mut worth = Worth::default();
        worth.push(1.0, []);
        worth.push(2.0, []);
        worth.push_form(0.5, []);
        let fill = fill(&situation(&units, &worth, &[0, 1]), 2, 0.0);
        assert_eq!((fill.behind, fill.worth), (vec![], 2.0));
        assert_eq!((fill.paid_tokens, fill.left_tokens), (0, 91));
    }
}
