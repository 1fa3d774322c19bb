use std::collections::HashMap;

use super::{Scorer, weight};
use crate::{ContextItem, CupelError};

/// Comparison of an item's tags with those of a [`TagScorer`].
#[non_exhaustive]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum TagComparison {
    /// Byte for byte: the default.
    #[default]
    Exact,
    /// ASCII case does not count.
    AsciiCaseless,
}

/// Scores an item by its tags: the share of the configured tag weight that it carries.
///
/// **When to choose it:** you know which topics the answer needs.
///
/// **Steps:** add up the weights of the item's tags; divide by the sum of all configured weights;
/// cut at 1.0.
///
/// **Ties and edge cases:** a tag that occurs twice on an item counts twice. An item without
/// tags, or weights that are all zero, score 0.0. Tags are compared byte for byte unless you ask
/// for [`TagComparison::AsciiCaseless`].
///
/// **Cost:** one pass over the tags. Sums are taken in a fixed order, so equal configurations
/// give equal bits.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, Scorer, TagScorer};
///
/// let scorer = TagScorer::new([("billing".into(), 3.0), ("refund".into(), 1.0)].into())?;
/// let item = ContextItemBuilder::new("Invoice 7", 3).tags(vec!["billing".into()]).build()?;
/// assert_eq!(scorer.score(&item, &[]), 0.75);
/// # Ok::<(), cupel::CupelError>(())
/// ```
///
/// Specification: Scorers, `TagScorer`.
#[derive(Debug, Clone)]
pub struct TagScorer {
    weights: HashMap<String, f64, foldhash::fast::RandomState>,
    total_weight: f64,
    comparison: TagComparison,
}

impl TagScorer {
    /// Compares tags byte for byte.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if a weight is negative or not finite (it names the tag), or
    /// if the sum of the weights is not finite.
    pub fn new(weights: HashMap<String, f64>) -> Result<Self, CupelError> {
        Self::with_comparison(weights, TagComparison::Exact)
    }

    /// Compares tags as you say.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new), and if two tags differ only in ASCII case but the comparison
    /// ignores it.
    pub fn with_comparison(
        weights: HashMap<String, f64>,
        comparison: TagComparison,
    ) -> Result<Self, CupelError> {
        let mut sorted: Vec<(String, f64)> = weights.into_iter().collect();
        sorted.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let mut total_weight = 0.0;
        for (tag, weight) in &sorted {
            weight::require_non_negative(format_args!("tag_weights.{tag}"), *weight)?;
            total_weight += weight;
        }
        weight::require_finite_total(total_weight)?;
        if comparison == TagComparison::AsciiCaseless {
            fold_keys(&mut sorted)?;
        }
        Ok(Self { weights: sorted.into_iter().collect(), total_weight, comparison })
    }

    fn weight_of(&self, tag: &str) -> f64 {
        let weight = match self.comparison {
            TagComparison::Exact => self.weights.get(tag),
            TagComparison::AsciiCaseless => self.weights.get(&tag.to_ascii_lowercase()),
        };
        weight.copied().unwrap_or(0.0)
    }
}

fn fold_keys(weights: &mut [(String, f64)]) -> Result<(), CupelError> {
    let mut folded: HashMap<String, String> = HashMap::new();
    for (tag, _) in weights {
        let spelling = tag.clone();
        tag.make_ascii_lowercase();
        if let Some(other) = folded.insert(tag.clone(), spelling.clone()) {
            return Err(CupelError::ScorerConfig(format!(
                "tag_weights: `{other}` and `{spelling}` are the same tag when case is ignored"
            )));
        }
    }
    Ok(())
}

