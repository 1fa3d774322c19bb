use cupel::{ContextItem, CupelError, ScoreExplanation, Scorer};

use super::{score_in_list, scores_of};
use crate::excerpt::excerpt;
use crate::grouping::Groups;
use crate::{Grouping, parameter};

/// How much of its surroundings counts for an item.
///
/// What stands d places away counts `exp(−d / τ)`, and nothing beyond the window. τ is `reach_tokens`
/// divided by the mean tokens of an item, but at least 1: about as many tokens of surroundings count
/// however long the items are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kernel {
    /// How many tokens of surroundings count.
    pub reach_tokens: f64,
    /// What the later side counts beside the earlier one.
    pub later: f64,
    /// How many places away an item may be.
    pub window: usize,
}

impl Default for Kernel {
    fn default() -> Self {
        Self { reach_tokens: 120.0, later: 0.7, window: 24 }
    }
}

impl Kernel {
    pub(super) fn check(&self) -> Result<(), CupelError> {
        parameter::positive("reach_tokens", self.reach_tokens)?;
        parameter::not_negative("later", self.later)?;
        parameter::at_least_one("window", self.window)
    }

    pub(super) fn weights(&self, items: &[ContextItem]) -> KernelWeights {
        let tokens: f64 = items.iter().map(|item| item.tokens().max(0) as f64).sum();
        let mean = if tokens > 0.0 { tokens / items.len() as f64 } else { 1.0 };
        let tau = (self.reach_tokens / mean).max(1.0);
        let window = self.window.min(items.len());
        let by_distance = (1..=window).map(|distance| (-(distance as f64) / tau).exp()).collect();
        KernelWeights { by_distance, later: self.later }
    }
}

/// A [`Kernel`] for a certain list.
pub(super) struct KernelWeights {
    /// For a distance of 1 and up.
    by_distance: Vec<f64>,
    later: f64,
}

impl KernelWeights {
    /// For each item what the values around it amount to. Values that are not numbers count nothing.
    pub(super) fn around(&self, groups: &Groups, values: &[f64], around: &mut [f64]) {
        for group in groups.iter() {
            let values: Vec<f64> = group.iter().map(|at| number(values[*at as usize])).collect();
            for (place, at) in group.iter().enumerate() {
                let earlier = values[..place].iter().rev();
                let later = values[place + 1..].iter();
                around[*at as usize] = self.sum(earlier) + self.later * self.sum(later);
            }
        }
    }

    fn sum<'v>(&self, values: impl Iterator<Item = &'v f64>) -> f64 {
        values.zip(&self.by_distance).map(|(value, weight)| value * weight).sum()
    }

    /// What each neighbour of the item at a place of a group gives: its position and its weight.
    fn neighbours<'g>(
        &'g self,
        group: &'g [u32],
        place: usize,
    ) -> impl Iterator<Item = (usize, f64)> + 'g {
        let earlier = group[..place].iter().rev().zip(&self.by_distance);
        let later = group[place + 1..].iter().zip(&self.by_distance);
        let earlier = earlier.map(|(at, weight)| (*at as usize, *weight));
        earlier.chain(later.map(|(at, weight)| (*at as usize, self.later * weight)))
    }
}

fn number(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value }
}

/// Lets an item share in the scores of what was said around it.
///
/// **When to choose it:** conversations, transcripts, logs: the answer often stands beside the words
/// that were asked for. On real conversations this is worth ten points of recall and more.
///
/// **Steps:** score with the inner scorer; add `share` times the scores around it within its group,
/// weighted by the [`Kernel`].
///
/// **Ties and edge cases:** items are in the order of their times if all have one, else as listed;
/// places are counted within the group. An item alone in its group keeps its score. A neighbour
/// whose score is NaN gives nothing.
///
/// **Cost:** that of the inner scorer, and N × window.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, Scorer};
/// use cupel_relevance::{Bm25Scorer, Grouping, Index, NeighbourScorer, Query};
///
/// let said = |text: &str| ContextItemBuilder::new(text, 60).build();
/// let items = [said("Nice weather.")?, said("Which key did the deploy use?")?, said("The old one.")?];
/// let words = Bm25Scorer::new(Query::new("deploy key"), Index::default())?;
/// let scorer = NeighbourScorer::new(words, Grouping::Whole)?;
/// assert!(scorer.score(&items[2], &items) > scorer.score(&items[0], &items));
/// # Ok::<(), cupel::CupelError>(())
/// ```
pub struct NeighbourScorer {
    inner: Box<dyn Scorer>,
    grouping: Grouping,
    kernel: Kernel,
    share: f64,
}

