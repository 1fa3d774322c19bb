//! Reach of an item's surroundings.

use cupel::{ContextItem, CupelError};

use crate::grouping::Groups;
use crate::{Grouping, parameter};

/// Weight of an item's surroundings by their distance.
///
/// An item d places away within its group counts `exp(−d / τ)`. τ adapts to the list:
/// `reach_tokens / t · (g / 25)^group_exponent`, but at least 1, with t the geometric mean of the
/// items' tokens and g the mean size of the group that an item is in. So about as many tokens of
/// surroundings count however long the items are, and more in longer groups.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kernel {
    /// Number of tokens of surroundings that count.
    pub reach_tokens: f64,
    /// Exponent by which the reach grows in longer groups: 0 is not at all.
    pub group_exponent: f64,
    /// Weight of the later side beside the earlier one.
    pub later: f64,
}

impl Default for Kernel {
    fn default() -> Self {
        Self { reach_tokens: 120.0, group_exponent: 0.35, later: 0.7 }
    }
}

/// The size of group for which `reach_tokens` is meant, in items.
const USUAL_GROUP: f64 = 25.0;

/// The share below which a neighbour counts nothing at all.
const LEAST: f64 = 1e-12;

impl Kernel {
    pub(super) fn check(&self) -> Result<(), CupelError> {
        parameter::positive("reach_tokens", self.reach_tokens)?;
        parameter::not_negative("group_exponent", self.group_exponent)?;
        parameter::not_negative("later", self.later)
    }

    pub(super) fn fit(&self, items: &[ContextItem], grouping: &Grouping) -> FittedKernel {
        let groups = grouping.groups(items);
        let squares: f64 = groups.iter().map(|group| (group.len() as f64).powi(2)).sum();
        let mean_group = squares / items.len().max(1) as f64;
        let larger = (mean_group / USUAL_GROUP).powf(self.group_exponent);
        let tau = (self.reach_tokens / typical_tokens(items) * larger).max(1.0);
        FittedKernel { groups, step: (-1.0 / tau).exp(), later: self.later }
    }
}

/// The geometric mean of the items' tokens, each at least 1; 1 for an empty list.
pub(super) fn typical_tokens(items: &[ContextItem]) -> f64 {
    let logs: f64 = items.iter().map(|item| (item.tokens().max(1) as f64).ln()).sum();
    (logs / items.len().max(1) as f64).exp()
}

/// A [`Kernel`] for a certain list.
pub(super) struct FittedKernel {
    groups: Groups,
    /// Factor from one place to the next.
    step: f64,
    later: f64,
}

impl FittedKernel {
    /// The positions of each group, in the order in which the items came.
    pub(super) fn groups(&self) -> impl Iterator<Item = &[u32]> {
        self.groups.iter()
    }

    /// Adds to each sum what the values around it amount to. Values that are not numbers count
    /// nothing.
    pub(super) fn add_around(&self, values: &[f64], share: f64, sums: &mut [f64]) {
        for group in self.groups.iter() {
            self.add_walk(group.iter(), values, share, sums);
            self.add_walk(group.iter().rev(), values, share * self.later, sums);
        }
    }

    /// One way through a group: what came before fades from place to place.
    fn add_walk<'g>(
        &self,
        members: impl Iterator<Item = &'g u32>,
        values: &[f64],
        share: f64,
        sums: &mut [f64],
    ) {
        let mut before = 0.0;
        for at in members {
            sums[*at as usize] += share * before;
            before = self.step * (before + number(values[*at as usize]));
            if before < LEAST && before > -LEAST {
                before = 0.0;
            }
        }
    }

    /// The neighbours of an item and what they count.
    pub(super) fn neighbours(&self, position: usize) -> Vec<(usize, f64)> {
        let place_in = |group: &[u32]| group.iter().position(|at| *at as usize == position);
        let home = self.groups.iter().find_map(|group| Some((group, place_in(group)?)));
        let Some((group, place)) = home else { return Vec::new() };
        let weighted = |(distance, at): (i32, &u32), side: f64| {
            (*at as usize, side * self.step.powi(distance))
        };
        let earlier = (1..).zip(group[..place].iter().rev()).map(|near| weighted(near, 1.0));
        let later = (1..).zip(&group[place + 1..]).map(|near| weighted(near, self.later));
        let counts = |(_, weight): &(usize, f64)| *weight >= LEAST;
        earlier.take_while(counts).chain(later.take_while(counts)).collect()
    }
}

/// The value, or 0 for NaN.
pub(super) fn number(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Random, assert_close, build, item};
    use cupel::ContextItemBuilder;

    fn fit(kernel: Kernel, items: &[ContextItem]) -> FittedKernel {
        kernel.fit(items, &Grouping::tag("s"))
    }

    #[test]
    fn the_reach_adapts_to_tokens_and_groups() {
        let items =
            |tokens: [i64; 2]| build(tokens.map(|tokens| ContextItemBuilder::new("x", tokens)));
        let kernel = Kernel { reach_tokens: 100.0, group_exponent: 0.0, later: 1.0 };
        let tau = |fitted: FittedKernel| -1.0 / fitted.step.ln();
        // A geometric mean of 20.
        assert_close(&[tau(fit(kernel, &items([10, 40])))], &[5.0]);
        assert_close(&[tau(fit(kernel, &items([1_000, 1_000])))], &[1.0]);
        // Groups of 2 instead of 25.
        let grouped = Kernel { group_exponent: 1.0, ..kernel };
        assert_close(&[tau(fit(grouped, &items([1, 1])))], &[100.0 * 2.0 / 25.0]);
    }

    #[test]
    fn a_walk_agrees_with_the_sum_over_all_pairs() {
        let mut random = Random(5);
        for _ in 0..100 {
            let size = 1 + random.below(30);
            let tagged =
                |random: &mut Random| item("x").tags(vec![format!("s:{}", random.below(3))]);
            let items = build((0..size).map(|_| tagged(&mut random)).collect::<Vec<_>>());
            let values: Vec<f64> = (0..size).map(|_| random.below(5) as f64).collect();
            let kernel = Kernel { reach_tokens: 30.0, group_exponent: 0.0, later: 0.5 };
            let mut sums = vec![0.0; size];
            fit(kernel, &items).add_around(&values, 2.0, &mut sums);
            let expected = |i: usize| {
                let pair = |j: usize| {
                    let distance =
                        (i.min(j)..i.max(j)).filter(|k| items[*k].tags() == items[i].tags());
                    let weight = (-(distance.count() as f64) / 3.0).exp() * values[j];
                    if j > i { 0.5 * weight } else { weight }
                };
                let others = (0..size).filter(|j| *j != i && items[*j].tags() == items[i].tags());
                2.0 * others.map(pair).sum::<f64>()
            };
            assert_close(&sums, &(0..size).map(expected).collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_is_very_far_away_counts_nothing() {
        let items = build((0..100).map(|_| ContextItemBuilder::new("x", 1_000)));
        let mut values = vec![0.0; 100];
        values[0] = 1.0;
        let mut sums = vec![0.0; 100];
        let fitted = Kernel::default().fit(&items, &Grouping::Whole);
        fitted.add_around(&values, 1.0, &mut sums);
        assert!(sums[20] > 0.0);
        assert_eq!(sums[99], 0.0);
    }
}
