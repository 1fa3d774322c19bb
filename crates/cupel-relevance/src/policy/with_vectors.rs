//! Vectors beside another scorer, where there are any.

use std::sync::Arc;

use cupel::Scorer;
use cupel::policy::{DescriptionError, Options};

use super::Strategies;
use super::options::{grouping, kernel, number};
use crate::{
    Grouping, ItemVectors, MaxNormScorer, NeighbourParameters, NeighbourScorer, SumScorer,
    VectorScorer,
};

/// How vectors join another scorer.
struct Beside {
    grouping: Grouping,
    /// What they count beside the other scorer.
    weight: f64,
    floor: f64,
    exponent: f64,
    around: NeighbourParameters,
}

impl Strategies {
    /// The scorer in the option `scorer`, as it is; or, where vectors were supplied, divided by its
    /// largest score, plus what the vectors say, divided likewise.
    pub(super) fn with_vectors_beside(
        &self,
        options: &mut Options<'_>,
    ) -> Result<Box<dyn Scorer>, DescriptionError> {
        let beside = Beside {
            grouping: grouping(options, "session")?,
            weight: number(options, "weight", 1.0)?,
            floor: number(options, "floor", 0.1)?,
            exponent: number(options, "exponent", 2.0)?,
            around: NeighbourParameters {
                kernel: kernel(options)?,
                share: number(options, "share", 0.3)?,
                own_exponent: 0.0,
            },
        };
        let inner = options.scorer("scorer")?;
        match &self.vectors {
            Some((items, query)) => beside.join(inner, items.clone(), query),
            None => Ok(inner),
        }
    }
}

impl Beside {
    fn join(
        self,
        inner: Box<dyn Scorer>,
        items: Arc<ItemVectors>,
        query: &[f32],
    ) -> Result<Box<dyn Scorer>, DescriptionError> {
        let alike = VectorScorer::new(items, query)?.sharpened(self.floor, self.exponent)?;
        let around = NeighbourScorer::with_parameters(alike, self.grouping, self.around)?;
        let sum = SumScorer::new(vec![
            (Box::new(MaxNormScorer::new(inner)), 1.0),
            (Box::new(MaxNormScorer::new(around)), self.weight),
        ])?;
        Ok(Box::new(sum))
    }
}
