use cupel::{ContextItem, CupelError, ScoreExplanation, Scorer};

use super::{score_in_list, scores_of};
use crate::grouping::in_time;
use crate::parameter;

/// A factor that is largest for the newest item and falls towards 1 with what came after.
///
/// The factor is `1 + gain · exp(−newer / reach)`, where `newer` is the tokens of all items that
/// came after this one.
///
/// **When to choose it:** as a factor in a [`ProductScorer`](crate::ProductScorer) for agents at
/// work, whose last steps matter most.
///
/// **Ties and edge cases:** items are in the order of their times if all have one, else as listed.
///
/// **Cost:** a pass.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, Scorer};
/// use cupel_relevance::FreshnessScorer;
///
/// let item = |text: &str| ContextItemBuilder::new(text, 100).build();
/// let items = [item("older")?, item("newest")?];
/// let scorer = FreshnessScorer::new(3.0, 100.0)?;
/// assert_eq!(scorer.score(&items[1], &items), 4.0);
/// assert_eq!(scorer.score(&items[0], &items), 1.0 + 3.0 * (-1.0_f64).exp());
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FreshnessScorer {
    gain: f64,
    reach_tokens: f64,
}

impl FreshnessScorer {
    /// What the newest item gains, and over how many tokens the gain falls to a third.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if the gain is negative or the reach not positive, or either is
    /// not finite; it names which.
    pub fn new(gain: f64, reach_tokens: f64) -> Result<Self, CupelError> {
        parameter::not_negative("gain", gain)?;
        parameter::positive("reach_tokens", reach_tokens)?;
        Ok(Self { gain, reach_tokens })
    }
}

impl Scorer for FreshnessScorer {
    fn score(&self, item: &ContextItem, all_items: &[ContextItem]) -> f64 {
        score_in_list(self, item, all_items)
    }

    fn score_all(&self, items: &[ContextItem], scores: &mut [f64]) {
        let mut newer = 0.0;
        for position in in_time(items).into_iter().rev() {
            let position = position as usize;
            scores[position] = 1.0 + self.gain * (-newer / self.reach_tokens).exp();
            newer += items[position].tokens().max(0) as f64;
        }
    }

    fn explain(&self, items: &[ContextItem], positions: &[usize]) -> Vec<ScoreExplanation> {
        let scores = scores_of(self, items);
        let explain = |at: &usize| ScoreExplanation::new("freshness", scores[*at]);
        positions.iter().map(explain).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, at_minute, build, item, scores};

    #[test]
    fn the_newest_gains_most_and_tokens_after_an_item_count() {
        let items = build([3, 1, 2].map(|minute| item("x").timestamp(at_minute(minute))));
        let scorer = FreshnessScorer::new(2.0, 10.0).unwrap();
        let expected = [3.0, 1.0 + 2.0 * (-2.0_f64).exp(), 1.0 + 2.0 * (-1.0_f64).exp()];
        assert_close(&scores(&scorer, &items), &expected);
        assert_eq!(scores(&scorer, &[]), [0.0; 0]);
    }

    #[test]
    fn constants_out_of_range_are_refused() {
        let text = |gain, reach| FreshnessScorer::new(gain, reach).unwrap_err().to_string();
        assert_eq!(text(-1.0, 1.0), "gain: must be finite and not negative, got -1");
        assert_eq!(text(1.0, 0.0), "reach_tokens: must be positive and finite, got 0");
    }
}
