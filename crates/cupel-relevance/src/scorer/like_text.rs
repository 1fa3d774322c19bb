use cupel::{ContextItem, CupelError, ItemList, ScoreExplanation, Scorer};

use super::score_in_list;
use super::vectors::Sharpening;
use crate::{Index, Query};

/// Scores an item by how alike its words and those of the query are as a whole, by the table of `cupel-words`.
///
/// **When to choose it:** beside words, for questions that name a thing otherwise than the answer does. A
/// [`VectorScorer`](crate::VectorScorer) with vectors of a model is better.
///
/// **Steps:** the vectors of an item's words, each times its rarity and its occurrences, add up to S, those of the query to q, words
/// that only ask counting 0.3. The score is `max(0, S · q / (|q| · (|S| + m / 4)) − floor)^exponent`, with m the median of |S|.
///
/// **Ties and edge cases:** texts in other languages than English, and words that the table does not have, score 0.
///
/// **Cost:** the sums of all items, once for each list; then a look at each word of the list and at each item's words.
#[derive(Debug, Clone)]
pub struct LikeTextScorer {
    query: Query,
    index: Index,
    sharpening: Sharpening,
}

/// Weight of words that only ask.
const ASKING_WEIGHT: f64 = 0.3;

impl LikeTextScorer {
    /// With a floor and an exponent, as [`VectorScorer::sharpened`](crate::VectorScorer::sharpened) has them.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if query and index analyse texts differently, or a constant is out of its range.
    pub fn new(query: Query, index: Index, floor: f64, exponent: f64) -> Result<Self, CupelError> {
        index.require_same_analysis(&query)?;
        Ok(Self { query, index, sharpening: Sharpening::new(floor, exponent)? })
    }

    /// The part that likeness should play for this query and list, from 0 to 1: short questions about English texts need it most.
    pub fn share(&self, items: &[ContextItem]) -> f64 {
        self.index.list(items, |view| view.like_share(&self.query))
    }
}

impl Scorer for LikeTextScorer {
    fn score(&self, item: &ContextItem, all_items: &[ContextItem]) -> f64 {
        score_in_list(self, item, all_items)
    }

    fn score_all(&self, items: &ItemList<'_>, scores: &mut [f64]) {
        scores.fill(0.0);
        if self.query.analysis().stemming() == Some(crate::Language::English) {
            self.index.list(items, |view| view.like_texts(&self.query, ASKING_WEIGHT, scores));
            for score in scores {
                *score = self.sharpening.apply(*score);
            }
        }
    }

    fn explain(&self, items: &ItemList<'_>, positions: &[usize]) -> Vec<ScoreExplanation> {
        let mut scores = vec![0.0; items.len()];
        self.score_all(items, &mut scores);
        let explain = |at: &usize| ScoreExplanation::new("alike as a whole", scores[*at]);
        positions.iter().map(explain).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, scores, texts};
    use crate::{Analysis, Language};

    const TALK: [&str; 4] = [
        "We went hiking in the mountains.",
        "The tax form is due on Monday.",
        "My physician was kind.",
        "Ok.",
    ];

    fn likeness(query: &str, index: Index) -> LikeTextScorer {
        LikeTextScorer::new(Query::new(query), index, 0.1, 2.0).unwrap()
    }

    fn best(query: &str) -> usize {
        let scores = scores(&likeness(query, Index::default()), &texts(&TALK));
        (0..4).max_by(|a, b| scores[*a].total_cmp(&scores[*b])).unwrap()
    }

    #[test]
    fn what_means_the_same_in_other_words_is_found() {
        assert_eq!([best("Who walked up a hill?"), best("What did the doctor say?")], [0, 2]);
    }

    #[test]
    fn other_languages_and_unknown_words_score_nothing() {
        let items = texts(&TALK);
        assert_eq!(scores(&likeness("zzyzx", Index::default()), &items), [0.0; 4]);
        let german = Analysis::of(Language::German);
        let query = Query::with_analysis("hiking", german.clone());
        let scorer = LikeTextScorer::new(query, Index::new(german), 0.1, 2.0).unwrap();
        assert_eq!(scores(&scorer, &items), [0.0; 4]);
        assert_eq!(scorer.share(&items), 0.0);
        assert_eq!(scores(&likeness("hiking", Index::default()), &[]), [0.0; 0]);
    }

    #[test]
    fn short_questions_use_it_and_long_ones_do_not() {
        let items = texts(&["one two three four five six seven eight nine ten"]);
        let share = |query: &str| likeness(query, Index::default()).share(&items);
        assert_eq!(share("where is the number two?"), 1.0);
        assert_close(&[share("two three four five six seven")], &[0.5]);
        assert_eq!(share("one two three four five six seven eight nine ten"), 0.0);
    }

    #[test]
    fn an_index_that_holds_more_changes_no_bit() {
        let items = texts(&TALK);
        let bits = |index: Index, list: &[ContextItem]| -> Vec<u64> {
            let scores = scores(&likeness("Who walked up a hill?", index), list);
            scores.into_iter().map(f64::to_bits).collect()
        };
        let index = Index::default();
        index.extend(&texts(&["walking is healthy", "a hill of beans"]));
        index.extend(&items);
        for list in [&items[..], &items[1..], &items[..3], &items[..]] {
            assert_eq!(bits(index.clone(), list), bits(Index::default(), list));
        }
    }

    #[test]
    fn the_sample_has_these_bits() {
        let items = texts(&TALK);
        let scores = scores(&likeness("Who walked up a hill?", Index::default()), &items);
        let bits: Vec<u64> = scores.into_iter().map(f64::to_bits).collect();
        assert_eq!(bits, [4_593_279_085_573_559_233, 0, 0, 0]);
    }
}
