use super::{Scorer, weight};
use crate::{ContextItem, CupelError};

/// Score of an item without the configured value.
const NEUTRAL: f64 = 1.0;

/// Returns a boost for items whose metadata holds a given value, and 1.0 for all others.
///
/// **When to choose it:** your own labels should lift items: `("cupel:priority", "high", 1.5)`.
///
/// **Steps:** compare the value under the key with the configured one, byte for byte.
///
/// **Ties and edge cases:** the result is not cut to the unit range. In a
/// [`CompositeScorer`](crate::CompositeScorer) it takes part in the average like any other score.
///
/// **Cost:** one pass.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, MetadataKeyScorer, Scorer};
///
/// let scorer = MetadataKeyScorer::new("cupel:priority", "high", 1.5)?;
/// let item = ContextItemBuilder::new("pager alert", 2)
///     .metadata([("cupel:priority".into(), "high".into())].into())
///     .build()?;
/// assert_eq!(scorer.score(&item, &[]), 1.5);
/// # Ok::<(), cupel::CupelError>(())
/// ```
///
/// Specification: Scorers, `MetadataKeyScorer`.
#[derive(Debug, Clone)]
pub struct MetadataKeyScorer {
    key: String,
    value: String,
    boost: f64,
}

impl MetadataKeyScorer {
    /// Boosts items whose metadata holds `value` under `key`.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if `boost` is not positive and finite.
    pub fn new(
        key: impl Into<String>,
        value: impl Into<String>,
        boost: f64,
    ) -> Result<Self, CupelError> {
        weight::require_positive("boost", boost)?;
        Ok(Self { key: key.into(), value: value.into(), boost })
    }
}

impl Scorer for MetadataKeyScorer {
    fn score(&self, item: &ContextItem, _all_items: &[ContextItem]) -> f64 {
        match item.metadata().get(&self.key) {
            Some(value) if *value == self.value => self.boost,
            _ => NEUTRAL,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{build, item, scores};
    use super::*;

    fn score(metadata: &[(&str, &str)]) -> f64 {
        let metadata = metadata.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let scorer = MetadataKeyScorer::new("cupel:priority", "high", 1.5).unwrap();
        scores(&scorer, &build(vec![item("x").metadata(metadata)]))[0]
    }

    #[test]
    fn a_match_returns_the_boost() {
        assert_eq!(score(&[("cupel:priority", "high")]), 1.5);
    }

    #[test]
    fn another_value_or_a_missing_key_is_neutral() {
        assert_eq!(score(&[("cupel:priority", "normal")]), 1.0);
        assert_eq!(score(&[("cupel:priority", "HIGH")]), 1.0);
        assert_eq!(score(&[("other", "high")]), 1.0);
        assert_eq!(score(&[]), 1.0);
    }

    #[test]
    fn a_boost_that_is_not_positive_and_finite_is_refused() {
        for bad in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = MetadataKeyScorer::new("k", "v", bad).unwrap_err();
            assert!(matches!(&error, CupelError::ScorerConfig(text) if text.starts_with("boost:")));
        }
    }
}