/// What a neighbour gave to an item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NeighbourShare {
    /// Where the neighbour stands in the list.
    pub position: usize,
    /// What it gave.
    pub score: f64,
}

/// How many neighbours an explanation names.
const NAMED: usize = 3;

impl NeighbourScorer {
    /// With the usual kernel, and all of what it yields.
    ///
    /// # Errors
    ///
    /// As [`with_kernel`](Self::with_kernel); with these constants, none.
    pub fn new(inner: impl Scorer + 'static, grouping: Grouping) -> Result<Self, CupelError> {
        Self::with_kernel(inner, grouping, Kernel::default(), 1.0)
    }

    /// With a kernel of your own, and `share` of what it yields.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if a constant is out of its range; it names which.
    pub fn with_kernel(
        inner: impl Scorer + 'static,
        grouping: Grouping,
        kernel: Kernel,
        share: f64,
    ) -> Result<Self, CupelError> {
        kernel.check()?;
        parameter::not_negative("share", share)?;
        Ok(Self { inner: Box::new(inner), grouping, kernel, share })
    }

    /// What the neighbours of the item at a position gave, most first. Nothing beyond the list.
    #[must_use]
    pub fn neighbours(&self, items: &[ContextItem], position: usize) -> Vec<NeighbourShare> {
        let scores = scores_of(&*self.inner, items);
        let groups = self.grouping.groups(items);
        self.shares(&self.kernel.weights(items), &groups, &scores, position)
    }

    fn shares(
        &self,
        weights: &KernelWeights,
        groups: &Groups,
        scores: &[f64],
        position: usize,
    ) -> Vec<NeighbourShare> {
        let place = |group: &&[u32]| group.iter().position(|at| *at as usize == position);
        let home = groups.iter().find_map(|group| place(&group).map(|place| (group, place)));
        let Some((group, place)) = home else { return Vec::new() };
        let share = |(position, weight): (usize, f64)| NeighbourShare {
            position,
            score: self.share * weight * number(scores[position]),
        };
        let mut shares: Vec<_> = weights.neighbours(group, place).map(share).collect();
        shares.retain(|share| share.score != 0.0);
        shares.sort_by(|a, b| cupel::compare_scores(a.score, b.score));
        shares
    }

    fn explain_neighbours(
        &self,
        items: &[ContextItem],
        scores: &[f64],
        shares: &[NeighbourShare],
    ) -> ScoreExplanation {
        let total = shares.iter().map(|share| share.score).sum();
        let named: Vec<usize> = shares.iter().take(NAMED).map(|share| share.position).collect();
        let mut why = self.inner.explain(items, &named).into_iter();
        let explain = |share: &NeighbourShare| {
            let text = format!("neighbour `{}`", excerpt(items[share.position].content()));
            let part = share.score / scores[share.position];
            let words = why.next().map_or(Vec::new(), |why| scaled(why, part).parts);
            ScoreExplanation::new(text, share.score).with_parts(words)
        };
        let parts = shares.iter().take(NAMED).map(explain).collect();
        ScoreExplanation::new("neighbours", total).with_parts(parts)
    }
}

/// An explanation of a part of what it explains.
fn scaled(mut explanation: ScoreExplanation, part: f64) -> ScoreExplanation {
    explanation.score *= part;
    explanation.parts = explanation.parts.into_iter().map(|inner| scaled(inner, part)).collect();
    explanation
}

impl Scorer for NeighbourScorer {
    fn score(&self, item: &ContextItem, all_items: &[ContextItem]) -> f64 {
        score_in_list(self, item, all_items)
    }

    fn score_all(&self, items: &[ContextItem], scores: &mut [f64]) {
        self.inner.score_all(items, scores);
        let mut around = vec![0.0; items.len()];
        self.kernel.weights(items).around(&self.grouping.groups(items), scores, &mut around);
        for (score, around) in scores.iter_mut().zip(around) {
            *score += self.share * around;
        }
    }

    fn explain(&self, items: &[ContextItem], positions: &[usize]) -> Vec<ScoreExplanation> {
        let scores = scores_of(&*self.inner, items);
        let (weights, groups) = (self.kernel.weights(items), self.grouping.groups(items));
        let mut own = self.inner.explain(items, positions).into_iter();
        let explain = |position: &usize| {
            let shares = self.shares(&weights, &groups, &scores, *position);
            let around = self.explain_neighbours(items, &scores, &shares);
            let score = scores[*position];
            let own = own.next().unwrap_or_else(|| ScoreExplanation::new("itself", score));
            ScoreExplanation::new("with neighbours", score + around.score)
                .with_parts(vec![own, around])
        };
        positions.iter().map(explain).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Given, assert_close, build, given, item, scores};

