//! The third part of a prepared request: who judges it, and for what.

use std::sync::Arc;

use cupel::{Needs, Pipeline};
use cupel_chat::Candidates;
use cupel_relevance::Strategies;

use super::read::Purpose;
use crate::{Engine, EngineError, ErrorCode, Options};

/// The policy at work on a request.
#[derive(Clone)]
pub(super) struct Judge {
    /// Query that the window is for.
    pub(super) query: String,
    pub(super) strategies: Strategies,
    pub(super) pipeline: Pipeline,
    /// The needs of the candidates.
    pub(super) needs: Arc<Needs>,
}

impl Judge {
    /// The policy of an engine, told the query and the candidates.
    pub(super) fn new(
        engine: &Engine,
        query: String,
        strategies: Strategies,
        candidates: &Candidates,
    ) -> Self {
        let needs = Arc::new(candidates.needs());
        let pipeline = engine.compiled().pipeline(&strategies, candidates.items());
        Self { query, strategies, pipeline: pipeline.with_needs(needs.clone()), needs }
    }

    /// The same, by the policy of another engine.
    pub(super) fn instead(&self, engine: &Engine) -> Self {
        Self { pipeline: engine.compiled().instead_in(&self.pipeline), ..self.clone() }
    }
}

/// The query of the call, or the user's last words.
pub(super) fn query(options: &Options, candidates: &Candidates) -> String {
    match &options.query {
        Some(query) => query.to_string(),
        None => candidates.request().query().unwrap_or_default(),
    }
}

/// The strategies for a query; in a session they know the items that others have met.
pub(super) fn strategies(query: &str, purpose: Purpose<'_>) -> Strategies {
    match purpose {
        Purpose::Window => Strategies::new(query),
        Purpose::Session { memory, .. } => memory.strategies(query),
    }
}

/// The strategies, with the vectors of the messages if there are any.
pub(super) fn with_vectors(
    strategies: Strategies,
    candidates: &Candidates,
    options: &Options,
) -> Result<Strategies, EngineError> {
    let Some(vectors) = &options.vectors else { return Ok(strategies) };
    let invalid = |rule: String| EngineError::new(ErrorCode::InvalidVectors, rule);
    let count = candidates.request().message_count();
    if let Some(last) = vectors.last_position().filter(|last| *last >= count) {
        let rule = format!("there is a vector of message {last}, but the request has {count}");
        return Err(invalid(rule).with_remedy("give the vectors of this request"));
    }
    let Some(of_query) = vectors.query() else {
        return Err(invalid("there is no vector of the query".to_owned()).with_remedy("add it"));
    };
    let messages = |at: usize| candidates.bundle(at).message_indices().to_vec();
    let of_items = vectors.for_parts(candidates.items(), messages);
    let of_items = of_items.map_err(|error| invalid(error.to_string()))?;
    let strategies = strategies.with_vectors(Arc::new(of_items), of_query.to_vec());
    strategies.map_err(|error| invalid(error.to_string()))
}
