use cupel::{ContextItem, CupelError, ScoreExplanation, Scorer, compare_scores};

use super::combine::check_entries;
use super::{score_in_list, scores_of};
use crate::parameter;

/// Combines scorers by the ranks that they give: reciprocal rank fusion.
///
/// **When to choose it:** scorers whose numbers cannot be compared, such as words and vectors. What
/// several of them place high comes first.
///
/// **Steps:** an item that a scorer ranks r-th, counted from 1, earns `weight / (k + r)`; the score is
/// the sum over the scorers.
///
/// **Ties and edge cases:** equal scores share the best of their ranks, so that a scorer that tells
/// nothing apart changes nothing. NaN earns nothing. The larger k, the less the first places stand
/// out; 60 is usual.
///
/// **Cost:** that of its children, and a sort each.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, PriorityScorer, ReflexiveScorer, Scorer};
/// use cupel_relevance::FusionScorer;
///
/// let item = |priority, hint| {
///     ContextItemBuilder::new("x", 1).priority(priority).future_relevance_hint(hint).build()
/// };
/// let items = [item(1, 0.9)?, item(3, 0.1)?, item(2, 0.5)?];
/// let scorer = FusionScorer::new(vec![
///     (Box::new(PriorityScorer), 1.0),
///     (Box::new(ReflexiveScorer), 1.0),
/// ])?;
/// assert_eq!(scorer.score(&items[2], &items), 1.0 / 62.0 + 1.0 / 62.0);
/// # Ok::<(), cupel::CupelError>(())
/// ```
pub struct FusionScorer {
    entries: Vec<(Box<dyn Scorer>, f64)>,
    k: f64,
}

const USUAL_K: f64 = 60.0;

impl FusionScorer {
    /// With the usual constant.
    ///
    /// # Errors
    ///
    /// As [`with_k`](Self::with_k).
    pub fn new(entries: Vec<(Box<dyn Scorer>, f64)>) -> Result<Self, CupelError> {
        Self::with_k(entries, USUAL_K)
    }

    /// With a constant of your own.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if there is no scorer, a weight is negative or not finite (it
    /// names the position), or the constant is.
    pub fn with_k(entries: Vec<(Box<dyn Scorer>, f64)>, k: f64) -> Result<Self, CupelError> {
        check_entries(&entries)?;
        parameter::not_negative("k", k)?;
        Ok(Self { entries, k })
    }

    fn earned(&self, rank: Option<u32>, weight: f64) -> f64 {
        rank.map_or(0.0, |rank| weight / (self.k + f64::from(rank)))
    }
}

/// For each score its rank, counted from 1; equal scores share the best of theirs, NaN has none.
fn ranks(scores: &[f64]) -> Vec<Option<u32>> {
    let mut order: Vec<u32> = (0..scores.len() as u32).collect();
    order.sort_by(|a, b| compare_scores(scores[*a as usize], scores[*b as usize]));
    let mut ranks = vec![None; scores.len()];
    let mut current: Option<(f64, u32)> = None;
    for (place, at) in (1_u32..).zip(order) {
        let score = scores[at as usize];
        let rank = match current {
            Some((same, rank)) if same == score => rank,
            _ => place,
        };
        current = Some((score, rank));
        ranks[at as usize] = (!score.is_nan()).then_some(rank);
    }
    ranks
}

impl Scorer for FusionScorer {
    fn score(&self, item: &ContextItem, all_items: &[ContextItem]) -> f64 {
        score_in_list(self, item, all_items)
    }

    fn score_all(&self, items: &[ContextItem], scores: &mut [f64]) {
        scores.fill(0.0);
        for (scorer, weight) in &self.entries {
            for (score, rank) in scores.iter_mut().zip(ranks(&scores_of(&**scorer, items))) {
                *score += self.earned(rank, *weight);
            }
        }
    }

    fn explain(&self, items: &[ContextItem], positions: &[usize]) -> Vec<ScoreExplanation> {
        let mut fused: Vec<ScoreExplanation> =
            positions.iter().map(|_| ScoreExplanation::new("ranks", 0.0)).collect();
        for (scorer, weight) in &self.entries {
            let ranks = ranks(&scores_of(&**scorer, items));
            let mut why = scorer.explain(items, positions).into_iter();
            for (fused, position) in fused.iter_mut().zip(positions) {
                let rank = ranks[*position];
                let text = rank.map_or("no rank".into(), |rank| format!("rank {rank}"));
                let earned = self.earned(rank, *weight);
                let parts = why.next().into_iter().collect();
                fused.score += earned;
                fused.parts.push(ScoreExplanation::new(text, earned).with_parts(parts));
            }
        }
        fused
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Given, assert_close, given, scores};

    /// The opposite of [`Given`].
    struct Opposite;

    impl Scorer for Opposite {
        fn score(&self, item: &ContextItem, items: &[ContextItem]) -> f64 {
            -Given.score(item, items)
        }
    }

    #[test]
    fn ranks_count_from_one_and_equals_share_the_best() {
        let expected = [Some(3), Some(1), Some(3), None, Some(1), Some(5)];
        assert_eq!(ranks(&[0.5, 2.0, 0.5, f64::NAN, 2.0, -1.0]), expected);
        assert_eq!(ranks(&[0.0, -0.0]), [Some(1), Some(1)]);
    }

    #[test]
    fn an_item_earns_by_its_rank_in_each_scorer() {
        let entries: Vec<(Box<dyn Scorer>, f64)> =
            vec![(Box::new(Given), 1.0), (Box::new(Opposite), 2.0)];
        let fusion = FusionScorer::with_k(entries, 1.0).unwrap();
        let expected = [1.0 / 4.0 + 2.0 / 2.0, 1.0 / 2.0 + 2.0 / 4.0, 1.0 / 3.0 + 2.0 / 3.0];
        let items = given(&[1, 3, 2]);
        assert_close(&scores(&fusion, &items), &expected);
        let why = fusion.explain(&items, &[1]);
        assert_eq!(why[0].to_string(), "ranks 1.0000\n  rank 1 0.5000\n  rank 3 0.5000");
    }

    #[test]
    fn bad_constants_are_refused() {
        let text = |entries, k| FusionScorer::with_k(entries, k).err().unwrap().to_string();
        assert_eq!(text(vec![], 60.0), "scorers: at least one scorer is required");
        let one = || -> Vec<(Box<dyn Scorer>, f64)> { vec![(Box::new(Given), 1.0)] };
        assert_eq!(text(one(), -1.0), "k: must be finite and not negative, got -1");
    }
}
