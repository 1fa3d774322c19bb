use cupel::{ContextItem, CupelError, ItemList, ScoreExplanation, ScorePart, Scorer};
use cupel_names::{excerpt, letters};

use super::combine::explain_child;
use super::kernel::{FittedKernel, Kernel, number, typical_tokens};
use super::{score_in_list, scores_of};
use crate::{Grouping, parameter};

/// Enough to recognise a text by.
const LONGEST_EXCERPT: usize = 41;

/// Lets an item share in the scores of what was said around it.
///
/// **When to choose it:** conversations, transcripts, logs: the answer often stands beside the words
/// that were asked for. On real conversations this is worth ten points of recall and more.
///
/// **Steps:** score with the inner scorer; multiply by the own weight, and add `share` times the
/// scores around it within its group, weighted by the [`Kernel`]. The own weight is
/// `(t / 25)^own_exponent`, but at least 1, with t the geometric mean of the items' tokens: long
/// items speak for themselves, short ones need their surroundings.
///
/// **Ties and edge cases:** items are in the order of their times if all have one, else as listed;
/// places are counted within the group. An item alone in its group has nothing but its own. A
/// neighbour whose score is NaN gives nothing.
///
/// **Cost:** that of the inner scorer, and three passes.
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
/// let scorer = NeighbourScorer::new(words, Grouping::Whole);
/// assert!(scorer.score(&items[2], &items) > scorer.score(&items[0], &items));
/// # Ok::<(), cupel::CupelError>(())
/// ```
pub struct NeighbourScorer {
    inner: Box<dyn Scorer>,
    grouping: Grouping,
    parameters: NeighbourParameters,
}

/// The constants of a [`NeighbourScorer`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NeighbourParameters {
    /// Reach of the surroundings.
    pub kernel: Kernel,
    /// Weight of the surroundings.
    pub share: f64,
    /// Exponent by which an item's own score counts more where items are long: 0 is not at all.
    pub own_exponent: f64,
}

impl Default for NeighbourParameters {
    fn default() -> Self {
        Self { kernel: Kernel::default(), share: 0.7, own_exponent: 0.5 }
    }
}

/// Score that a neighbour gave to an item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NeighbourShare {
    /// Where the neighbour stands in the list.
    pub position: usize,
    /// Score that it gave.
    pub score: f64,
}

/// The tokens of an item whose own score counts once.
const USUAL_TOKENS: f64 = 25.0;

/// Number of neighbours an explanation names.
const NAMED: usize = 3;

impl NeighbourScorer {
    /// With the usual constants.
    #[must_use]
    pub fn new(inner: impl Scorer + 'static, grouping: Grouping) -> Self {
        Self { inner: Box::new(inner), grouping, parameters: NeighbourParameters::default() }
    }

    /// With constants of your own.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if a constant is out of its range; it names which.
    pub fn with_parameters(
        inner: impl Scorer + 'static,
        grouping: Grouping,
        parameters: NeighbourParameters,
    ) -> Result<Self, CupelError> {
        parameters.kernel.check()?;
        parameter::not_negative("share", parameters.share)?;
        parameter::not_negative("own_exponent", parameters.own_exponent)?;
        Ok(Self { inner: Box::new(inner), grouping, parameters })
    }

    /// Scores that the neighbours of the item at a position gave, most first. Nothing beyond the list.
    #[must_use]
    pub fn neighbours(&self, items: &[ContextItem], position: usize) -> Vec<NeighbourShare> {
        let scores = scores_of(&*self.inner, &ItemList::new(items));
        self.shares(&self.parameters.kernel.fit(items, &self.grouping), &scores, position)
    }

    fn own_weight(&self, items: &[ContextItem]) -> f64 {
        (typical_tokens(items) / USUAL_TOKENS).powf(self.parameters.own_exponent).max(1.0)
    }

    fn shares(
        &self,
        kernel: &FittedKernel,
        scores: &[f64],
        position: usize,
    ) -> Vec<NeighbourShare> {
        let share = |(position, weight): (usize, f64)| NeighbourShare {
            position,
            score: self.parameters.share * weight * number(scores[position]),
        };
        let mut shares: Vec<_> = kernel.neighbours(position).into_iter().map(share).collect();
        shares.retain(|share| share.score != 0.0);
        shares.sort_by(|a, b| cupel::compare_scores(a.score, b.score));
        shares
    }

