//! A policy as a selector.

use std::fmt;

use cupel::{ContextBudget, ContextItem, Pipeline};

use crate::data::Case;
use crate::selector::{Selector, SelectorError};

/// Runs a pipeline over the candidates of each query.
///
/// The pipeline may depend on the query's text and on the candidates; one that does not is made from
/// a pipeline by `PolicySelector::from`.
///
/// # Example
///
/// ```
/// use cupel::{ChronologicalPlacer, GreedySlice, Pipeline, RecencyScorer};
/// use cupel_eval::{Method, PolicySelector};
///
/// let pipeline = Pipeline::builder()
///     .scorer(RecencyScorer)
///     .slicer(GreedySlice)
///     .placer(ChronologicalPlacer)
///     .build()?;
/// let fixed = Method::new("recency", PolicySelector::from(pipeline.clone()));
///
/// // One that looks at the question.
/// let by_query = PolicySelector::new(move |_query, _candidates| Ok(pipeline.clone()));
/// # let _ = (fixed, by_query);
/// # Ok::<(), cupel::CupelError>(())
/// ```
pub struct PolicySelector<'p> {
    build: Box<Build<'p>>,
}

/// From a case to the pipeline that selects among its candidates.
type Build<'p> = dyn Fn(Case<'_>) -> Result<Pipeline, SelectorError> + Send + Sync + 'p;

impl<'p> PolicySelector<'p> {
    /// A pipeline for each query: from its text and its candidates.
    pub fn new(
        build: impl Fn(&str, &[ContextItem]) -> Result<Pipeline, SelectorError> + Send + Sync + 'p,
    ) -> Self {
        Self::for_cases(move |case| build(case.query.text(), case.candidates()))
    }

    /// A pipeline for each query, from all that is known of it: for what is kept by pool and id, as
    /// vectors are.
    pub fn for_cases(
        build: impl Fn(Case<'_>) -> Result<Pipeline, SelectorError> + Send + Sync + 'p,
    ) -> Self {
        Self { build: Box::new(build) }
    }
}

impl From<Pipeline> for PolicySelector<'_> {
    fn from(pipeline: Pipeline) -> Self {
        Self::for_cases(move |_| Ok(pipeline.clone()))
    }
}

impl Selector for PolicySelector<'_> {
    fn select(
        &self,
        case: Case<'_>,
        budgets: &[i64],
    ) -> Result<Vec<Option<Vec<usize>>>, SelectorError> {
        let pipeline = (self.build)(case)?;
        let ranking = pipeline.rank(case.candidates())?;
        let select = |tokens: &i64| {
            let window = ranking.window(&ContextBudget::builder(*tokens).build()?)?;
            let indices = case.candidate_indices();
            Ok(Some(window.iter().map(|placed| indices[placed.position]).collect()))
        };
        budgets.iter().map(select).collect()
    }
}

impl fmt::Debug for PolicySelector<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PolicySelector").finish_non_exhaustive()
    }
}
