//! The contest for the window: who covers most of what is left to cover.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashSet};

use cupel::slicer::Form;
use cupel::{Needs, Worth};

use crate::need::{Need, to_units};

/// Share of a form's coverage that goes by the values that it still names; the rest goes by the share
/// of the value that it is said to keep. What will be needed is known of some values only.
const NAMED: f64 = 0.3;

/// Exponent by which growing loses against coming in: of the gain for a token, beside that of the
/// first form.
const GROWTH: f64 = 0.8;

/// A candidate, as the contest sees it.
pub(super) struct Entrant {
    /// Its position in the list.
    pub(super) position: usize,
    /// Which in time it is: of equals the later wins.
    pub(super) age: u32,
    pub(super) tokens: i64,
    /// Divisor of its need.
    pub(super) size: f64,
    /// Score by the question.
    pub(super) question: f64,
    /// Share of it that is left once it has paid for the room that it takes: 1 for all of it.
    pub(super) room: f64,
    /// As what it could go in, the shortest first and the whole last; empty where it can only be
    /// whole.
    pub(super) forms: Vec<Form>,
    /// The share of the value that each of its renderings keeps.
    pub(super) shares: Vec<f64>,
}

/// Weights of the contest: need as far as it is uncovered, per size, and the question.
pub(super) struct Contest {
    need: Need,
    entrants: Vec<Entrant>,
    /// For each value whether something that is kept holds it.
    is_covered: Vec<bool>,
    /// For each entrant the need that it would cover, exact.
    uncovered: Vec<u64>,
    /// The need that is covered by what is pinned behind the beginning of the list, exact.
    pinned_need: u64,
    /// The most need per size that any entrant has by itself.
    most_per_size: f64,
    /// The most need that any entrant has by itself.
    most_need: f64,
    /// The most that any entrant would add by itself.
    most_gain: f64,
}

/// Entrants that were taken, and the gain of each.
pub(super) struct Outcome {
    /// Numbers of entrants, in the order in which they were taken.
    pub(super) taken: Vec<usize>,
    /// Those of them that are not whole, with the rendering that they are in.
    pub(super) shortened: Vec<(usize, usize)>,
    /// For each entrant what it added when it was taken, or would still add.
    pub(super) gains: Vec<f64>,
}

impl Contest {
    /// A pinned entrant covers its values from the beginning.
    pub(super) fn new(
        need: Need,
        entrants: Vec<Entrant>,
        pinned: impl Iterator<Item = bool>,
    ) -> Self {
        let mut is_covered = vec![false; need.by_value().len()];
        let (mut pinned_need, mut is_beginning) = (0_u64, true);
        for (position, is_pinned) in pinned.enumerate() {
            is_beginning &= is_pinned;
            if !is_pinned {
                continue;
            }
            let mut covers = need.own(position);
            for value in need.values(position) {
                if !std::mem::replace(&mut is_covered[*value as usize], true) {
                    covers = covers.saturating_add(need.by_value()[*value as usize]);
                }
            }
            // What the head covers is covered in every window, and says nothing about this one.
            if !is_beginning {
                pinned_need = pinned_need.saturating_add(covers);
            }
        }
        let uncovered = |entrant: &Entrant| {
            let open = need.values(entrant.position).iter().filter(|at| !is_covered[**at as usize]);
            let needs = open.map(|value| need.by_value()[*value as usize]);
            needs.fold(need.own(entrant.position), u64::saturating_add)
        };
        let uncovered = entrants.iter().map(uncovered).collect();
        let by_itself = |entrant: &Entrant| need.of_item(entrant.position);
        let per_size = |entrant: &Entrant| by_itself(entrant) / entrant.size;
        let most_per_size = entrants.iter().map(per_size).fold(0.0, f64::max);
        let most_need = entrants.iter().map(by_itself).fold(0.0, f64::max);
        let most_gain = 1.0;
        let mut contest = Self {
            need,
            entrants,
            is_covered,
            uncovered,
            pinned_need,
            most_per_size,
            most_need,
            most_gain,
        };
        let adds = |at: usize| contest.gain(at);
        contest.most_gain = (0..contest.entrants.len()).map(adds).fold(0.0, f64::max);
        contest
    }

    pub(super) fn need(&self) -> &Need {
        &self.need
    }