    fn scorer(later: f64, window: usize, share: f64) -> NeighbourScorer {
        // Items of 10 tokens: τ = 2.
        let kernel = Kernel { reach_tokens: 20.0, later, window };
        NeighbourScorer::with_kernel(Given, Grouping::tag("s"), kernel, share).unwrap()
    }

    #[test]
    fn neighbours_share_by_distance_and_the_later_side_less() {
        let near = (-0.5_f64).exp();
        let far = (-1.0_f64).exp();
        let actual = scores(&scorer(0.5, 9, 1.0), &given(&[8, 0, 0, 4]));
        let expected = [
            8.0 + 0.5 * 4.0 * (-1.5_f64).exp(),
            8.0 * near + 0.5 * 4.0 * far,
            8.0 * far + 0.5 * 4.0 * near,
            4.0 + 8.0 * (-1.5_f64).exp(),
        ];
        assert_close(&actual, &expected);
    }

    #[test]
    fn nothing_comes_from_beyond_the_window() {
        let near = (-0.5_f64).exp();
        assert_close(&scores(&scorer(1.0, 1, 2.0), &given(&[3, 0, 0])), &[3.0, 6.0 * near, 0.0]);
    }

    #[test]
    fn nothing_crosses_groups_and_an_item_alone_keeps_its_score() {
        let tagged =
            |score, group: &str| item("x").priority(score).tags(vec![format!("s:{group}")]);
        let items = build([tagged(5, "a"), tagged(7, "b"), tagged(0, "a")]);
        let near = (-0.5_f64).exp();
        assert_close(&scores(&scorer(1.0, 9, 1.0), &items), &[5.0, 7.0, 5.0 * near]);
    }

    #[test]
    fn long_items_have_a_short_reach_but_never_below_one_place() {
        let long = |score| cupel::ContextItemBuilder::new("x", 1_000).priority(score);
        let items = build([long(1), long(0)]);
        let scorer = NeighbourScorer::new(Given, Grouping::Whole).unwrap();
        assert_close(&scores(&scorer, &items), &[1.0, (-1.0_f64).exp()]);
    }

    #[test]
    fn an_explanation_adds_up_and_names_the_neighbours() {
        let items = given(&[8, 0, 0, 4]);
        let scorer = scorer(0.5, 9, 1.0);
        let totals = scores(&scorer, &items);
        for (explanation, total) in scorer.explain(&items, &[0, 1, 2, 3]).iter().zip(&totals) {
            assert_close(&[explanation.score], &[*total]);
        }
        let shares = scorer.neighbours(&items, 1);
        assert_eq!(shares.iter().map(|share| share.position).collect::<Vec<_>>(), [0, 3]);
        let text = scorer.explain(&items, &[1])[0].to_string();
        assert!(text.contains("neighbour `item 0` 4.8522"), "{text}");
        assert!(scorer.neighbours(&items, 9).is_empty());
    }

    #[test]
    fn a_neighbour_that_is_not_a_number_gives_nothing() {
        struct Broken;
        impl Scorer for Broken {
            fn score(&self, item: &ContextItem, _: &[ContextItem]) -> f64 {
                if item.priority() == Some(1) { f64::NAN } else { 2.0 }
            }
        }
        let scorer = NeighbourScorer::new(Broken, Grouping::Whole).unwrap();
        let scores = scores(&scorer, &given(&[1, 0]));
        assert!(scores[0].is_nan());
        assert_eq!(scores[1], 2.0);
    }

    #[test]
    fn constants_out_of_range_are_refused_by_name() {
        let text = |kernel, share| {
            let scorer = NeighbourScorer::with_kernel(Given, Grouping::Whole, kernel, share);
            scorer.err().unwrap().to_string()
        };
        let kernel = Kernel::default();
        let bad = Kernel { reach_tokens: 0.0, ..kernel };
        assert_eq!(text(bad, 1.0), "reach_tokens: must be positive and finite, got 0");
        let bad = Kernel { window: 0, ..kernel };
        assert_eq!(text(bad, 1.0), "window: must be at least 1, got 0");
        assert_eq!(text(kernel, f64::NAN), "share: must be finite and not negative, got NaN");
    }

    #[test]
    fn an_empty_list_has_no_scores() {
        assert!(scores(&scorer(1.0, 3, 1.0), &[]).is_empty());
    }
}
