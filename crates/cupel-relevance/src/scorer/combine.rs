//! Scorers made of scorers.

use cupel::{ContextItem, CupelError, ItemList, ScoreExplanation, Scorer};

use super::{score_in_list, scores_of};
use crate::parameter;

/// Explanations of a child's scores, or else the scores themselves.
pub(super) fn explain_child(
    child: &dyn Scorer,
    items: &ItemList<'_>,
    positions: &[usize],
) -> Vec<ScoreExplanation> {
    let explanations = child.explain(items, positions);
    if explanations.len() == positions.len() {
        return explanations;
    }
    let scores = scores_of(child, items);
    positions.iter().map(|at| ScoreExplanation::new("other", scores[*at])).collect()
}

/// Turns one list of explanations a child into one list of parts an item.
fn by_item(children: Vec<Vec<ScoreExplanation>>, items: usize) -> Vec<Vec<ScoreExplanation>> {
    let mut parts: Vec<Vec<ScoreExplanation>> = (0..items).map(|_| Vec::new()).collect();
    for child in children {
        for (parts, part) in parts.iter_mut().zip(child) {
            parts.push(part);
        }
    }
    parts
}

/// Refuses no scorers, and weights that are negative or not finite.
pub(super) fn check_entries(entries: &[(Box<dyn Scorer>, f64)]) -> Result<(), CupelError> {
    if entries.is_empty() {
        return Err(CupelError::ScorerConfig("scorers: at least one scorer is required".into()));
    }
    for (index, (_, weight)) in entries.iter().enumerate() {
        parameter::not_negative(&format!("scorers[{index}].weight"), *weight)?;
    }
    Ok(())
}

/// Adds up the scores of several scorers, each times its weight.
///
/// **When to choose it:** scores of different sizes must keep their sizes. The library's
/// [`CompositeScorer`](cupel::CompositeScorer) is the weighted average instead.
///
/// **Ties and edge cases:** a NaN of one child makes the sum NaN.
///
/// **Cost:** that of its children, and a pass each.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, ReflexiveScorer, Scorer};
/// use cupel_relevance::SumScorer;
///
/// let scorer =
///     SumScorer::new(vec![(Box::new(ReflexiveScorer), 2.0), (Box::new(ReflexiveScorer), 1.0)])?;
/// let item = ContextItemBuilder::new("x", 1).future_relevance_hint(0.5).build()?;
/// assert_eq!(scorer.score(&item, &[item.clone()]), 1.5);
/// # Ok::<(), cupel::CupelError>(())
/// ```
pub struct SumScorer {
    entries: Vec<(Box<dyn Scorer>, f64)>,
}

impl SumScorer {
    /// Adds up scorers with their weights.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if there is no scorer, or a weight is negative or not finite; it
    /// names the position.
    pub fn new(entries: Vec<(Box<dyn Scorer>, f64)>) -> Result<Self, CupelError> {
        check_entries(&entries)?;
        Ok(Self { entries })
    }
}

impl Scorer for SumScorer {
    fn score(&self, item: &ContextItem, all_items: &[ContextItem]) -> f64 {
        score_in_list(self, item, all_items)
    }

    fn score_all(&self, items: &ItemList<'_>, scores: &mut [f64]) {
        scores.fill(0.0);
        for (scorer, weight) in &self.entries {
            for (score, child) in scores.iter_mut().zip(scores_of(&**scorer, items)) {
                *score += child * weight;
            }
        }
    }

    fn explain(&self, items: &ItemList<'_>, positions: &[usize]) -> Vec<ScoreExplanation> {
        let weighted = |(scorer, weight): &(Box<dyn Scorer>, f64)| {
            let mut explanations = explain_child(&**scorer, items, positions);
            if *weight != 1.0 {
                for explanation in &mut explanations {
                    let own = std::mem::replace(explanation, ScoreExplanation::new("", 0.0));
                    *explanation = ScoreExplanation::new(
                        format!("{weight} × {}", own.what),
                        own.score * weight,
                    )
                    .with_parts(own.parts);
                }
            }
            explanations
        };
        let children = self.entries.iter().map(weighted).collect();
        let sum = |mut parts: Vec<ScoreExplanation>| {
            let total = parts.iter().map(|part| part.score).sum();
            parts.retain(|part| part.score != 0.0);
            ScoreExplanation::new("sum", total).with_parts(parts)
        };
        by_item(children, positions.len()).into_iter().map(sum).collect()
    }
}

