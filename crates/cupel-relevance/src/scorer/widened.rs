use cupel::{ContextItem, CupelError, ItemList, ScoreExplanation, Scorer};

use super::bm25::{Bm25Parameters, Saturation, weighted_terms};
use super::kernel::{FittedKernel, Kernel};
use super::score_in_list;
use crate::{Grouping, Index, Query};

/// Scores an item by the words that it shares with the query, as if the text around it belonged to
/// it.
///
/// **When to choose it:** beside [`NeighbourScorer`](crate::NeighbourScorer), in a
/// [`SumScorer`](crate::SumScorer). The other adds up scores, so that one word said ten times nearby
/// counts ten times; here it counts as ten occurrences in one text, and different words of the query
/// count more than the same one again.
///
/// **Steps:** as [`Bm25Scorer`](crate::Bm25Scorer), but an item's occurrences of a term, and its
/// length, are its own and those around it within its group, weighted by the [`Kernel`].
///
/// **Ties and edge cases:** weights of terms are those of the texts as they are. What is so far away
/// that it counts next to nothing counts nothing.
///
/// **Cost:** two passes over the list for each term of the query.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, Scorer};
/// use cupel_relevance::{Grouping, Index, Query, WidenedScorer};
///
/// let said = |text: &str| ContextItemBuilder::new(text, 60).build();
/// let items = [said("Which key?")?, said("The old one.")?, said("For the deploy?")?, said("Yes.")?];
/// let scorer = WidenedScorer::new(Query::new("deploy key"), Index::default(), Grouping::Whole)?;
/// assert!(scorer.score(&items[1], &items) > scorer.score(&items[3], &items), "between both words");
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Debug, Clone)]
pub struct WidenedScorer {
    query: Query,
    index: Index,
    grouping: Grouping,
    parameters: Bm25Parameters,
    kernel: Kernel,
}

impl WidenedScorer {
    /// With the usual constants.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if query and index analyse texts differently.
    pub fn new(query: Query, index: Index, grouping: Grouping) -> Result<Self, CupelError> {
        let (parameters, kernel) = (Bm25Parameters::default(), Kernel::default());
        Self::with_parameters(query, index, grouping, parameters, kernel)
    }

    /// With constants of your own.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new), and if a constant is out of its range; it names which.
    pub fn with_parameters(
        query: Query,
        index: Index,
        grouping: Grouping,
        parameters: Bm25Parameters,
        kernel: Kernel,
    ) -> Result<Self, CupelError> {
        parameters.check()?;
        kernel.check()?;
        index.require_same_analysis(&query)?;
        Ok(Self { query, index, grouping, parameters, kernel })
    }

    /// Calls `earned` for each term of the query with what it earned every item of the list.
    fn for_each_term(&self, items: &[ContextItem], mut earned: impl FnMut(&str, &[f64])) {
        let kernel = self.kernel.fit(items, &self.grouping);
        self.index.list(items, |view| {
            let lengths = with_surroundings(&kernel, (0..view.len()).map(|at| view.length(at)));
            let total: f64 = lengths.iter().sum();
            let mean = if total > 0.0 { total / lengths.len() as f64 } else { 1.0 };
            let saturation = Saturation::with_mean(&self.parameters, mean);
            let mut own = vec![0.0; view.len()];
            for term in weighted_terms(&self.query, view, &self.parameters) {
                view.sum_up(&mut own, |own| term.add_counts(view, own));
                let mut parts = with_surroundings(&kernel, own.iter().copied());
                for (part, length) in parts.iter_mut().zip(&lengths) {
                    if *part > 0.0 {
                        *part = saturation.score(term.weight, *part, *length);
                    }
                }
                earned(term.text, &parts);
            }
        });
    }
}

/// Values, each with those around it.
fn with_surroundings(kernel: &FittedKernel, own: impl Iterator<Item = f64>) -> Vec<f64> {
    let own: Vec<f64> = own.collect();
    let mut sums = own.clone();
    kernel.add_around(&own, 1.0, &mut sums);
    sums
}

impl Scorer for WidenedScorer {
    fn score(&self, item: &ContextItem, all_items: &[ContextItem]) -> f64 {
        score_in_list(self, item, all_items)
    }

    fn score_all(&self, items: &ItemList<'_>, scores: &mut [f64]) {
        scores.fill(0.0);
        self.for_each_term(items, |_, earned| {
            for (score, part) in scores.iter_mut().zip(earned) {
                *score += part;
            }
        });
    }

