//! A policy as data.
//!
//! One declarative form for every built-in strategy, read from TOML, JSON or any other
//! self-describing format. This is the only place that turns the name of a strategy into a
//! strategy.

mod curve;
mod custom;
mod defaults;
mod duration;
mod environment;
mod options;
mod placer;
mod provider;
#[cfg(feature = "schema")]
mod schema;
mod scorer;
mod shorten;
mod slicer;
mod table;
mod tools;

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};

use self::environment::Environment;
use super::{Policy, PolicyBuilder};
use crate::wire::{Fields, Problem, Read, ReadError, Value, deserialize};
use crate::{ContextBudget, CupelError, OverflowStrategy, SystemTimeProvider, TimeProvider};

pub use curve::{CurveDescription, StepWindow};
pub use custom::CustomStrategy;
pub use options::{OptionType, Options};
pub use placer::PlacerDescription;
pub use provider::{BuiltIn, DescriptionError, StrategyProvider};
pub use scorer::{ScorerDescription, WeightedScorer, WeightedScorers};
pub use shorten::ShortenDescription;
pub use slicer::{BucketSize, CountEntryDescription, Scarcity, SlicerDescription};
pub use tools::ToolsDescription;

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
    #[cfg_attr(feature = "schema", schemars(default = "defaults::slicer"))]
    pub slicer: SlicerDescription,
    /// In which order?
    #[cfg_attr(feature = "schema", schemars(default = "defaults::placer"))]
    pub placer: PlacerDescription,
    /// Whether items of equal text are dropped but for the best one.
    #[cfg_attr(feature = "schema", schemars(default = "defaults::deduplication"))]
    pub deduplication: bool,
    /// What to do when the selection exceeds the target.
    #[cfg_attr(
        feature = "schema",
        schemars(default = "defaults::overflow_strategy", with = "schema::Overflow")
    )]
    pub overflow_strategy: OverflowStrategy,
    /// A budget to use where none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<schema::Budget>"))]
    pub budget: Option<ContextBudget>,
    /// What may go into the window shorter than it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shorten: Option<ShortenDescription>,
    /// Way with tool definitions that take too much of the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolsDescription>,
}

impl PolicyDescription {
    /// A description with the given scorers and defaults for the rest.
    #[must_use]
    pub fn new(scorers: Vec<WeightedScorer>) -> Self {
        Self {
            name: None,
            description: None,
            scorers,
            slicer: defaults::slicer(),
            placer: defaults::placer(),
            deduplication: defaults::deduplication(),
            overflow_strategy: defaults::overflow_strategy(),
            budget: None,
            shorten: None,
            tools: None,
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
        Ok(self.try_build(strategies, clock)?)
    }

    /// As [`build_with`](Self::build_with), with an error that has the path and the rule.
    ///
    /// # Errors
    ///
    /// What is wrong, and where.
    pub fn try_build(
        &self,
        strategies: &dyn StrategyProvider,
        clock: impl TimeProvider + 'static,
    ) -> Result<Policy, Problem> {
        let clock: Arc<dyn TimeProvider> = Arc::new(clock);
        self.build_in(Environment { clock: &clock, strategies })
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
        Self::read_with(deserializer, strategies).map_err(ReadError::into_format)
    }

    /// As [`deserialize_with`](Self::deserialize_with), with an error that has the path and the
    /// rule.
    ///
    /// # Errors
    ///
    /// Those of the format, or what is wrong and where.
    ///
    /// # Example
    ///
    /// ```
    /// use cupel::PolicyDescription;
    /// use cupel::policy::BuiltIn;
    /// use cupel::wire::ReadError;
    ///
    /// let toml = toml::Deserializer::parse("scorers = [{ type = 'recncy' }]")?;
    /// match PolicyDescription::read_with(toml, &BuiltIn) {
    ///     Err(ReadError::Value(problem)) => {
    ///         assert_eq!(problem.path(), "scorers[0].type");
    ///         assert_eq!(problem.rule(), "unknown scorer `recncy`; did you mean `recency`?");
    ///     }
    ///     other => panic!("{other:?}"),
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_with<'de, D: Deserializer<'de>>(
        deserializer: D,
        strategies: &dyn StrategyProvider,
    ) -> Result<Self, ReadError<D::Error>> {
        let value = Value::deserialize(deserializer).map_err(ReadError::Format)?;
        Self::read_value(value, strategies).map_err(ReadError::Value)
    }

    fn build_in(&self, environment: Environment<'_>) -> Result<Policy, Problem> {
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

deserialize!(PolicyDescription);

impl Read for PolicyDescription {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        Self::read_value(value, &BuiltIn)
    }
}

impl PolicyDescription {
    fn read_value(value: Value<'_>, strategies: &dyn StrategyProvider) -> Result<Self, Problem> {
        let mut fields = Fields::of(value)?;
        let description = Self {
            name: fields.optional("name")?,
            description: fields.optional("description")?,
            scorers: fields.required("scorers")?,
            slicer: fields.or_else("slicer", defaults::slicer)?,
            placer: fields.or_else("placer", defaults::placer)?,
            deduplication: fields.or_else("deduplication", defaults::deduplication)?,
            overflow_strategy: fields.or_else("overflow_strategy", defaults::overflow_strategy)?,
            budget: fields.optional("budget")?,
            shorten: fields.optional("shorten")?,
            tools: fields.optional("tools")?,
        };
        fields.deny_rest()?;
        description.try_build(strategies, SystemTimeProvider)?;
        Ok(description)
    }
}
