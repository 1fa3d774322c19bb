use cupel::{ContextItem, Scorer};

/// Scores everything alike: what stands in where another scorer does not apply.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, Scorer};
/// use cupel_relevance::ConstantScorer;
///
/// let item = ContextItemBuilder::new("x", 1).build()?;
/// assert_eq!(ConstantScorer(1.0).score(&item, &[]), 1.0);
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConstantScorer(pub f64);

impl Scorer for ConstantScorer {
    fn score(&self, _: &ContextItem, _: &[ContextItem]) -> f64 {
        self.0
    }
}
