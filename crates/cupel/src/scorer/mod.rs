//! Scorers say how relevant each item is. The Score stage calls them.
//!
//! | scorer | reads | range | score |
//! |---|---|---|---|
//! | [`RecencyScorer`] | timestamp | 0 to 1 | rank by age: newest 1, oldest 0 |
//! | [`PriorityScorer`] | priority | 0 to 1 | rank by priority: highest 1, lowest 0 |
//! | [`KindScorer`] | kind | 0 to largest weight | weight of the kind |
//! | [`TagScorer`] | tags | 0 to 1 | share of the configured tag weight that the item has |
//! | [`FrequencyScorer`] | tags | 0 to 1 | share of the other items that have a tag in common |
//! | [`ReflexiveScorer`] | future relevance hint | 0 to 1 | the hint itself |
//! | [`MetadataTrustScorer`] | `metadata["cupel:trust"]` | 0 to 1 | the trust itself |
//! | [`MetadataKeyScorer`] | one metadata key | 1 or the boost | the boost, where key and value match |
//! | [`DecayScorer`] | timestamp and a clock | 0 to 1 | decays with age: exponential, steps or window |
//! | [`CompositeScorer`] | what its children read | that of its children | weighted average |
//! | [`ScaledScorer`] | what its inner scorer reads | 0 to 1 | stretched so that worst is 0, best 1 |
//!
//! Recency, priority and frequency are relative: an item's score depends on the other items.
//! The rest look at one item at a time.

mod composite;
mod decay;
mod explanation;
mod frequency;
mod kind;
mod metadata_key;
mod metadata_trust;
mod priority;
mod rank;
mod recency;
mod reflexive;
mod scaled;
mod tag;
mod weight;

use std::sync::Arc;

use crate::{ContextItem, ItemList};

pub use crate::clock::{FixedClock, SystemTimeProvider, TimeProvider};
pub use composite::CompositeScorer;
pub use decay::{DecayCurve, DecayScorer};
pub use explanation::{ScoreExplanation, ScorePart};
pub use frequency::FrequencyScorer;
pub use kind::KindScorer;
pub use metadata_key::MetadataKeyScorer;
pub use metadata_trust::MetadataTrustScorer;
pub use priority::PriorityScorer;
pub use recency::RecencyScorer;
pub use reflexive::ReflexiveScorer;
pub use scaled::ScaledScorer;
pub use tag::{TagComparison, TagScorer};

/// Gives each item a score; higher is more relevant.
///
/// # Contract
///
/// A scorer is a pure function: same item, same list, same score, without side effects. Scores
/// are conventionally within 0.0 and 1.0. NaN is allowed and sorts last.
///
/// # Your own scorer
///
/// One method is enough. Override [`score_all`](Self::score_all) as well if a score depends on
/// the other items, so that a list of N items does not cost N² steps.
///
/// ```
/// use cupel::{ContextItem, Scorer};
///
/// /// Prefers short items.
/// struct Brevity;
///
/// impl Scorer for Brevity {
///     fn score(&self, item: &ContextItem, _all_items: &[ContextItem]) -> f64 {
///         1.0 / (1.0 + item.tokens() as f64)
///     }
/// }
/// ```
pub trait Scorer: Send + Sync {
    /// The score of `item`, which is one of `all_items`.
    fn score(&self, item: &ContextItem, all_items: &[ContextItem]) -> f64;

    /// Scores the whole list at once: `scores[i]` becomes the score of `items[i]`.
    ///
    /// Both slices have the same length, and every score must be written. The result must equal
    /// that of [`score`](Self::score), to the last bit, but where the run is
    /// [told](ItemList::context) something that `score` is not.
    fn score_all(&self, items: &ItemList<'_>, scores: &mut [f64]) {
        for (item, score) in items.iter().zip(scores) {
            *score = self.score(item, items);
        }
    }

    /// Why the items at these positions have their scores: one explanation for each, or none at
    /// all if the number says everything. Only asked for what is shown to people.
    ///
    /// All positions are within the list.
    fn explain(&self, items: &ItemList<'_>, positions: &[usize]) -> Vec<ScoreExplanation> {
        let _ = (items, positions);
        Vec::new()
    }

    /// [`score_all`](Self::score_all) and [`explain`](Self::explain) in one go, with the same
    /// results.
    ///
    /// Override it where an explanation needs the scores of the whole list, above all in a scorer
    /// around other scorers: asked one by one, each level would score all levels below it again.
    /// `explain` then calls this method, and explaining costs one scoring, however deep.
    fn score_and_explain(
        &self,
        items: &ItemList<'_>,
        positions: &[usize],
        scores: &mut [f64],
    ) -> Vec<ScoreExplanation> {
        self.score_all(items, scores);
        self.explain(items, positions)
    }
}

macro_rules! forward_scorer {
    ($($pointer:ident),*) => {$(
        impl<T: Scorer + ?Sized> Scorer for $pointer<T> {
            fn score(&self, item: &ContextItem, all_items: &[ContextItem]) -> f64 {
                (**self).score(item, all_items)
            }

            fn score_all(&self, items: &ItemList<'_>, scores: &mut [f64]) {
                (**self).score_all(items, scores);
            }

            fn explain(&self, items: &ItemList<'_>, positions: &[usize]) -> Vec<ScoreExplanation> {
                (**self).explain(items, positions)
            }

            fn score_and_explain(
                &self,
                items: &ItemList<'_>,
                positions: &[usize],
                scores: &mut [f64],
            ) -> Vec<ScoreExplanation> {
                (**self).score_and_explain(items, positions, scores)
            }
        }
    )*};
}

forward_scorer!(Box, Arc);

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use crate::ContextItemBuilder;

    pub(crate) fn item(content: &str) -> ContextItemBuilder {
        ContextItemBuilder::new(content, 10)
    }

    pub(crate) fn build(items: Vec<ContextItemBuilder>) -> Vec<ContextItem> {
        items.into_iter().map(|item| item.build().unwrap()).collect()
    }

    /// Scores of the whole list, after checking that the one-item method agrees to the last bit.
    #[track_caller]
    pub(crate) fn scores(scorer: &dyn Scorer, items: &[ContextItem]) -> Vec<f64> {
        let mut scores = vec![f64::NAN; items.len()];
        scorer.score_all(&ItemList::new(items), &mut scores);
        for (item, score) in items.iter().zip(&scores) {
            assert_eq!(scorer.score(item, items).to_bits(), score.to_bits(), "{item:?}");
        }
        scores
    }
}
