use cupel::{ContextItem, CupelError, ScoreExplanation, Scorer};

use super::{score_in_list, scores_of};
use crate::{Index, Query, parameter};

/// A factor for items that merely repeat the query: their words are all there, and bring nothing new.
///
/// The factor applies to items of at least `min_tokens` tokens of whose distinct terms more than
/// `threshold` stand in the query. It is 1 for all others.
///
/// **When to choose it:** as a factor in a [`ProductScorer`](crate::ProductScorer) where the query
/// includes what the candidates include too, such as the last tool result.
///
/// **Ties and edge cases:** an item without terms repeats nothing.
///
/// **Cost:** a pass over the terms of all items.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, Scorer};
/// use cupel_relevance::{EchoScorer, Index, Query};
///
/// let item = |text: &str| ContextItemBuilder::new(text, 50).build();
/// let items = [item("order 77 shipped")?, item("order 77 was paid by card on Monday")?];
/// let scorer = EchoScorer::new(Query::new("where is order 77? shipped"), Index::default(), 0.5)?;
/// assert_eq!(scorer.score(&items[0], &items), 0.5);
/// assert_eq!(scorer.score(&items[1], &items), 1.0);
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Debug, Clone)]
pub struct EchoScorer {
    query: Query,
    index: Index,
    factor: f64,
    threshold: f64,
    min_tokens: i64,
}

impl EchoScorer {
    /// A factor for items of 40 tokens or more of whose terms over 70 % stand in the query.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if the factor is negative or not finite, or if query and index
    /// analyse texts differently.
    pub fn new(query: Query, index: Index, factor: f64) -> Result<Self, CupelError> {
        parameter::not_negative("factor", factor)?;
        index.require_same_analysis(&query)?;
        Ok(Self { query, index, factor, threshold: 0.7, min_tokens: 40 })
    }

    /// With another share of terms, and another length from which on items count.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if the share is not within 0 and 1.
    pub fn with_threshold(mut self, threshold: f64, min_tokens: i64) -> Result<Self, CupelError> {
        parameter::unit("threshold", threshold)?;
        self.threshold = threshold;
        self.min_tokens = min_tokens;
        Ok(self)
    }
}

impl Scorer for EchoScorer {
    fn score(&self, item: &ContextItem, all_items: &[ContextItem]) -> f64 {
        score_in_list(self, item, all_items)
    }

    fn score_all(&self, items: &[ContextItem], scores: &mut [f64]) {
        self.index.list(items, |view| {
            let mut is_asked = vec![false; view.term_count()];
            for id in self.query.terms().filter_map(|(term, _)| view.find(term)) {
                is_asked[id as usize] = true;
            }
            for (position, score) in scores.iter_mut().enumerate() {
                let terms = view.terms(position);
                let asked = terms.iter().filter(|posting| is_asked[posting.term as usize]).count();
                let repeats = asked as f64 > self.threshold * terms.len() as f64;
                let is_long = items[position].tokens() >= self.min_tokens;
                *score = if repeats && is_long { self.factor } else { 1.0 };
            }
        });
    }

    fn explain(&self, items: &[ContextItem], positions: &[usize]) -> Vec<ScoreExplanation> {
        let scores = scores_of(self, items);
        let explain = |at: &usize| ScoreExplanation::new("repeats the query", scores[*at]);
        positions.iter().map(explain).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{build, scores};
    use cupel::ContextItemBuilder;

    fn echo(query: &str, rows: &[(&str, i64)]) -> Vec<f64> {
        let items =
            build(rows.iter().map(|(text, tokens)| ContextItemBuilder::new(*text, *tokens)));
        scores(&EchoScorer::new(Query::new(query), Index::default(), 0.5).unwrap(), &items)
    }

    #[test]
    fn more_than_the_threshold_is_needed_and_distinct_terms_count() {
        // Seven of ten terms are exactly 70 %, seven of nine are more.
        let ten = "q1 q2 q3 q4 q5 q6 q7 n1 n2 n3 n3 n3";
        let nine = "q1 q1 q2 q3 q4 q5 q6 q7 n1 n2";
        assert_eq!(echo("q1 q2 q3 q4 q5 q6 q7", &[(ten, 40), (nine, 40)]), [1.0, 0.5]);
    }

    #[test]
    fn short_items_and_items_without_terms_repeat_nothing() {
        assert_eq!(echo("deploy", &[("deploy", 39), ("the", 90), ("deploy", 40)]), [1.0, 1.0, 0.5]);
        assert_eq!(echo("", &[("deploy", 90)]), [1.0]);
    }

    #[test]
    fn a_threshold_beyond_one_is_refused() {
        let scorer = EchoScorer::new(Query::new("x"), Index::default(), 0.5).unwrap();
        let error = scorer.with_threshold(1.5, 40).unwrap_err();
        assert_eq!(error.to_string(), "threshold: must be within 0 and 1, got 1.5");
    }
}
