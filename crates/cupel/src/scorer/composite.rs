use std::fmt;

use super::{ScoreExplanation, Scorer, weight};
use crate::{ContextItem, CupelError, ItemList};

/// Combines scorers into one by a weighted average.
///
/// **When to choose it:** relevance has more than one aspect: "60 % recency, 30 % priority,
/// 10 % kind".
///
/// **Steps:** divide each weight by their sum, once; then add up the children's scores, each
/// times its weight, in the order given.
///
/// **Ties and edge cases:** weights are relative, so 3 and 1 mean the same as 0.75 and 0.25.
/// Children may be composites. They are owned, so a composite cannot contain itself. A
/// [`MetadataKeyScorer`](crate::MetadataKeyScorer) takes part in the average like any other.
///
/// **Cost:** that of its children, plus one pass each.
///
/// # Example
///
/// ```
/// use cupel::{CompositeScorer, ContextItemBuilder, PriorityScorer, ReflexiveScorer, Scorer};
///
/// let scorer = CompositeScorer::new(vec![
///     (Box::new(ReflexiveScorer), 3.0),
///     (Box::new(PriorityScorer), 1.0),
/// ])?;
/// let item = ContextItemBuilder::new("x", 1).future_relevance_hint(0.5).priority(1).build()?;
/// assert_eq!(scorer.score(&item, &[item.clone()]), 0.625);
/// # Ok::<(), cupel::CupelError>(())
/// ```
///
/// Specification: Scorers, `CompositeScorer`.
pub struct CompositeScorer {
    scorers: Vec<Box<dyn Scorer>>,
    normalized_weights: Vec<f64>,
}

impl CompositeScorer {
    /// Combines scorers with their weights.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if there is no scorer, if a weight is not positive and
    /// finite (it names the position), or if the sum of the weights is not finite.
    pub fn new(entries: Vec<(Box<dyn Scorer>, f64)>) -> Result<Self, CupelError> {
        if entries.is_empty() {
            let text = "scorers: at least one scorer is required";
            return Err(CupelError::ScorerConfig(text.into()));
        }
        let mut total = 0.0;
        for (index, (_, weight)) in entries.iter().enumerate() {
            weight::require_positive(format_args!("scorers[{index}].weight"), *weight)?;
            total += weight;
        }
        weight::require_finite_total(total)?;
        let (scorers, weights): (Vec<_>, Vec<f64>) = entries.into_iter().unzip();
        let normalized_weights = weights.into_iter().map(|weight| weight / total).collect();
        Ok(Self { scorers, normalized_weights })
    }

    /// The only child itself if there is one: an average of one is that one, without the extra
    /// pass.
    #[cfg(feature = "serde")]
    pub(crate) fn simplified(self) -> Box<dyn Scorer> {
        match <[_; 1]>::try_from(self.scorers) {
            Ok([only]) => only,
            Err(scorers) => Box::new(Self { scorers, ..self }),
        }
    }

    fn children(&self) -> impl Iterator<Item = (&dyn Scorer, f64)> {
        self.scorers.iter().map(|scorer| &**scorer).zip(self.normalized_weights.iter().copied())
    }
}

impl Scorer for CompositeScorer {
    fn score(&self, item: &ContextItem, all_items: &[ContextItem]) -> f64 {
        let mut result = 0.0;
        for (scorer, weight) in self.children() {
            result += scorer.score(item, all_items) * weight;
        }
        result
    }

    fn score_all(&self, items: &ItemList<'_>, scores: &mut [f64]) {
        scores.fill(0.0);
        let mut child_scores = vec![0.0; items.len()];
        for (scorer, weight) in self.children() {
            scorer.score_all(items, &mut child_scores);
            add_weighted(scores, &child_scores, weight);
        }
    }

    /// Explanations of the children, each weighed as in the average.
    fn explain(&self, items: &ItemList<'_>, positions: &[usize]) -> Vec<ScoreExplanation> {
        self.score_and_explain(items, positions, &mut vec![0.0; items.len()])
    }

    fn score_and_explain(
        &self,
        items: &ItemList<'_>,
        positions: &[usize],
        scores: &mut [f64],
    ) -> Vec<ScoreExplanation> {
        scores.fill(0.0);
        let mut child_scores = vec![0.0; items.len()];
        let mut parts: Vec<Vec<ScoreExplanation>> = vec![Vec::new(); positions.len()];
        for (scorer, weight) in self.children() {
            let explanations = scorer.score_and_explain(items, positions, &mut child_scores);
            for (mut explanation, parts) in explanations.into_iter().zip(&mut parts) {
                explanation.score *= weight;
                parts.push(explanation);
            }
            add_weighted(scores, &child_scores, weight);
        }
        if parts.iter().all(Vec::is_empty) {
            return Vec::new();
        }
        let explain = |(position, parts): (&usize, _)| {
            ScoreExplanation::new("weighted average", scores[*position]).with_parts(parts)
        };
        positions.iter().zip(parts).map(explain).collect()
    }
}