    fn explain_neighbours(
        &self,
        items: &ItemList<'_>,
        scores: &[f64],
        shares: &[NeighbourShare],
    ) -> ScoreExplanation {
        let total = shares.iter().map(|share| share.score).sum();
        let named: Vec<usize> = shares.iter().take(NAMED).map(|share| share.position).collect();
        let mut why = self.inner.explain(items, &named).into_iter();
        let explain = |share: &NeighbourShare| {
            let beginning = excerpt(items[share.position].content(), LONGEST_EXCERPT, letters);
            let part = share.score / scores[share.position];
            let words = why.next().map_or(Vec::new(), |why| scaled(why, part).parts);
            ScoreExplanation::new(ScorePart::Neighbour(beginning), share.score).with_parts(words)
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

    fn score_all(&self, items: &ItemList<'_>, scores: &mut [f64]) {
        let inner = scores_of(&*self.inner, items);
        let own_weight = self.own_weight(items);
        for (score, own) in scores.iter_mut().zip(&inner) {
            *score = own_weight * own;
        }
        let kernel = self.parameters.kernel.fit(items, &self.grouping);
        kernel.add_around(&inner, self.parameters.share, scores);
    }

    fn explain(&self, items: &ItemList<'_>, positions: &[usize]) -> Vec<ScoreExplanation> {
        let scores = scores_of(&*self.inner, items);
        let own_weight = self.own_weight(items);
        let kernel = self.parameters.kernel.fit(items, &self.grouping);
        let own = explain_child(&*self.inner, items, positions);
        let explain = |(position, own): (&usize, ScoreExplanation)| {
            let shares = self.shares(&kernel, &scores, *position);
            let around = self.explain_neighbours(items, &scores, &shares);
            let own = scaled(own, own_weight);
            ScoreExplanation::new("with neighbours", own.score + around.score)
                .with_parts(vec![own, around])
        };
        positions.iter().zip(own).map(explain).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Given, assert_close, build, given, item, scores};

    fn scorer(later: f64, share: f64) -> NeighbourScorer {
        // Items of 10 tokens: τ = 2.
        let kernel = Kernel { reach_tokens: 20.0, group_exponent: 0.0, later };
        let parameters = NeighbourParameters { kernel, share, own_exponent: 0.0 };
        NeighbourScorer::with_parameters(Given, Grouping::tag("s"), parameters).unwrap()
    }

    #[test]
    fn neighbours_share_by_distance_and_the_later_side_less() {
        let near = (-0.5_f64).exp();
        let far = (-1.0_f64).exp();
        let actual = scores(&scorer(0.5, 1.0), &given(&[8, 0, 0, 4]));
        let expected = [
            8.0 + 0.5 * 4.0 * (-1.5_f64).exp(),
            8.0 * near + 0.5 * 4.0 * far,
            8.0 * far + 0.5 * 4.0 * near,
            4.0 + 8.0 * (-1.5_f64).exp(),
        ];
        assert_close(&actual, &expected);
    }

    #[test]
    fn nothing_crosses_groups_and_an_item_alone_keeps_its_score() {
        let tagged =
            |score, group: &str| item("x").priority(score).tags(vec![format!("s:{group}")]);
        let items = build([tagged(5, "a"), tagged(7, "b"), tagged(0, "a")]);
        let near = (-0.5_f64).exp();
        assert_close(&scores(&scorer(1.0, 2.0), &items), &[5.0, 7.0, 10.0 * near]);
    }

    #[test]
    fn the_own_score_counts_more_where_items_are_long() {
        let long = |score| cupel::ContextItemBuilder::new("x", 100).priority(score);
        let items = build([long(3)]);
        let scorer = NeighbourScorer::new(Given, Grouping::Whole);
        assert_close(&scores(&scorer, &items), &[6.0]);
    }

    #[test]
    fn the_own_score_counts_at_least_once_however_short_items_are() {
        let short = |tokens| build([cupel::ContextItemBuilder::new("x", tokens).priority(3)]);
        let scorer = NeighbourScorer::new(Given, Grouping::Whole);
        for tokens in [0, 1, 4, 24, 25] {
            assert_close(&scores(&scorer, &short(tokens)), &[3.0]);
        }
    }

    #[test]
    fn an_explanation_adds_up_and_names_the_neighbours() {
        let items = given(&[8, 0, 0, 4]);
        let scorer = scorer(0.5, 1.0);
        let totals = scores(&scorer, &items);
        for (explanation, total) in
            scorer.explain(&ItemList::new(&items), &[0, 1, 2, 3]).iter().zip(&totals)
        {
            assert_close(&[explanation.score], &[*total]);
        }
        let shares = scorer.neighbours(&items, 1);
        assert_eq!(shares.iter().map(|share| share.position).collect::<Vec<_>>(), [0, 3]);
        let text = scorer.explain(&ItemList::new(&items), &[1])[0].to_string();
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
        let parameters =
            NeighbourParameters { own_exponent: 0.0, ..NeighbourParameters::default() };
        let scorer = NeighbourScorer::with_parameters(Broken, Grouping::Whole, parameters).unwrap();
        let scores = scores(&scorer, &given(&[1, 0]));
        assert!(scores[0].is_nan());
        assert_eq!(scores[1], 2.0);
    }

    #[test]
    fn constants_out_of_range_are_refused_by_name() {
        let text = |parameters| {
            let scorer = NeighbourScorer::with_parameters(Given, Grouping::Whole, parameters);
            scorer.err().unwrap().to_string()
        };
        let usual = NeighbourParameters::default();
        let kernel = Kernel { reach_tokens: 0.0, ..usual.kernel };
        let bad = NeighbourParameters { kernel, ..usual };
        assert_eq!(text(bad), "reach_tokens: must be positive and finite, got 0");
        let bad = NeighbourParameters { share: f64::NAN, ..usual };
        assert_eq!(text(bad), "share: must be finite and not negative, got NaN");
    }

    #[test]
    fn an_empty_list_has_no_scores() {
        assert!(scores(&scorer(1.0, 1.0), &[]).is_empty());
    }
}
