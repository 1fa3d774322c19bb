use cupel::{ContextItem, CupelError, ItemList, ScoreExplanation, Scorer};

use super::{score_in_list, scores_of};
use crate::{Index, Query, parameter};

/// A factor for items that repeat the query: their words are all there, and bring nothing new.
///
/// The factor is `1 − strength · f`, with f the share of the item's distinct terms that stand in the
/// query.
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
/// let items = [item("order 77 shipped")?, item("order 77 paid yesterday")?];
/// let scorer = EchoScorer::new(Query::new("where is order 77? shipped"), Index::default(), 0.5)?;
/// assert_eq!(scorer.score(&items[0], &items), 0.5);
/// assert_eq!(scorer.score(&items[1], &items), 0.75);
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Debug, Clone)]
pub struct EchoScorer {
    query: Query,
    index: Index,
    strength: f64,
}

impl EchoScorer {
    /// With what an item loses that says nothing but the query.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if the strength is not within 0 and 1, or if query and index
    /// analyse texts differently.
    pub fn new(query: Query, index: Index, strength: f64) -> Result<Self, CupelError> {
        parameter::unit("strength", strength)?;
        index.require_same_analysis(&query)?;
        Ok(Self { query, index, strength })
    }
}

impl Scorer for EchoScorer {
    fn score(&self, item: &ContextItem, all_items: &[ContextItem]) -> f64 {
        score_in_list(self, item, all_items)
    }

    fn score_all(&self, items: &ItemList<'_>, scores: &mut [f64]) {
        self.index.list(items, |view| {
            let mut is_asked = vec![false; view.term_count()];
            for id in self.query.terms().filter_map(|(term, _)| view.find(term)) {
                is_asked[id as usize] = true;
            }
            for (position, score) in scores.iter_mut().enumerate() {
                let terms = view.terms(position);
                let asked = terms.iter().filter(|posting| is_asked[posting.term as usize]).count();
                *score = 1.0 - self.strength * asked as f64 / terms.len().max(1) as f64;
            }
        });
    }

    fn explain(&self, items: &ItemList<'_>, positions: &[usize]) -> Vec<ScoreExplanation> {
        let scores = scores_of(self, items);
        let explain = |at: &usize| ScoreExplanation::new("repeats the query", scores[*at]);
        positions.iter().map(explain).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, scores, texts};

    fn echo(query: &str, rows: &[&str]) -> Vec<f64> {
        let scorer = EchoScorer::new(Query::new(query), Index::default(), 0.5).unwrap();
        scores(&scorer, &texts(rows))
    }

    #[test]
    fn the_share_of_distinct_terms_in_the_query_counts() {
        let rows = ["amber amber birch cloud delta", "amber birch", "cloud"];
        assert_close(&echo("amber birch ember", &rows), &[0.75, 0.5, 1.0]);
    }

    #[test]
    fn items_without_terms_and_queries_without_terms_repeat_nothing() {
        assert_eq!(echo("deploy", &["the"]), [1.0]);
        assert_eq!(echo("", &["deploy"]), [1.0]);
    }

    #[test]
    fn a_strength_beyond_one_is_refused() {
        let error = EchoScorer::new(Query::new("x"), Index::default(), 1.5).unwrap_err();
        assert_eq!(error.to_string(), "strength: must be within 0 and 1, got 1.5");
    }
}
