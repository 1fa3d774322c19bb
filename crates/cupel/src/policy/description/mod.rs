//! A policy as data.
//!
//! One declarative form for every built-in strategy, read from TOML, JSON or any other
//! self-describing format. This is the only place that turns the name of a strategy into a
//! strategy.

mod custom;
mod duration;
mod placer;
mod read;
#[cfg(feature = "schema")]
mod schema;
mod scorer;
mod slicer;

use std::sync::Arc;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use self::custom::Environment;
use super::{Policy, PolicyBuilder};
use crate::wire::{Fields, Problem, Value};
use crate::{ContextBudget, CupelError, OverflowStrategy, SystemTimeProvider, TimeProvider};

pub use custom::{
    BuiltIn, CustomStrategy, DescriptionError, OptionType, Options, StrategyProvider,
};
pub use placer::PlacerDescription;
pub use scorer::{
    CurveDescription, ScorerDescription, StepWindow, WeightedScorer, WeightedScorers,
};
pub use slicer::{BucketSize, CountEntryDescription, Scarcity, SlicerDescription};

/// A policy as data: what a file, a request or a command line says.
///
/// Reading checks everything, and names the path to what is wrong. [`build`](Self::build) turns
/// the description into a [`Policy`].
///
/// | field | meaning | default |
/// |---|---|---|
/// | `scorers` | one or more of [`ScorerDescription`], each with a `weight` | required |
/// | `slicer` | a [`SlicerDescription`] | greedy |
/// | `placer` | a [`PlacerDescription`] | chronological |
/// | `deduplication` | drop items of equal text but for the best | `true` |
/// | `overflow_strategy` | `Throw`, `Truncate` or `Proceed` | `Throw` |
/// | `name`, `description` | for people | – |
/// | `budget` | a budget to use where none is given | – |
///
/// Names of strategies are in kebab case; `_` is read as `-`.
///
/// # Example
///
/// ```
/// use cupel::PolicyDescription;
///
/// let text = r#"
///     name = "support desk"
///     placer = "u-shaped"
///     overflow_strategy = "Truncate"
///
///     [[scorers]]
///     type = "recency"
///     weight = 2
///
///     [[scorers]]
///     type = "tag"
///     weight = 1
///     weights = { billing = 3.0, refund = 1.0 }
///
///     [slicer]
///     type = "quota"
///     quotas = [{ kind = "ToolOutput", require = 20, cap = 50 }]
///     inner = "greedy"
/// "#;
/// let description: PolicyDescription = toml::from_str(text)?;
/// let policy = description.build()?;
///
/// let wrong = text.replace("weight = 1", "weight = -1");
/// let error = toml::from_str::<PolicyDescription>(&wrong).unwrap_err();
/// assert!(error.to_string().contains("scorers[1].weight: must be positive, got -1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PolicyDescription {
    /// A short name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What the policy is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How relevant is each item? The weighted average of these.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub scorers: Vec<WeightedScorer>,
    /// Which items fit?
    #[cfg_attr(feature = "schema", schemars(default = "schema::default_slicer"))]
    pub slicer: SlicerDescription,
    /// In which order?
    #[cfg_attr(feature = "schema", schemars(default = "schema::default_placer"))]
    pub placer: PlacerDescription,
    /// Whether items of equal text are dropped but for the best one.
    #[cfg_attr(feature = "schema", schemars(default = "schema::default_true"))]
    pub deduplication: bool,
    /// What to do when the selection exceeds the target.
    #[cfg_attr(
        feature = "schema",
        schemars(default = "schema::default_overflow", with = "schema::Overflow")
    )]
    pub overflow_strategy: OverflowStrategy,
    /// A budget to use where none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<schema::Budget>"))]
    pub budget: Option<ContextBudget>,
}

impl PolicyDescription {
    /// A description with the given scorers and defaults for the rest.
    #[must_use]
    pub fn new(scorers: Vec<WeightedScorer>) -> Self {
        Self {
            name: None,
            description: None,
            scorers,
            slicer: SlicerDescription::Greedy,
            placer: PlacerDescription::Chronological,
            deduplication: true,
            overflow_strategy: OverflowStrategy::Throw,
            budget: None,
        }
    }

    /// Builds the policy. Decay scorers without a reference time use the system's clock.
    ///
    /// # Errors
    ///
    /// [`CupelError::PipelineConfig`] with the path to what is wrong.
    pub fn build(&self) -> Result<Policy, CupelError> {
        self.build_with_clock(SystemTimeProvider)
    }

    /// Builds the policy with a clock for decay scorers that have no reference time.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build).
    pub fn build_with_clock(
        &self,
        clock: impl TimeProvider + 'static,
    ) -> Result<Policy, CupelError> {
        self.build_with(&BuiltIn, clock)
    }

    /// Builds the policy with strategies beyond the built-in ones, and with a clock.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build).
    pub fn build_with(
        &self,
        strategies: &dyn StrategyProvider,
        clock: impl TimeProvider + 'static,
    ) -> Result<Policy, CupelError> {
        let clock: Arc<dyn TimeProvider> = Arc::new(clock);
        Ok(self.try_build(Environment { clock: &clock, strategies })?)
    }

    /// Reads a description that may name strategies beyond the built-in ones. Everything is
    /// checked, as when a description is deserialized without them.
    ///
    /// # Errors
    ///
    /// Those of the format, and the path to what is wrong.
    pub fn deserialize_with<'de, D: Deserializer<'de>>(
        deserializer: D,
        strategies: &dyn StrategyProvider,
    ) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Self::read_with(value, strategies).map_err(D::Error::custom)
    }

    fn try_build(&self, environment: Environment<'_>) -> Result<Policy, Problem> {
        let slicer = self.slicer.build(environment);
        let policy = PolicyBuilder::new()
            .scorer(scorer::combine(&self.scorers, environment)?)
            .slicer(slicer.map_err(|problem| problem.in_field("slicer"))?)
            .placer(self.placer.build())
            .deduplication(self.deduplication)
            .overflow_strategy(self.overflow_strategy)
            .build()?;
        Ok(policy)
    }

    /// A JSON Schema of the description, as a JSON document.
    #[cfg(feature = "schema")]
    #[must_use]
    pub fn json_schema() -> serde_json::Value {
        schema::json_schema(&BuiltIn)
    }

    /// As [`json_schema`](Self::json_schema), with strategies beyond the built-in ones.
    #[cfg(feature = "schema")]
    #[must_use]
    pub fn json_schema_with(strategies: &dyn StrategyProvider) -> serde_json::Value {
        schema::json_schema(strategies)
    }
}

impl<'de> Deserialize<'de> for PolicyDescription {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize_with(deserializer, &BuiltIn)
    }
}

impl PolicyDescription {
    fn read_with(value: Value<'_>, strategies: &dyn StrategyProvider) -> Result<Self, Problem> {
        let mut fields = Fields::of(value)?;
        let description = Self {
            name: fields.optional("name")?,
            description: fields.optional("description")?,
            scorers: fields.required("scorers")?,
            slicer: fields.optional("slicer")?.unwrap_or(SlicerDescription::Greedy),
            placer: fields.optional("placer")?.unwrap_or(PlacerDescription::Chronological),
            deduplication: fields.optional("deduplication")?.unwrap_or(true),
            overflow_strategy: fields.or_default("overflow_strategy")?,
            budget: fields.optional("budget")?,
        };
        fields.deny_rest()?;
        let clock: Arc<dyn TimeProvider> = Arc::new(SystemTimeProvider);
        description.try_build(Environment { clock: &clock, strategies })?;
        Ok(description)
    }
}