    /// Takes the best that fits until nothing does. Keys only ever fall, so that the best of the heap
    /// is the best of all unless its own key has fallen since it was put there.
    ///
    /// An entrant with several forms is taken in the one that brings most for a token, at the rank of
    /// the whole. It grows when what that adds for a token, beside what the first form brought for one,
    /// comes in turn. What room is left goes to the best first.
    ///
    /// An entrant that needs others comes in with those that are not in yet, and bids for all of them
    /// together. Once they are in it bids for itself again.
    pub(super) fn run(mut self, target_tokens: i64, needs: Option<&Needs>) -> Outcome {
        let holders = self.holders();
        let needed_by = needed_by(needs);
        let mut window = Window::new(self.entrants.len(), target_tokens);
        let missing = |window: &Window, at| {
            needs.map_or_else(Vec::new, |needs| needs.missing(at, |at| window.stands[at].is_some()))
        };
        let entries = (0..self.entrants.len()).map(|at| self.joint_bid(at, &missing(&window, at)));
        let mut heap: BinaryHeap<Bid> = entries.collect();
        while let Some(bid) = heap.pop() {
            let mut together = Vec::new();
            let now = if let Some(stand) = window.stands[bid.entrant].as_ref() {
                self.growth_bid(bid.entrant, stand)
            } else {
                together = missing(&window, bid.entrant);
                Some(self.joint_bid(bid.entrant, &together))
            };
            let Some(now) = now else { continue };
            // Something that was taken since covers a part of what was bid with.
            if now.key < bid.key {
                heap.push(now);
                continue;
            }
            together.push(bid.entrant);
            // Room only shrinks: what is too large now is so for good. Whoever waits for something that comes in
            // bids again when it does, for less.
            let cost = |at: &usize| self.cost(*at, window.stands[*at].as_ref());
            if together.iter().map(cost).fold(0, i64::saturating_add) > window.left {
                continue;
            }
            for at in together {
                let key = if at == bid.entrant { now.key } else { self.bid(at).key };
                let is_new = window.stands[at].is_none();
                self.take(at, key, &mut window, &holders);
                heap.extend(
                    window.stands[at].as_ref().and_then(|stand| self.growth_bid(at, stand)),
                );
                let waiting = needed_by.get(at).into_iter().flatten().filter(|_| is_new);
                let waiting = waiting.filter(|at| window.stands[**at].is_none());
                heap.extend(waiting.map(|at| self.joint_bid(*at, &missing(&window, *at))));
            }
        }
        let is_free = |window: &Window, at: usize| missing(window, at).is_empty();
        self.give_the_rest(&mut window, is_free, &holders);
        // For whoever asks what the next tokens would buy, or why something is out.
        let Window { taken, mut gains, stands, .. } = window;
        for at in (0..gains.len()).filter(|at| stands[*at].is_none()) {
            gains[at] = self.gain(at);
        }
        let shortened = taken.iter().filter_map(|at| Some((*at, stands[*at]?.form.rendering?)));
        Outcome { shortened: shortened.collect(), taken, gains }
    }

    /// Returns the cost of an entrant's next step.
    fn cost(&self, entrant: usize, stand: Option<&Stand>) -> i64 {
        self.next_step(entrant, stand).form.tokens.saturating_sub(tokens_of(stand))
    }

    /// Lets an entrant take its next step.
    fn take(&mut self, entrant: usize, key: f64, window: &mut Window, holders: &Holders) {
        let stand = window.stands[entrant];
        let step = self.next_step(entrant, stand.as_ref());
        window.left = window.left.saturating_sub(self.cost(entrant, stand.as_ref()));
        if stand.is_none() {
            window.taken.push(entrant);
        }
        window.gains[entrant] += self.gain_of(entrant, step.form, stand.as_ref());
        let first = stand.map_or((key, step.slope), |stand| stand.first);
        window.stands[entrant] = Some(Stand { form: step.form, first });
        self.cover(entrant, step.form, holders);
    }

    /// Room that is left goes to those with several forms, the best first: the largest that fits.
    fn give_the_rest(
        &mut self,
        window: &mut Window,
        is_free: impl Fn(&Window, usize) -> bool,
        holders: &Holders,
    ) {
        let with_forms = (0..self.entrants.len()).filter(|at| !self.entrants[*at].forms.is_empty());
        // Others were asked whole, and did not fit; only a shorter form still can.
        let mut order: Vec<Bid> = with_forms.map(|at| self.bid(at)).collect();
        order.sort_unstable_by(|a, b| b.cmp(a));
        for entrant in order.into_iter().map(|bid| bid.entrant) {
            if !is_free(window, entrant) {
                continue;
            }
            let has = tokens_of(window.stands[entrant].as_ref());
            let left = window.left;
            let fits = |form: &&Form| form.tokens > has && form.tokens.saturating_sub(has) <= left;
            let Some(form) = self.entrants[entrant].forms.iter().rev().find(fits).copied() else {
                continue;
            };
            window.left = left.saturating_sub(form.tokens.saturating_sub(has));
            if window.stands[entrant].is_none() {
                window.taken.push(entrant);
            }
            window.stands[entrant] = Some(Stand { form, first: (0.0, 0.0) });
            self.cover(entrant, form, holders);
        }
    }

