//! Differences between policies.

use serde::{Deserialize, Serialize};

use crate::engine::{Engine, Settings};
use crate::prepare::positions;
use crate::{
    EngineError, ErrorCode, NamedPolicy, Options, Part, Prepared, RequestInput, Schema, Summary,
};

/// Messages that two or more policies keep differently.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Comparison {
    /// `cupel/1`.
    pub schema: Schema,
    /// Summary of each policy, in the order given.
    pub policies: Vec<Summary>,
    /// The candidates on which they disagree, in the order of the request.
    pub swings: Vec<Swing>,
}

/// A candidate on which policies disagree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Swing {
    /// The candidate.
    pub part: Part,
    /// Presence in each policy's window, in their order.
    pub is_kept: Vec<bool>,
}

pub(crate) fn compare(
    engine: &Engine,
    request: RequestInput,
    policies: &[NamedPolicy],
    options: &Options,
) -> Result<Comparison, EngineError> {
    if policies.len() < 2 {
        let rule = format!("a comparison needs two policies or more, got {}", policies.len());
        return Err(EngineError::new(ErrorCode::InvalidArgument, rule));
    }
    // All are judged by one budget: the first that any of them brings, where nobody else gives one.
    let with_budget = policies.iter().find(|policy| policy.description().budget.is_some());
    let first = engine.with_policy(with_budget.unwrap_or(&policies[0]))?;
    let first = first.prepare(request, options)?;
    let budget = first.budget()?.clone();
    let mut kept: Vec<Vec<usize>> = Vec::new();
    let mut summaries = Vec::new();
    for policy in policies {
        let judged = first.judged_by(engine.with_policy(policy)?);
        let chosen = judged.kept(&budget)?;
        summaries.push(judged.summary(&chosen)?);
        kept.push(positions(&chosen));
    }
    Ok(Comparison { schema: Schema, policies: summaries, swings: swings(&first, &kept) })
}

fn swings(prepared: &Prepared, kept: &[Vec<usize>]) -> Vec<Swing> {
    let count = prepared.items().len();
    let is_kept: Vec<Vec<bool>> = kept.iter().map(|kept| marked(kept, count)).collect();
    let swing = |at: usize| {
        let is_kept: Vec<bool> = is_kept.iter().map(|is_kept| is_kept[at]).collect();
        let differ = is_kept.iter().any(|kept| *kept != is_kept[0]);
        differ.then(|| Swing { part: Part::of(prepared.candidates(), at), is_kept })
    };
    (0..count).filter_map(swing).collect()
}

fn marked(positions: &[usize], len: usize) -> Vec<bool> {
    let mut is_marked = vec![false; len];
    for at in positions {
        is_marked[*at] = true;
    }
    is_marked
}

impl Engine {
    /// The same engine with another policy.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::InvalidPolicy`] if the policy cannot be built.
    pub fn with_policy(&self, policy: &NamedPolicy) -> Result<Self, EngineError> {
        Self::of(Settings { policy: policy.clone(), ..Settings::clone(self.settings()) })
    }
}