fn add_weighted(scores: &mut [f64], child_scores: &[f64], weight: f64) {
    for (score, child_score) in scores.iter_mut().zip(child_scores) {
        *score += child_score * weight;
    }
}

impl fmt::Debug for CompositeScorer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompositeScorer")
            .field("num_scorers", &self.scorers.len())
            .field("normalized_weights", &self.normalized_weights)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{build, item, scores};
    use super::super::{PriorityScorer, ReflexiveScorer, ScaledScorer};
    use super::*;

    fn hints() -> Vec<ContextItem> {
        let hints = [(0.2, 5), (0.9, 1), (0.4, 3)];
        build(hints.map(|(h, p)| item("x").future_relevance_hint(h).priority(p)).into())
    }

    fn composite(first: f64, second: f64) -> Result<CompositeScorer, CupelError> {
        CompositeScorer::new(vec![
            (Box::new(ReflexiveScorer), first),
            (Box::new(PriorityScorer), second),
        ])
    }

    #[test]
    fn score_is_the_weighted_average_of_the_children() {
        let scores = scores(&composite(3.0, 1.0).unwrap(), &hints());
        let expected = [0.2 * 0.75 + 0.25, 0.9 * 0.75, 0.4 * 0.75 + 0.5 * 0.25];
        for (score, expected) in scores.iter().zip(expected) {
            assert!((score - expected).abs() < 1e-12, "{score} {expected}");
        }
    }

    #[test]
    fn weights_are_relative() {
        let items = hints();
        let a = scores(&composite(3.0, 1.0).unwrap(), &items);
        assert_eq!(a, scores(&composite(0.75, 0.25).unwrap(), &items));
    }

    #[test]
    fn a_single_child_is_passed_through() {
        let single = CompositeScorer::new(vec![(Box::new(ReflexiveScorer), 0.1)]).unwrap();
        assert_eq!(scores(&single, &hints()), [0.2, 0.9, 0.4]);
        assert_eq!(
            format!("{single:?}"),
            "CompositeScorer { num_scorers: 1, normalized_weights: [1.0] }"
        );
    }

    #[test]
    fn children_that_agree_on_one_make_one() {
        let ones = build(vec![item("x").future_relevance_hint(1.0).priority(1)]);
        assert_eq!(scores(&composite(1.0, 1.0).unwrap(), &ones), [1.0]);
    }

    #[test]
    fn composites_and_scaled_scorers_nest() {
        let nested = CompositeScorer::new(vec![
            (Box::new(composite(1.0, 1.0).unwrap()), 1.0),
            (Box::new(ScaledScorer::new(Box::new(composite(1.0, 3.0).unwrap()))), 1.0),
        ]);
        let scores = scores(&nested.unwrap(), &hints());
        assert!(scores.iter().all(|s| (0.0..=1.0).contains(s)), "{scores:?}");
    }

    /// Says what it is asked.
    struct Talkative;

    impl Scorer for Talkative {
        fn score(&self, item: &ContextItem, _: &[ContextItem]) -> f64 {
            item.tokens() as f64
        }

        fn explain(&self, items: &ItemList<'_>, positions: &[usize]) -> Vec<ScoreExplanation> {
            let explain = |at: &usize| ScoreExplanation::new("tokens", items[*at].tokens() as f64);
            positions.iter().map(explain).collect()
        }
    }

    #[test]
    fn what_children_explain_is_passed_on_with_their_weight() {
        let items = hints();
        let composite = CompositeScorer::new(vec![
            (Box::new(ReflexiveScorer), 1.0),
            (Box::new(Talkative), 3.0),
        ])
        .unwrap();
        let explanations = composite.explain(&ItemList::new(&items), &[2, 0]);
        let lines = explanations.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(
            lines,
            [
                "weighted average 7.6000\n  tokens 7.5000",
                "weighted average 7.5500\n  tokens 7.5000"
            ]
        );
        assert_eq!(
            super::tests::composite(1.0, 1.0).unwrap().explain(&ItemList::new(&items), &[0]),
            []
        );
    }

    #[test]
    fn an_empty_list_is_refused() {
        let error = CompositeScorer::new(vec![]).unwrap_err();
        assert_eq!(error.to_string(), "scorers: at least one scorer is required");
    }

    #[test]
    fn weights_that_are_not_positive_and_finite_are_refused_by_position() {
        for (bad, rule) in [
            (0.0, "positive, got 0"),
            (-1.0, "positive, got -1"),
            (f64::NAN, "finite, got NaN"),
            (f64::INFINITY, "finite, got inf"),
        ] {
            let error = composite(1.0, bad).unwrap_err();
            assert_eq!(error.to_string(), format!("scorers[1].weight: must be {rule}"));
        }
    }

    #[test]
    fn weights_whose_sum_overflows_are_refused() {
        assert!(matches!(composite(f64::MAX, f64::MAX), Err(CupelError::ScorerConfig(_))));
    }
}
