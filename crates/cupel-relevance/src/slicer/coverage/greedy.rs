//! The contest for the window: who covers most of what is left to cover.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use cupel::Worth;

use crate::need::{Need, to_units};

/// A candidate, as the contest sees it.
pub(super) struct Entrant {
    /// Its position in the list.
    pub(super) position: usize,
    /// Which in time it is: of equals the later wins.
    pub(super) age: u32,
    pub(super) tokens: i64,
    /// What its need is divided by.
    pub(super) size: f64,
    /// What the question says.
    pub(super) question: f64,
    /// What is left of that once it has paid for the room that it takes: 1 for all of it.
    pub(super) room: f64,
}

/// What is weighed: need as far as it is uncovered, per size, and the question.
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

/// Who was taken, and what each brought.
pub(super) struct Outcome {
    /// Numbers of entrants, in the order in which they were taken.
    pub(super) taken: Vec<usize>,
    /// For each entrant what it added when it was taken, or would still add.
    pub(super) gains: Vec<f64>,
}

impl Contest {
    /// What is pinned covers its values from the beginning.
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
    pub(super) fn run(mut self, target_tokens: i64) -> Outcome {
        let holders = self.holders();
        let mut heap: BinaryHeap<Bid> = (0..self.entrants.len()).map(|at| self.bid(at)).collect();
        let mut left = target_tokens;
        let mut taken = Vec::new();
        let mut gains = vec![0.0; self.entrants.len()];
        while let Some(bid) = heap.pop() {
            let now = self.bid(bid.entrant);
            if now.key < bid.key {
                heap.push(now);
                continue;
            }
            if self.entrants[bid.entrant].tokens > left {
                continue;
            }
            left = left.saturating_sub(self.entrants[bid.entrant].tokens);
            gains[bid.entrant] = self.gain(bid.entrant);
            taken.push(bid.entrant);
            self.cover(bid.entrant, &holders);
        }
        let mut is_taken = vec![false; self.entrants.len()];
        for at in &taken {
            is_taken[*at] = true;
        }
        for at in (0..gains.len()).filter(|at| !is_taken[*at]) {
            gains[at] = self.gain(at);
        }
        Outcome { taken, gains }
    }

    /// What entrants are worth together, values that are covered already being worth nothing. The
    /// question is as good as the need that would win by as much, times `counts`.
    pub(super) fn worth(&self, counts: f64) -> Worth {
        let weight = |need: u64| self.need.return_rate() * share(to_units(need), self.most_need);
        let by_value = self.need.by_value().iter().zip(&self.is_covered);
        let by_value =
            by_value.map(|(need, is_covered)| if *is_covered { 0.0 } else { weight(*need) });
        let mut worth = Worth::of_values(by_value.collect()).with_pinned(weight(self.pinned_need));
        for Entrant { position, question, size, .. } in &self.entrants {
            let asked = counts * question * share(self.most_per_size * size, self.most_need);
            let own = weight(self.need.own(*position)) + asked;
            worth.push(own, self.need.values(*position).iter().copied());
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

    /// What this entrant holds is worth nothing elsewhere.
    fn cover(&mut self, entrant: usize, holders: &Holders) {
        let Self { need, entrants, is_covered, uncovered, .. } = self;
        for value in need.values(entrants[entrant].position) {
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

    /// What an entrant is worth now, for its size.
    fn bid(&self, entrant: usize) -> Bid {
        let Entrant { age, question, room, .. } = self.entrants[entrant];
        Bid { key: self.needed_per_size(entrant) + question * room, age, entrant }
    }

    /// What an entrant adds now, as a share of the most that one could: what it is worth for its
    /// size, times its tokens.
    ///
    /// Who bids most per token is taken first. So what a larger budget has room for is worth more
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

struct Holders {
    ends: Vec<usize>,
    members: Vec<u32>,
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// What an entrant offers. The greater the better.
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