/// Multiplies the scores of several scorers, each raised to the power of its weight.
///
/// **When to choose it:** one scorer says how relevant an item is, and others are factors that
/// raise or lower that.
///
/// **Ties and edge cases:** a NaN of one child makes the product NaN, and so does a negative score
/// with a weight that is no whole number.
///
/// **Cost:** that of its children, and a pass each.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, ReflexiveScorer, Scorer};
/// use cupel_relevance::ProductScorer;
///
/// let scorer =
///     ProductScorer::new(vec![(Box::new(ReflexiveScorer), 1.0), (Box::new(ReflexiveScorer), 2.0)])?;
/// let item = ContextItemBuilder::new("x", 1).future_relevance_hint(0.5).build()?;
/// assert_eq!(scorer.score(&item, &[item.clone()]), 0.125);
/// # Ok::<(), cupel::CupelError>(())
/// ```
pub struct ProductScorer {
    entries: Vec<(Box<dyn Scorer>, f64)>,
}

impl ProductScorer {
    /// Multiplies scorers, each raised to the power of its weight.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if there is no scorer, or a weight is negative or not finite; it
    /// names the position.
    pub fn new(entries: Vec<(Box<dyn Scorer>, f64)>) -> Result<Self, CupelError> {
        check_entries(&entries)?;
        Ok(Self { entries })
    }
}

impl Scorer for ProductScorer {
    fn score(&self, item: &ContextItem, all_items: &[ContextItem]) -> f64 {
        score_in_list(self, item, all_items)
    }

    fn score_all(&self, items: &ItemList<'_>, scores: &mut [f64]) {
        scores.fill(1.0);
        for (scorer, weight) in &self.entries {
            let mut factors = scores_of(&**scorer, items);
            // Most weights are 1, and powers are dear.
            if *weight != 1.0 {
                for factor in &mut factors {
                    *factor = factor.powf(*weight);
                }
            }
            for (score, factor) in scores.iter_mut().zip(factors) {
                *score *= factor;
            }
        }
    }

    fn explain(&self, items: &ItemList<'_>, positions: &[usize]) -> Vec<ScoreExplanation> {
        let powers = |(scorer, weight): &(Box<dyn Scorer>, f64)| {
            let power = |own: ScoreExplanation| match *weight {
                1.0 => own,
                weight => ScoreExplanation::new(
                    format!("{} to the power of {weight}", own.what),
                    own.score.powf(weight),
                )
                .with_parts(own.parts),
            };
            explain_child(&**scorer, items, positions).into_iter().map(power).collect()
        };
        let children = self.entries.iter().map(powers).collect();
        let product = |mut parts: Vec<ScoreExplanation>| {
            let total = parts.iter().map(|part| part.score).product();
            // A factor of 1 changed nothing.
            parts.retain(|part| part.score != 1.0 || !part.parts.is_empty());
            ScoreExplanation::new("product", total).with_parts(parts)
        };
        by_item(children, positions.len()).into_iter().map(product).collect()
    }
}

/// Divides another scorer's scores by the largest, so that the best is 1.
///
/// **When to choose it:** scores without an upper end, such as words shared, are to be added to
/// others. Unlike [`ScaledScorer`](cupel::ScaledScorer) it keeps 0 at 0, and ratios as they are.
///
/// **Ties and edge cases:** where the largest score is not positive, scores stay as they are. NaN
/// stays NaN and is never the largest.
///
/// **Cost:** that of the inner scorer, and two passes.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, PriorityScorer, ReflexiveScorer, Scorer};
/// use cupel_relevance::MaxNormScorer;
///
/// let item = |hint| ContextItemBuilder::new("x", 1).future_relevance_hint(hint).build();
/// let items = [item(0.2)?, item(0.4)?];
/// assert_eq!(MaxNormScorer::new(ReflexiveScorer).score(&items[0], &items), 0.5);
/// # Ok::<(), cupel::CupelError>(())
/// ```
pub struct MaxNormScorer {
    inner: Box<dyn Scorer>,
}

