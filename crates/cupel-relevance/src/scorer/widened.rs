use cupel::{ContextItem, CupelError, Scorer};

use super::bm25::{Bm25Parameters, Saturation, weighted_terms};
use super::kernel::{FittedKernel, Kernel};
use super::score_in_list;
use crate::index::ListView;
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

    fn sum_up(&self, view: &ListView<'_>, kernel: &FittedKernel, scores: &mut [f64]) {
        let own_lengths: Vec<f64> = (0..view.len()).map(|at| view.length(at)).collect();
        let mut lengths = own_lengths.clone();
        kernel.add_around(&own_lengths, 1.0, &mut lengths);
        let total: f64 = lengths.iter().sum();
        let mean = if total > 0.0 { total / lengths.len() as f64 } else { 1.0 };
        let saturation = Saturation::with_mean(&self.parameters, mean);
        let (mut own, mut counts) = (vec![0.0; view.len()], vec![0.0; view.len()]);
        for term in weighted_terms(&self.query, view, &self.parameters) {
            view.sum_up(&mut own, |own| {
                view.for_each_hit(term.id, |item, count, _| own[item] = count);
            });
            counts.copy_from_slice(&own);
            kernel.add_around(&own, 1.0, &mut counts);
            for ((score, count), length) in scores.iter_mut().zip(&counts).zip(&lengths) {
                if *count > 0.0 {
                    *score += saturation.score(term.weight, *count, *length);
                }
            }
        }
    }
}

impl Scorer for WidenedScorer {
    fn score(&self, item: &ContextItem, all_items: &[ContextItem]) -> f64 {
        score_in_list(self, item, all_items)
    }

    fn score_all(&self, items: &[ContextItem], scores: &mut [f64]) {
        scores.fill(0.0);
        let kernel = self.kernel.fit(items, &self.grouping);
        self.index.list(items, |view| self.sum_up(view, &kernel, scores));
    }
}