    fn explain(&self, items: &ItemList<'_>, positions: &[usize]) -> Vec<ScoreExplanation> {
        let mut explanations: Vec<ScoreExplanation> =
            positions.iter().map(|_| ScoreExplanation::new("words here and around", 0.0)).collect();
        self.for_each_term(items, |term, earned| {
            for (explanation, position) in explanations.iter_mut().zip(positions) {
                let score = earned[*position];
                explanation.score += score;
                if score > 0.0 {
                    let word = ScoreExplanation::new(format!("around `{term}`"), score);
                    explanation.parts.push(word);
                }
            }
        });
        for explanation in &mut explanations {
            explanation.parts.sort_by(|a, b| cupel::compare_scores(a.score, b.score));
        }
        explanations
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Random, assert_close, build, item, scores};
    use crate::{Bm25Parameters, Bm25Scorer};

    fn widened(query: &str, kernel: Kernel) -> WidenedScorer {
        let parameters = Bm25Parameters::default();
        let query = Query::new(query);
        let grouping = Grouping::tag("s");
        WidenedScorer::with_parameters(query, Index::default(), grouping, parameters, kernel)
            .unwrap()
    }

    /// Texts of 10 tokens, each in a group.
    fn said(rows: &[(&str, &str)]) -> Vec<ContextItem> {
        build(rows.iter().map(|(group, text)| item(text).tags(vec![format!("s:{group}")])))
    }

    const KERNEL: Kernel = Kernel { reach_tokens: 20.0, group_exponent: 0.0, later: 0.5 };

    #[test]
    fn items_alone_in_their_groups_score_as_by_their_own_words() {
        let items = said(&[("1", "deploy key"), ("2", "deploy lunch noon"), ("3", "deploy")]);
        let words = Bm25Scorer::new(Query::new("deploy key"), Index::default()).unwrap();
        assert_close(&scores(&widened("deploy key", KERNEL), &items), &scores(&words, &items));
    }

    /// The formula with a sum over all pairs.
    fn oracle(query: &[&str], rows: &[(&str, Vec<&str>)]) -> Vec<f64> {
        let weight = |i: usize, j: usize| {
            let between = rows[i.min(j)..i.max(j)].iter().filter(|row| row.0 == rows[i].0).count();
            let fading = (-(between as f64) / 2.0).exp() * if j > i { 0.5 } else { 1.0 };
            if rows[i].0 == rows[j].0 { fading } else { 0.0 }
        };
        let widen = |i: usize, value: &dyn Fn(usize) -> f64| -> f64 {
            (0..rows.len()).map(|j| weight(i, j) * value(j)).sum()
        };
        let lengths: Vec<f64> =
            (0..rows.len()).map(|i| widen(i, &|j| rows[j].1.len() as f64)).collect();
        let mean = lengths.iter().sum::<f64>() / rows.len() as f64;
        let score = |i: usize, word: &str| {
            let having = rows.iter().filter(|row| row.1.contains(&word)).count() as f64;
            let idf = (1.0 + (rows.len() as f64 - having + 0.5) / (having + 0.5)).ln();
            let count = widen(i, &|j| rows[j].1.iter().filter(|w| **w == word).count() as f64);
            let norm = 1.5 * (0.25 + 0.75 * lengths[i] / mean);
            idf.powf(1.2) * count * 2.5 / (count + norm)
        };
        let total = |i: usize| query.iter().map(|word| score(i, word)).sum();
        (0..rows.len()).map(total).collect()
    }

    #[test]
    fn random_lists_agree_with_the_oracle() {
        let vocabulary = ["amber", "birch", "cloud", "delta", "ember"];
        let mut random = Random(13);
        for _ in 0..100 {
            let count = 1 + random.below(12);
            let rows: Vec<(&str, Vec<&str>)> = (0..count)
                .map(|_| {
                    let group = ["1", "2"][random.below(2)];
                    let words = 1 + random.below(5);
                    (group, (0..words).map(|_| vocabulary[random.below(5)]).collect())
                })
                .collect();
            let lines: Vec<String> = rows.iter().map(|row| row.1.join(" ")).collect();
            let pairs: Vec<(&str, &str)> =
                rows.iter().zip(&lines).map(|(row, line)| (row.0, line.as_str())).collect();
            let actual = scores(&widened("amber cloud", KERNEL), &said(&pairs));
            assert_close(&actual, &oracle(&["amber", "cloud"], &rows));
        }
    }

    #[test]
    fn an_explanation_adds_up() {
        let items = said(&[("1", "deploy key"), ("1", "lunch"), ("1", "deploy")]);
        let scorer = widened("deploy key", KERNEL);
        let total = scores(&scorer, &items)[1];
        let explanation = &scorer.explain(&ItemList::new(&items), &[1])[0];
        assert_close(&[explanation.score], &[total]);
        let words: Vec<String> =
            explanation.parts.iter().map(|part| part.what.to_string()).collect();
        assert_eq!(words, ["around `key`", "around `deploy`"]);
    }

    #[test]
    fn an_empty_list_and_an_empty_query_score_nothing() {
        assert_eq!(scores(&widened("deploy", KERNEL), &[]), [0.0; 0]);
        assert_eq!(scores(&widened("", KERNEL), &said(&[("1", "deploy")])), [0.0]);
    }
}