    /// Returns an entrant's bid to come in with others: what they bring for a token, all together. A value
    /// that several of them hold counts once.
    fn joint_bid(&self, entrant: usize, others: &[usize]) -> Bid {
        let bid = self.bid(entrant);
        if others.is_empty() {
            return bid;
        }
        let (mut brings, mut tokens) = (0.0, 0.0);
        let mut counted: HashSet<u32> = HashSet::new();
        for at in others.iter().copied().chain([entrant]) {
            let Entrant { position, question, room, size, .. } = self.entrants[at];
            let values = self.need.values(position).iter();
            let open = values.filter(|value| !self.is_covered[**value as usize]);
            let twice = open.filter(|value| !counted.insert(**value));
            let twice = twice.map(|value| self.need.by_value()[*value as usize]);
            let needed = self.uncovered[at].saturating_sub(twice.fold(0, u64::saturating_add));
            let per_size = share(to_units(needed) / size, self.most_per_size);
            let its_tokens = self.entrants[at].tokens.max(1) as f64;
            brings += its_tokens * (self.need.return_rate() * per_size + question * room);
            tokens += its_tokens;
        }
        Bid { key: brings / tokens, ..bid }
    }

    /// Returns an entrant's bid to grow. `None` if it is whole.
    fn growth_bid(&self, entrant: usize, stand: &Stand) -> Option<Bid> {
        stand.form.rendering?;
        let (key, slope) = stand.first;
        let next = self.next_step(entrant, Some(stand)).slope;
        let key =
            if slope > 0.0 && slope.is_finite() { key * (next / slope).powf(GROWTH) } else { 0.0 };
        Some(Bid { key, age: self.entrants[entrant].age, entrant })
    }

    /// The form that brings most for a token, beside what stands already.
    fn next_step(&self, entrant: usize, stand: Option<&Stand>) -> Step {
        let Entrant { tokens, forms, .. } = &self.entrants[entrant];
        if forms.is_empty() {
            let form = Form { rendering: None, tokens: *tokens, share: 1.0 };
            return Step { form, slope: 0.0 };
        }
        let has = tokens_of(stand);
        let mut best: Option<Step> = None;
        for form in forms.iter().filter(|form| form.tokens > has || stand.is_none()) {
            let more = form.tokens.saturating_sub(has).max(1);
            let slope = self.added(entrant, *form, stand, true) / more as f64;
            // Of equals the larger: it covers no less.
            if best.as_ref().is_none_or(|best| slope >= best.slope) {
                best = Some(Step { form: *form, slope });
            }
        }
        let whole = Form { rendering: None, tokens: *tokens, share: 1.0 };
        best.unwrap_or(Step { form: whole, slope: 0.0 })
    }

    /// Gain of a form over the one that stands: the need that it would cover, and of the question its share.
    /// For the size of the whole, so that the forms of an entrant can be compared.
    fn added(&self, entrant: usize, form: Form, stand: Option<&Stand>, pays_room: bool) -> f64 {
        let Entrant { position, size, question, room, .. } = self.entrants[entrant];
        let more = (form.share - stand.map_or(0.0, |stand| stand.form.share)).max(0.0);
        let open = |value: &&u32| !self.is_covered[**value as usize];
        let values = self.need.values_of_form(position, form.rendering).iter().filter(open);
        let needs = values.map(|value| self.need.by_value()[*value as usize]);
        let needed = needs.fold(0, u64::saturating_add);
        let named = to_units(needed) + more * to_units(self.need.own(position));
        let kept = more * to_units(self.uncovered[entrant]);
        let needed = NAMED * named + (1.0 - NAMED) * kept;
        let room = if pays_room { room } else { 1.0 };
        let per_size = share(needed / size, self.most_per_size);
        self.need.return_rate() * per_size + more * question * room
    }

    /// The same as a share of the most that one could add.
    fn gain_of(&self, entrant: usize, form: Form, stand: Option<&Stand>) -> f64 {
        if self.entrants[entrant].forms.is_empty() {
            return self.gain(entrant);
        }
        let tokens = self.entrants[entrant].tokens.max(1) as f64;
        share(tokens * self.added(entrant, form, stand, false), self.most_gain)
    }