impl MaxNormScorer {
    /// Divides the scores of `inner` by the largest.
    pub fn new(inner: impl Scorer + 'static) -> Self {
        Self { inner: Box::new(inner) }
    }
}

fn largest(scores: &[f64]) -> f64 {
    let largest = scores.iter().copied().fold(0.0, f64::max);
    if largest > 0.0 { largest } else { 1.0 }
}

impl Scorer for MaxNormScorer {
    fn score(&self, item: &ContextItem, all_items: &[ContextItem]) -> f64 {
        score_in_list(self, item, all_items)
    }

    fn score_all(&self, items: &ItemList<'_>, scores: &mut [f64]) {
        self.inner.score_all(items, scores);
        let largest = largest(scores);
        for score in scores {
            *score /= largest;
        }
    }

    fn explain(&self, items: &ItemList<'_>, positions: &[usize]) -> Vec<ScoreExplanation> {
        let largest = largest(&scores_of(&*self.inner, items));
        let divide = |explanation: ScoreExplanation| {
            let text = format!("divided by the largest, {largest:.4}");
            ScoreExplanation::new(text, explanation.score / largest).with_parts(vec![explanation])
        };
        explain_child(&*self.inner, items, positions).into_iter().map(divide).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Given, given, scores};
    use cupel::ReflexiveScorer;

    #[test]
    fn a_sum_keeps_sizes_and_weighs() {
        let sum = SumScorer::new(vec![(Box::new(Given), 1.0), (Box::new(Given), 0.5)]).unwrap();
        assert_eq!(scores(&sum, &given(&[2, 0, 4])), [3.0, 0.0, 6.0]);
    }

    #[test]
    fn a_product_multiplies() {
        let product = ProductScorer::new(vec![(Box::new(Given), 1.0), (Box::new(Given), 2.0)]);
        assert_eq!(scores(&product.unwrap(), &given(&[2, 0, 3])), [8.0, 0.0, 27.0]);
    }

    #[test]
    fn the_largest_becomes_one_and_zero_stays_zero() {
        let norm = MaxNormScorer::new(Given);
        assert_eq!(scores(&norm, &given(&[2, 0, 4])), [0.5, 0.0, 1.0]);
        assert_eq!(scores(&norm, &given(&[0, 0])), [0.0, 0.0]);
        assert_eq!(scores(&norm, &given(&[-2, -1])), [-2.0, -1.0]);
        assert_eq!(scores(&norm, &[]), [0.0; 0]);
    }

    #[test]
    fn combinations_of_nothing_and_bad_weights_are_refused() {
        let text = "scorers: at least one scorer is required";
        assert_eq!(SumScorer::new(vec![]).err().unwrap().to_string(), text);
        assert_eq!(ProductScorer::new(vec![]).err().unwrap().to_string(), text);
        let error = SumScorer::new(vec![(Box::new(Given), f64::NAN)]).err().unwrap();
        let text = "scorers[0].weight: must be finite and not negative, got NaN";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn explanations_add_up() {
        let product =
            ProductScorer::new(vec![(Box::new(Given), 1.0), (Box::new(Given), 1.0)]).unwrap();
        let norm = MaxNormScorer::new(product);
        let sum = SumScorer::new(vec![(Box::new(norm), 1.0), (Box::new(ReflexiveScorer), 3.0)]);
        let sum = sum.unwrap();
        let items = given(&[1, 2]);
        let scores = scores(&sum, &items);
        let explanations = sum.explain(&ItemList::new(&items), &[1, 0]);
        assert_eq!(explanations[0].score, scores[1]);
        assert_eq!(
            explanations[1].to_string(),
            "sum 0.2500\n  divided by the largest, 4.0000 0.2500\n    product 1.0000"
        );
    }
}