impl Scorer for TagScorer {
    fn score(&self, item: &ContextItem, _all_items: &[ContextItem]) -> f64 {
        if self.total_weight == 0.0 || item.tags().is_empty() {
            return 0.0;
        }
        let mut matched = 0.0;
        for tag in item.tags() {
            matched += self.weight_of(tag);
        }
        (matched / self.total_weight).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{build, item, scores};
    use super::*;

    fn scorer(weights: &[(&str, f64)]) -> Result<TagScorer, CupelError> {
        TagScorer::new(weights.iter().map(|(t, w)| ((*t).to_owned(), *w)).collect())
    }

    fn tagged(tags: &[&str]) -> Vec<ContextItem> {
        build(vec![item("x").tags(tags.iter().map(|t| (*t).to_owned()).collect())])
    }

    #[test]
    fn score_is_the_matched_share_of_the_whole_configured_weight() {
        let scorer = scorer(&[("a", 3.0), ("b", 1.0)]).unwrap();
        assert_eq!(scores(&scorer, &tagged(&["a"])), [0.75]);
        assert_eq!(scores(&scorer, &tagged(&["b", "other"])), [0.25]);
        assert_eq!(scores(&scorer, &tagged(&["a", "b"])), [1.0]);
        assert_eq!(scores(&scorer, &tagged(&["other"])), [0.0]);
        assert_eq!(scores(&scorer, &tagged(&[])), [0.0]);
    }

    #[test]
    fn repeated_tags_add_up_and_are_cut_at_one() {
        let scorer = scorer(&[("a", 1.0), ("b", 3.0)]).unwrap();
        assert_eq!(scores(&scorer, &tagged(&["a", "a"])), [0.5]);
        assert_eq!(scores(&scorer, &tagged(&["b", "b"])), [1.0]);
    }

    #[test]
    fn weights_that_are_all_zero_score_zero() {
        assert_eq!(scores(&scorer(&[("a", 0.0)]).unwrap(), &tagged(&["a"])), [0.0]);
        assert_eq!(scores(&scorer(&[]).unwrap(), &tagged(&["a"])), [0.0]);
    }

    #[test]
    fn case_counts_unless_the_caller_says_otherwise() {
        assert_eq!(scores(&scorer(&[("Bug", 1.0)]).unwrap(), &tagged(&["bug"])), [0.0]);
        let weights = HashMap::from([("Bug".to_owned(), 1.0)]);
        let caseless = TagScorer::with_comparison(weights, TagComparison::AsciiCaseless).unwrap();
        assert_eq!(scores(&caseless, &tagged(&["bUG"])), [1.0]);
    }

    #[test]
    fn tags_that_fold_to_the_same_are_refused_when_case_is_ignored() {
        let weights = HashMap::from([("Bug".to_owned(), 1.0), ("bug".to_owned(), 2.0)]);
        assert!(TagScorer::new(weights.clone()).is_ok());
        let error = TagScorer::with_comparison(weights, TagComparison::AsciiCaseless).unwrap_err();
        let text = "tag_weights: `Bug` and `bug` are the same tag when case is ignored";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn weights_that_are_negative_or_not_finite_are_refused_by_tag() {
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            let error = scorer(&[("z", bad)]).unwrap_err();
            let text = format!("tag_weights.z: must be finite and not negative, got {bad}");
            assert_eq!(error, CupelError::ScorerConfig(text));
        }
    }

    #[test]
    fn weights_whose_sum_overflows_are_refused() {
        let error = scorer(&[("a", f64::MAX), ("b", f64::MAX)]).unwrap_err();
        assert_eq!(error.to_string(), "weights: their sum must be finite; use smaller weights");
    }

    #[test]
    fn equal_configurations_give_equal_bits() {
        let weights: Vec<(String, f64)> =
            (0..40).map(|i| (format!("t{i}"), 0.1 * f64::from(i) + 1e-9)).collect();
        let items = tagged(&["t3", "t17", "t31"]);
        let score = || {
            let scorer = TagScorer::new(weights.iter().cloned().collect()).unwrap();
            scores(&scorer, &items)[0].to_bits()
        };
        // Every map has its own random hash seed, so an order-dependent sum would differ.
        let first = score();
        assert!((0..50).all(|_| score() == first));
    }
}
