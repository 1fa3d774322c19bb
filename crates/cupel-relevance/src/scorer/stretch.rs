use cupel::{ContextItem, ContextKind, CupelError, ItemList, ScoreExplanation, Scorer};

use super::combine::explain_child;
use super::kernel::{FittedKernel, Kernel, number};
use super::{score_in_list, scores_of};
use crate::grouping::tag_value;
use crate::{Grouping, parameter};

/// Lets whole stretches of a long talk among people count, where no single turn stands out.
///
/// **When to choose it:** around all other factors of a conversation's relevance. In a meeting the answer is a discussion of many
/// turns, and the turns of the person that the question names drag the replies along. Elsewhere it changes nothing, to the bit.
///
/// **Steps:** with s the inner score, the score is `s + weight · γ · m`. m is the mean of the scores around an item within its group, one k
/// places away counting `exp(−k / τ)` and both sides alike, with `τ = reach_tokens / typical tokens`, but at least 1. γ is the product of:
/// 1. talk: 0 where an item is a user's, an assistant's or a tool's; else `ln(L / 2000) / ln 4`, within 0 and 1, with
///    `L = Σ t² / Σ t` over the tokens t of the groups: how long people talk without a break;
/// 2. question: `(2.2 − c) / 0.6`, within 0 and 1, with c the best score by the mean of the best twentieth (at least five): a fact
///    stands out, a discussion does not.
///
/// The constants were chosen on QMSum and on Chinese meetings, where a weight of 1.5 to 6 and a reach of 150 to 250 tokens lie within a
/// point of each other. Without the gates LoCoMo loses three points.
///
/// **Ties and edge cases:** scores that are not numbers count nothing, and keep what they are.
///
/// **Cost:** that of the inner scorer, a sort, and four passes where γ is not 0.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, Scorer};
/// use cupel_relevance::{Bm25Scorer, Grouping, Index, Query, StretchScorer};
///
/// let said = |text: &str| ContextItemBuilder::new(text, 40).build();
/// let items = [said("Which key?")?, said("The old one.")?];
/// let words = Bm25Scorer::new(Query::new("key"), Index::default())?;
/// let scorer = StretchScorer::new(words, Grouping::Whole);
/// assert_eq!(scorer.score(&items[1], &items), 0.0, "two turns are no long talk");
/// # Ok::<(), cupel::CupelError>(())
/// ```
pub struct StretchScorer {
    inner: Box<dyn Scorer>,
    grouping: Grouping,
    weight: f64,
    kernel: Kernel,
}

/// The weight of what stands around an item. Chosen on QMSum, where half to twice as much differs by about a point; so does a reach of
/// 150 to 250 tokens. The gain on data that it was not chosen on was a third of that.
pub(crate) const STRETCH_WEIGHT: f64 = 3.0;

/// Number of tokens of surroundings that count, on both sides alike.
pub(crate) const STRETCH_KERNEL: Kernel =
    Kernel { reach_tokens: 150.0, group_exponent: 0.0, later: 1.0 };

impl StretchScorer {
    /// With the usual constants.
    #[must_use]
    pub fn new(inner: impl Scorer + 'static, grouping: Grouping) -> Self {
        let (weight, kernel) = (STRETCH_WEIGHT, STRETCH_KERNEL);
        Self { inner: Box::new(inner), grouping, weight, kernel }
    }

    /// With constants of your own.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if a constant is out of its range; it names which.
    pub fn with_parameters(
        inner: impl Scorer + 'static,
        grouping: Grouping,
        weight: f64,
        kernel: Kernel,
    ) -> Result<Self, CupelError> {
        parameter::not_negative("weight", weight)?;
        kernel.check()?;
        Ok(Self { inner: Box::new(inner), grouping, weight, kernel })
    }

    /// Score that the surroundings add to each item; `None` where they add nothing.
    fn added(&self, items: &[ContextItem], scores: &[f64]) -> Option<Vec<f64>> {
        // Both gates are cheap, and most lists do not pass the first.
        if items.iter().any(is_with_an_assistant) {
            return None;
        }
        let kernel = self.kernel.fit(items, &self.grouping);
        let part = self.weight * talk(items, &kernel) * question(scores);
        (part > 0.0).then(|| {
            let around = |values: &[f64]| {
                let mut sums = vec![0.0; values.len()];
                kernel.add_around(values, 1.0, &mut sums);
                sums
            };
            let weights = around(&vec![1.0; items.len()]);
            let sums = around(scores);
            sums.iter().zip(weights).map(|(sum, weight)| part * sum / weight.max(1.0)).collect()
        })
    }
}

/// Returns true if an item is part of a talk with an assistant or its tools.
fn is_with_an_assistant(item: &ContextItem) -> bool {
    *item.kind() == ContextKind::tool_output() || tag_value(item, "role").is_some()
}

/// Degree to which people talk without a break: 0 up to 2,000 tokens, 1 from 8,000.
fn talk(items: &[ContextItem], kernel: &FittedKernel) -> f64 {
    let tokens = |group: &[u32]| -> f64 {
        group.iter().map(|at| items[*at as usize].tokens().max(0) as f64).sum()
    };
    let (mut sum, mut squares) = (0.0, 0.0);
    for length in kernel.groups().map(tokens) {
        sum += length;
        squares += length * length;
    }
    if sum > 0.0 { ((squares / sum / 2_000.0).ln() / 4.0_f64.ln()).clamp(0.0, 1.0) } else { 0.0 }
}

