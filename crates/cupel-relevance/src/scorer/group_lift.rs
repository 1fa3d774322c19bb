use cupel::{ContextItem, CupelError, ItemList, ScoreExplanation, Scorer};

use super::{score_in_list, scores_of};
use crate::{Grouping, parameter};

/// Lets a group's best hit lift all of its members.
///
/// **When to choose it:** pieces of larger things, such as functions of files: where one function
/// answers the question, the rest of its file is likelier to matter.
///
/// **Steps:** score with the inner scorer; add `share` times the best score of the item's group.
///
/// **Ties and edge cases:** an item without the tag of the grouping is a group of its own, and is
/// lifted by itself, as is a group of one. NaN is never the best.
///
/// **Cost:** that of the inner scorer, and a pass.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, Scorer};
/// use cupel_relevance::{Bm25Scorer, GroupLiftScorer, Grouping, Index, Query};
///
/// let function = |text: &str, path: &str| {
///     ContextItemBuilder::new(text, 20).tags(vec![format!("path:{path}")]).build()
/// };
/// let items = [
///     function("fn parse_header() {}", "http.rs")?,
///     function("fn trim() {}", "http.rs")?,
///     function("fn trim() {}", "text.rs")?,
/// ];
/// let words = Bm25Scorer::new(Query::new("parse a header"), Index::default())?;
/// let scorer = GroupLiftScorer::new(words, Grouping::tag("path"), 0.5)?;
/// assert!(scorer.score(&items[1], &items) > scorer.score(&items[2], &items));
/// # Ok::<(), cupel::CupelError>(())
/// ```
pub struct GroupLiftScorer {
    inner: Box<dyn Scorer>,
    grouping: Grouping,
    share: f64,
}

impl GroupLiftScorer {
    /// Lifts every member of a group by `share` times the group's best score.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if the share is negative or not finite.
    pub fn new(
        inner: impl Scorer + 'static,
        grouping: Grouping,
        share: f64,
    ) -> Result<Self, CupelError> {
        parameter::not_negative("share", share)?;
        Ok(Self { inner: Box::new(inner), grouping, share })
    }

    /// Lift of each item.
    fn lifts(&self, items: &[ContextItem], scores: &[f64]) -> Vec<f64> {
        let groups = self.grouping.numbers(items);
        let count = groups.iter().flatten().max().map_or(0, |most| *most as usize + 1);
        let mut best = vec![f64::NEG_INFINITY; count];
        for (group, score) in groups.iter().zip(scores) {
            if let Some(group) = group {
                // `f64::max` prefers a number to NaN.
                best[*group as usize] = best[*group as usize].max(*score);
            }
        }
        let lift = |(group, own): (&Option<u32>, &f64)| {
            self.share * group.map_or(*own, |group| best[group as usize])
        };
        groups.iter().zip(scores).map(lift).collect()
    }
}

impl Scorer for GroupLiftScorer {
    fn score(&self, item: &ContextItem, all_items: &[ContextItem]) -> f64 {
        score_in_list(self, item, all_items)
    }

    fn score_all(&self, items: &ItemList<'_>, scores: &mut [f64]) {
        self.inner.score_all(items, scores);
        let lifts = self.lifts(items, scores);
        for (score, lift) in scores.iter_mut().zip(lifts) {
            *score += lift;
        }
    }

    fn explain(&self, items: &ItemList<'_>, positions: &[usize]) -> Vec<ScoreExplanation> {
        let scores = scores_of(&*self.inner, items);
        let lifts = self.lifts(items, &scores);
        let mut own = self.inner.explain(items, positions).into_iter();
        let explain = |position: &usize| {
            let (score, lift) = (scores[*position], lifts[*position]);
            let own = own.next().unwrap_or_else(|| ScoreExplanation::new("itself", score));
            let lift = ScoreExplanation::new("the best of its group", lift);
            ScoreExplanation::new("with its group", score + lift.score).with_parts(vec![own, lift])
        };
        positions.iter().map(explain).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Given, build, item, scores};

    fn in_files(rows: &[(i64, &str)]) -> Vec<ContextItem> {
        build(rows.iter().map(|(score, path)| {
            let item = item("x").priority(*score);
            if path.is_empty() { item } else { item.tags(vec![format!("path:{path}")]) }
        }))
    }

    fn lift(rows: &[(i64, &str)]) -> Vec<f64> {
        let scorer = GroupLiftScorer::new(Given, Grouping::tag("path"), 0.5).unwrap();
        scores(&scorer, &in_files(rows))
    }

    #[test]
    fn members_are_lifted_by_the_best_of_their_group() {
        assert_eq!(lift(&[(4, "a"), (1, "a"), (1, "b"), (0, "b")]), [6.0, 3.0, 1.5, 0.5]);
    }

    #[test]
    fn groups_of_one_and_items_without_the_tag_are_lifted_by_themselves() {
        assert_eq!(lift(&[(4, "a"), (2, ""), (8, "")]), [6.0, 3.0, 12.0]);
        assert_eq!(lift(&[]), [0.0; 0]);
    }

    #[test]
    fn an_explanation_adds_up() {
        let items = in_files(&[(4, "a"), (1, "a")]);
        let scorer = GroupLiftScorer::new(Given, Grouping::tag("path"), 0.5).unwrap();
        let text = scorer.explain(&ItemList::new(&items), &[1])[0].to_string();
        assert_eq!(text, "with its group 3.0000\n  itself 1.0000\n  the best of its group 2.0000");
    }

    #[test]
    fn a_negative_share_is_refused() {
        let error = GroupLiftScorer::new(Given, Grouping::Whole, -1.0).err().unwrap();
        assert_eq!(error.to_string(), "share: must be finite and not negative, got -1");
    }
}
