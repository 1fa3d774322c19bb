use super::{Scorer, weight};
use crate::{ContextItem, CupelError};

/// The metadata key that holds an item's trust.
const TRUST_KEY: &str = "cupel:trust";

/// Scores an item by the trust that the caller put into `metadata["cupel:trust"]`.
///
/// **When to choose it:** sources differ in how far they can be believed, and you can say so.
///
/// **Steps:** parse the value as a decimal number; cut it to the range 0.0 to 1.0.
///
/// **Ties and edge cases:** where the key is missing, the value is no number, or it is NaN or
/// infinite, the default score. Items are never excluded for lack of trust.
///
/// **Cost:** one pass.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, MetadataTrustScorer, Scorer};
///
/// let item = ContextItemBuilder::new("wiki page", 2)
///     .metadata([("cupel:trust".into(), "0.85".into())].into())
///     .build()?;
/// assert_eq!(MetadataTrustScorer::new(0.5)?.score(&item, &[]), 0.85);
/// # Ok::<(), cupel::CupelError>(())
/// ```
///
/// Specification: Scorers, `MetadataTrustScorer`.
#[derive(Debug, Clone)]
pub struct MetadataTrustScorer {
    default_score: f64,
}

impl MetadataTrustScorer {
    /// Items without a usable trust get `default_score`.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if `default_score` is not within 0.0 and 1.0.
    pub fn new(default_score: f64) -> Result<Self, CupelError> {
        weight::require_unit("default_score", default_score)?;
        Ok(Self { default_score })
    }
}

impl Scorer for MetadataTrustScorer {
    fn score(&self, item: &ContextItem, _all_items: &[ContextItem]) -> f64 {
        let trust = item.metadata().get(TRUST_KEY).and_then(|raw| raw.parse::<f64>().ok());
        match trust {
            Some(trust) if trust.is_finite() => trust.clamp(0.0, 1.0),
            _ => self.default_score,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{build, item, scores};
    use super::*;

    fn trust(value: &str) -> f64 {
        let metadata = [(TRUST_KEY.to_owned(), value.to_owned())].into();
        scores(&MetadataTrustScorer::new(0.5).unwrap(), &build(vec![item("x").metadata(metadata)]))
            [0]
    }

    #[test]
    fn a_trust_within_range_passes_through() {
        assert_eq!(
            [trust("0.0"), trust("0.75"), trust("0.85"), trust("1.0")],
            [0.0, 0.75, 0.85, 1.0]
        );
    }

    #[test]
    fn a_trust_out_of_range_is_cut() {
        assert_eq!([trust("-0.1"), trust("1.5")], [0.0, 1.0]);
    }

    #[test]
    fn a_missing_unparsable_or_non_finite_trust_gives_the_default() {
        for raw in ["high", "", "NaN", "Infinity", "+Infinity", "-Infinity", " 0.7", "0,7"] {
            assert_eq!(trust(raw), 0.5, "{raw}");
        }
        let bare = build(vec![item("x")]);
        assert_eq!(scores(&MetadataTrustScorer::new(0.25).unwrap(), &bare), [0.25]);
    }

    #[test]
    fn a_default_outside_the_unit_range_is_refused() {
        for bad in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            let error = MetadataTrustScorer::new(bad).unwrap_err();
            let text = format!("default_score: must be within 0 and 1, got {bad}");
            assert_eq!(error, CupelError::ScorerConfig(text));
        }
    }
}
