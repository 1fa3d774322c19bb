//! All that was measured, as data: what `cupel eval --json` prints.

use std::num::NonZeroUsize;

use serde::Serialize;

use crate::agent::{AgentEvaluation, AgentSummary, compare_agents, summarize_agents};
use crate::compare::compare;
use crate::difference::Difference;
use crate::run::Evaluation;
use crate::summary::{Summary, summarize};

/// The version of the form of all reports; it changes when a reader would have to.
pub const SCHEMA: &str = "cupel/1";

/// Evidence of queries that policies keep.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PoolReport {
    /// The version of this form: [`SCHEMA`].
    pub schema: &'static str,
    /// Figures by set, category, method and budget.
    #[serde(flatten)]
    pub summary: Summary,
    /// The method that the others are compared with.
    pub reference: String,
    /// Query by query, with the reference.
    pub differences: Vec<Difference>,
}

impl PoolReport {
    /// Sums an evaluation up, and compares every other method with one of them, by position.
    pub fn of(evaluation: &Evaluation<'_>, reference: usize, threads: NonZeroUsize) -> Self {
        Self {
            schema: SCHEMA,
            summary: summarize(evaluation),
            reference: evaluation.methods().get(reference).cloned().unwrap_or_default(),
            differences: compare(evaluation, reference, threads),
        }
    }
}

/// Windows of agents' requests by policies.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AgentReport {
    /// The version of this form: [`SCHEMA`].
    pub schema: &'static str,
    /// Figures by set, method and budget.
    #[serde(flatten)]
    pub summary: AgentSummary,
    /// The method that the others are compared with.
    pub reference: String,
    /// Run by run, with the reference.
    pub differences: Vec<Difference>,
}

impl AgentReport {
    /// Sums an evaluation up, and compares every other method with one of them, by position.
    pub fn of(evaluation: &AgentEvaluation<'_>, reference: usize, threads: NonZeroUsize) -> Self {
        Self {
            schema: SCHEMA,
            summary: summarize_agents(evaluation),
            reference: evaluation.methods().get(reference).cloned().unwrap_or_default(),
            differences: compare_agents(evaluation, reference, threads),
        }
    }
}

/// The JSON Schema of each report, by its name.
#[cfg(feature = "schema")]
pub fn json_schemas() -> Vec<(&'static str, serde_json::Value)> {
    fn schema_of<T: schemars::JsonSchema>() -> serde_json::Value {
        // Reports are written, not read: fields that are always written are required.
        let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
        let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
        schema["properties"]["schema"] = serde_json::json!({ "const": SCHEMA });
        schema
    }
    vec![("AgentReport", schema_of::<AgentReport>()), ("PoolReport", schema_of::<PoolReport>())]
}