    /// Worth of entrants together, values that are covered already being worth nothing. The
    /// question is as good as the need that would win by as much, times `counts`.
    pub(super) fn worth(&self, counts: f64) -> Worth {
        let weight = |need: u64| self.need.return_rate() * share(to_units(need), self.most_need);
        let by_value = self.need.by_value().iter().zip(&self.is_covered);
        let by_value =
            by_value.map(|(need, is_covered)| if *is_covered { 0.0 } else { weight(*need) });
        let mut worth = Worth::of_values(by_value.collect())
            .with_pinned(weight(self.pinned_need))
            .with_named_share(NAMED);
        for Entrant { position, question, size, shares, .. } in &self.entrants {
            let asked = counts * question * share(self.most_per_size * size, self.most_need);
            let own = weight(self.need.own(*position)) + asked;
            worth.push(own, self.need.values(*position).iter().copied());
            for (form, share) in shares.iter().enumerate() {
                let values = self.need.values_of_form(*position, Some(form));
                worth.push_form(*share, values.iter().copied());
            }
        }
        worth
    }

    /// For each value the entrants that hold it: where they end, and who they are.
    fn holders(&self) -> Holders {
        let values = |entrant: &Entrant| self.need.values(entrant.position).iter();
        let mut ends = vec![0_usize; self.is_covered.len() + 1];
        for value in self.entrants.iter().flat_map(values) {
            ends[*value as usize + 1] += 1;
        }
        for value in 1..ends.len() {
            ends[value] += ends[value - 1];
        }
        let mut members = vec![0; ends.last().copied().unwrap_or(0)];
        let mut next = ends.clone();
        for (number, entrant) in self.entrants.iter().enumerate() {
            for value in values(entrant) {
                members[next[*value as usize]] = number as u32;
                next[*value as usize] += 1;
            }
        }
        Holders { ends, members }
    }

    /// Covers the values of this entrant in this form, which are then worth nothing elsewhere.
    fn cover(&mut self, entrant: usize, form: Form, holders: &Holders) {
        let Self { need, entrants, is_covered, uncovered, .. } = self;
        for value in need.values_of_form(entrants[entrant].position, form.rendering) {
            let value = *value as usize;
            if std::mem::replace(&mut is_covered[value], true) {
                continue;
            }
            for holder in &holders.members[holders.ends[value]..holders.ends[value + 1]] {
                let left = &mut uncovered[*holder as usize];
                *left = left.saturating_sub(need.by_value()[value]);
            }
        }
    }

    /// Worth of an entrant now, for its size.
    fn bid(&self, entrant: usize) -> Bid {
        let Entrant { age, question, room, .. } = self.entrants[entrant];
        Bid { key: self.needed_per_size(entrant) + question * room, age, entrant }
    }

    /// Gain of an entrant now, as a share of the most that one could have: its worth for its
    /// size, times its tokens.
    ///
    /// The highest bid per token is taken first. So what a larger budget has room for is worth more
    /// than all that it displaces, and the sum over a window does not fall with more budget, but
    /// for the room that the question pays for.
    fn gain(&self, entrant: usize) -> f64 {
        let Entrant { tokens, question, .. } = self.entrants[entrant];
        share(tokens.max(1) as f64 * (self.needed_per_size(entrant) + question), self.most_gain)
    }

    /// The need that an entrant would cover, for its size: a share of the most that one has.
    fn needed_per_size(&self, entrant: usize) -> f64 {
        let per_size = to_units(self.uncovered[entrant]) / self.entrants[entrant].size;
        self.need.return_rate() * share(per_size, self.most_per_size)
    }
}

/// For each entrant those that need it.
fn needed_by(needs: Option<&Needs>) -> Vec<Vec<usize>> {
    let Some(needs) = needs else { return Vec::new() };
    let mut needed_by = vec![Vec::new(); needs.len()];
    for at in 0..needs.len() {
        for needed in needs.of(at) {
            needed_by[*needed].push(at);
        }
    }
    needed_by
}

/// The window as it fills up.
struct Window {
    left: i64,
    taken: Vec<usize>,
    gains: Vec<f64>,
    stands: Vec<Option<Stand>>,
}

impl Window {
    fn new(entrants: usize, target_tokens: i64) -> Self {
        let (gains, stands) = (vec![0.0; entrants], vec![None; entrants]);
        Self { left: target_tokens, taken: Vec::new(), gains, stands }
    }
}

/// Form that an entrant is taken as.
#[derive(Clone, Copy)]
struct Stand {
    form: Form,
    /// Bid to come in, and the gain of its first form for a token.
    first: (f64, f64),
}

/// A form that an entrant could take, and what that adds for a token.
struct Step {
    form: Form,
    slope: f64,
}

fn tokens_of(stand: Option<&Stand>) -> i64 {
    stand.map_or(0, |stand| stand.form.tokens)
}

struct Holders {
    ends: Vec<usize>,
    members: Vec<u32>,
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// Bid of an entrant. The greater the better.
struct Bid {
    key: f64,
    age: u32,
    entrant: usize,
}

impl Ord for Bid {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = self.key.total_cmp(&other.key);
        key.then(self.age.cmp(&other.age)).then(self.entrant.cmp(&other.entrant))
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