/// Degree to which no single item stands out: 1 where the best is 1.6 times the mean of the best twentieth or less, 0 from 2.2 times.
fn question(scores: &[f64]) -> f64 {
    let mut best: Vec<f64> = scores.iter().map(|score| number(*score)).collect();
    let count = (best.len() / 20).max(5).min(best.len());
    best.sort_by(|a, b| b.total_cmp(a));
    let mean = best[..count].iter().sum::<f64>() / count.max(1) as f64;
    if mean > 0.0 { ((2.2 - best[0] / mean) / 0.6).clamp(0.0, 1.0) } else { 0.0 }
}

impl Scorer for StretchScorer {
    fn score(&self, item: &ContextItem, all_items: &[ContextItem]) -> f64 {
        score_in_list(self, item, all_items)
    }

    fn score_all(&self, items: &ItemList<'_>, scores: &mut [f64]) {
        self.inner.score_all(items, scores);
        if let Some(added) = self.added(items, scores) {
            for (score, added) in scores.iter_mut().zip(added) {
                *score += added;
            }
        }
    }

    fn explain(&self, items: &ItemList<'_>, positions: &[usize]) -> Vec<ScoreExplanation> {
        let own = explain_child(&*self.inner, items, positions);
        let scores = scores_of(&*self.inner, items);
        let Some(added) = self.added(items, &scores) else { return own };
        let explain = |(position, own): (&usize, ScoreExplanation)| {
            let stretch = ScoreExplanation::new("the talk around it", added[*position]);
            ScoreExplanation::new("with its stretch of talk", own.score + stretch.score)
                .with_parts(vec![own, stretch])
        };
        positions.iter().zip(own).map(explain).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, build, item, scores};
    use cupel::ContextItemBuilder;

    /// Scores by the number in the text.
    struct Numbers;

    impl Scorer for Numbers {
        fn score(&self, item: &ContextItem, _: &[ContextItem]) -> f64 {
            item.content().parse().unwrap()
        }
    }

    /// Turns of 150 tokens, so that the reach is one place.
    fn turns(numbers: &[f64]) -> Vec<ContextItemBuilder> {
        numbers.iter().map(|number| ContextItemBuilder::new(number.to_string(), 150)).collect()
    }

    /// Sixty turns, 9,000 tokens: a long talk.
    fn long_talk() -> Vec<f64> {
        (0..60).map(|at| f64::from(at % 3)).collect()
    }

    fn stretched(items: &[ContextItem]) -> Vec<f64> {
        scores(&StretchScorer::new(Numbers, Grouping::tag("session")), items)
    }

    #[test]
    fn in_a_long_talk_the_surroundings_count_as_in_the_formula() {
        let numbers = long_talk();
        let weight = |distance: usize| (-(distance as f64)).exp();
        let expected = |at: usize| {
            let others = || (0..numbers.len()).filter(|other| *other != at);
            let sum: f64 = others().map(|other| weight(other.abs_diff(at)) * numbers[other]).sum();
            let total: f64 = others().map(|other| weight(other.abs_diff(at))).sum();
            numbers[at] + 3.0 * sum / total.max(1.0)
        };
        let expected: Vec<f64> = (0..numbers.len()).map(expected).collect();
        assert_close(&stretched(&build(turns(&numbers))), &expected);
    }

    #[test]
    fn nothing_changes_with_an_assistant_a_short_talk_or_a_turn_that_stands_out() {
        let numbers = long_talk();
        let mut with_user = turns(&numbers);
        with_user[7] = item("1").tags(vec!["role:user".into()]);
        let mut with_tool = turns(&numbers);
        with_tool[7] = item("1").kind(ContextKind::tool_output());
        let mut outstanding = numbers.clone();
        outstanding[30] = 100.0;
        for items in [with_user, with_tool, turns(&numbers[..13]), turns(&outstanding)] {
            let items = build(items);
            assert_eq!(stretched(&items), scores(&Numbers, &items));
        }
        assert_eq!(stretched(&[]), [0.0; 0]);
    }

    #[test]
    fn both_gates_open_by_degrees() {
        let fourth = |count: usize| {
            let items = build(turns(&long_talk()[..count]));
            stretched(&items)[3] - scores(&Numbers, &items)[3]
        };
        // 13 turns are 1,950 tokens, 26 are 3,900, 54 are 8,100.
        assert_eq!(fourth(13), 0.0);
        let (half, whole) = (fourth(26), fourth(54));
        assert!(0.0 < half && half < 0.6 * whole, "{half} {whole}");
        assert_eq!([question(&[1.6; 5]), question(&[]), question(&[0.0; 9])], [1.0, 0.0, 0.0]);
        // The best is 1.9 times the mean of the best five: half of the way.
        assert_close(&[question(&[1.9, 0.775, 0.775, 0.775, 0.775])], &[0.5]);
    }

    #[test]
    fn an_explanation_adds_up() {
        let items = build(turns(&long_talk()));
        let scorer = StretchScorer::new(Numbers, Grouping::tag("session"));
        let explanation = &scorer.explain(&ItemList::new(&items), &[4])[0];
        assert_close(&[explanation.score], &scores(&scorer, &items)[4..5]);
        assert_eq!(explanation.parts[1].what.to_string(), "the talk around it");
    }

    #[test]
    fn constants_out_of_range_are_refused() {
        let build = |weight, kernel| {
            StretchScorer::with_parameters(Numbers, Grouping::Whole, weight, kernel)
                .err()
                .map(|error| error.to_string())
        };
        assert_eq!(build(1.0, STRETCH_KERNEL), None);
        assert_eq!(
            build(-1.0, STRETCH_KERNEL).as_deref(),
            Some("weight: must be finite and not negative, got -1")
        );
        let nowhere = Kernel { reach_tokens: 0.0, ..STRETCH_KERNEL };
        assert_eq!(
            build(1.0, nowhere).as_deref(),
            Some("reach_tokens: must be positive and finite, got 0")
        );
    }
}
