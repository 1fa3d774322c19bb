//! Strategies that other crates bring to descriptions.

use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::scorer::{self, WeightedScorers};
use super::{ScorerDescription, SlicerDescription, WeightedScorer, read};
use crate::wire::{Fields, Problem, Read, Value};
use crate::{CupelError, FieldValue, Scorer, Slicer, TimeProvider};

pub use crate::wire::problem::Problem as DescriptionError;

/// Strategies beyond the built-in ones, by name: what [`PolicyDescription`] asks when it meets a
/// name that it does not know.
///
/// Built-in names win. Names are in kebab case.
///
/// # Example
///
/// ```
/// use cupel::policy::{DescriptionError, Options, StrategyProvider};
/// use cupel::{ContextItem, PolicyDescription, Scorer, SystemTimeProvider};
///
/// /// The more tokens, the better.
/// struct LengthScorer {
///     full_tokens: f64,
/// }
///
/// impl Scorer for LengthScorer {
///     fn score(&self, item: &ContextItem, _: &[ContextItem]) -> f64 {
///         (item.tokens() as f64 / self.full_tokens).min(1.0)
///     }
/// }
///
/// struct Mine;
///
/// impl StrategyProvider for Mine {
///     fn scorer_names(&self) -> &[&'static str] {
///         &["length"]
///     }
///
///     fn scorer(&self, _: &str, options: &mut Options<'_>) -> Result<Box<dyn Scorer>, DescriptionError> {
///         let full_tokens = options.optional("full_tokens")?.unwrap_or(1_000.0);
///         if full_tokens <= 0.0 {
///             return Err(DescriptionError::new("must be positive").in_field("full_tokens"));
///         }
///         Ok(Box::new(LengthScorer { full_tokens }))
///     }
/// }
///
/// let text = r#"scorers = [{ type = "length", full_tokens = 500 }, "recency"]"#;
/// let description = PolicyDescription::deserialize_with(toml::Deserializer::parse(text)?, &Mine)?;
/// let policy = description.build_with(&Mine, SystemTimeProvider)?;
///
/// // Without the provider, the name is unknown.
/// let error = toml::from_str::<PolicyDescription>(text).unwrap_err();
/// assert!(error.to_string().contains("scorers[0].type: unknown scorer \"length\""));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// [`PolicyDescription`]: super::PolicyDescription
pub trait StrategyProvider {
    /// The names of the scorers.
    fn scorer_names(&self) -> &[&'static str] {
        &[]
    }

    /// The names of the slicers.
    fn slicer_names(&self) -> &[&'static str] {
        &[]
    }

    /// The scorer of one of the [names](Self::scorer_names). Options that it does not take are
    /// refused by the caller.
    ///
    /// # Errors
    ///
    /// Whatever is wrong with the options, by path.
    fn scorer(
        &self,
        name: &str,
        options: &mut Options<'_>,
    ) -> Result<Box<dyn Scorer>, DescriptionError> {
        let _ = options;
        Err(read::unknown("scorer", name, self.scorer_names()))
    }

    /// The slicer of one of the [names](Self::slicer_names). Options that it does not take are
    /// refused by the caller.
    ///
    /// # Errors
    ///
    /// Whatever is wrong with the options, by path.
    fn slicer(
        &self,
        name: &str,
        options: &mut Options<'_>,
    ) -> Result<Box<dyn Slicer>, DescriptionError> {
        let _ = options;
        Err(read::unknown("slicer", name, self.slicer_names()))
    }

    /// The JSON Schema of a strategy's options, by the strategy's name: a map from the name of an
    /// option to its schema. An empty map where nothing more is known than the name.
    #[cfg(feature = "schema")]
    fn option_schemas(&self, name: &str) -> serde_json::Map<String, serde_json::Value> {
        let _ = name;
        serde_json::Map::new()
    }
}

/// No strategies beyond the built-in ones.
#[derive(Debug, Clone, Copy, Default)]
pub struct BuiltIn;

impl StrategyProvider for BuiltIn {}

/// A strategy that a [`StrategyProvider`] knows: its name, and its options as they were read.
#[derive(Debug, Clone, PartialEq)]
pub struct CustomStrategy {
    name: String,
    options: Vec<(String, FieldValue)>,
}

impl CustomStrategy {
    /// A strategy by name, without options. `_` is read as `-`.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.replace('_', "-"), options: Vec::new() }
    }

    /// With an option.
    #[must_use]
    pub fn with(mut self, option: impl Into<String>, value: impl Into<FieldValue>) -> Self {
        self.options.push((option.into(), value.into()));
        self
    }

    /// The name, in kebab case.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The options, in their order.
    #[must_use]
    pub fn options(&self) -> &[(String, FieldValue)] {
        &self.options
    }

    pub(super) fn read(name: &str, fields: &mut Fields<'_>) -> Self {
        let rest = fields.take_rest().into_iter();
        Self {
            name: name.to_owned(),
            options: rest.map(|(key, value)| (key.into_owned(), value.into())).collect(),
        }
    }

    fn fields(&self) -> Fields<'_> {
        let options = self.options.iter().map(|(key, value)| (key.into(), value.into()));
        Fields::from(options.collect::<Vec<_>>())
    }
}

impl Serialize for CustomStrategy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.options.len() + 1))?;
        map.serialize_entry("type", &self.name)?;
        for (option, value) in &self.options {
            map.serialize_entry(option, value)?;
        }
        map.end()
    }
}

/// What strategies are built with.
#[derive(Clone, Copy)]
pub(super) struct Environment<'a> {
    pub(super) clock: &'a Arc<dyn TimeProvider>,
    pub(super) strategies: &'a dyn StrategyProvider,
}

impl Environment<'_> {
    pub(super) fn scorer(&self, custom: &CustomStrategy) -> Result<Box<dyn Scorer>, Problem> {
        let names = self.strategies.scorer_names();
        self.build("scorer", custom, [&scorer::SCORERS, names], |options| {
            self.strategies.scorer(&custom.name, options)
        })
    }

    pub(super) fn slicer(&self, custom: &CustomStrategy) -> Result<Box<dyn Slicer>, Problem> {
        let names = self.strategies.slicer_names();
        self.build("slicer", custom, [&super::slicer::SLICERS, names], |options| {
            self.strategies.slicer(&custom.name, options)
        })
    }

    fn build<T>(
        &self,
        what: &str,
        custom: &CustomStrategy,
        [built_in, names]: [&[&str]; 2],
        build: impl FnOnce(&mut Options<'_>) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        if !names.contains(&custom.name.as_str()) {
            return Err(read::unknown(what, &custom.name, &[built_in, names].concat()));
        }
        let mut options = Options { fields: custom.fields(), environment: *self };
        let strategy = build(&mut options)?;
        options.fields.deny_rest()?;
        Ok(strategy)
    }
}

/// The options of a strategy, taken one by one. Names are in snake case; camel case is read too.
pub struct Options<'a> {
    fields: Fields<'a>,
    environment: Environment<'a>,
}

impl Options<'_> {
    /// An option that may be absent.
    ///
    /// # Errors
    ///
    /// If its value is of another type.
    pub fn optional<T: OptionType>(&mut self, name: &'static str) -> Result<Option<T>, Problem> {
        self.fields.optional(name)
    }

    /// An option that must be there.
    ///
    /// # Errors
    ///
    /// If it is absent, or its value is of another type.
    pub fn required<T: OptionType>(&mut self, name: &'static str) -> Result<T, Problem> {
        self.fields.required(name)
    }

    /// A scorer inside of this strategy.
    ///
    /// # Errors
    ///
    /// If it is absent, or anything is wrong with it.
    pub fn scorer(&mut self, name: &'static str) -> Result<Box<dyn Scorer>, Problem> {
        let description: ScorerDescription = self.fields.required(name)?;
        description.build(self.environment).map_err(|problem| problem.in_field(name))
    }

    /// Scorers inside of this strategy, each with its weight; at least one.
    ///
    /// # Errors
    ///
    /// If they are absent or none, or anything is wrong with one.
    pub fn scorers(&mut self, name: &'static str) -> Result<WeightedScorers, Problem> {
        let weighted: Vec<WeightedScorer> = self.fields.required(name)?;
        if weighted.is_empty() {
            return Err(Problem::new("at least one scorer is required").in_field(name));
        }
        scorer::build_all(&weighted, self.environment).map_err(|problem| problem.in_field(name))
    }

    /// A slicer inside of this strategy; `None` if it is absent.
    ///
    /// # Errors
    ///
    /// If anything is wrong with it.
    pub fn slicer(&mut self, name: &'static str) -> Result<Option<Box<dyn Slicer>>, Problem> {
        let description: Option<SlicerDescription> = self.fields.optional(name)?;
        let built = description.map(|slicer| slicer.build(self.environment)).transpose();
        built.map_err(|problem| problem.in_field(name))
    }

    /// The clock that the policy is built with.
    #[must_use]
    pub fn clock(&self) -> Arc<dyn TimeProvider> {
        self.environment.clock.clone()
    }
}

/// What an option can be: a number, a whole number, a truth value, a text, an instant, a list of
/// those, or a map from names to those.
pub trait OptionType: Read {}

impl<T: Read> OptionType for T {}

impl From<CustomStrategy> for ScorerDescription {
    fn from(custom: CustomStrategy) -> Self {
        Self::Custom(custom)
    }
}

impl From<CustomStrategy> for SlicerDescription {
    fn from(custom: CustomStrategy) -> Self {
        Self::Custom(custom)
    }
}

impl From<CustomStrategy> for FieldValue {
    /// As the value of an option of another strategy.
    fn from(custom: CustomStrategy) -> Self {
        let name = ("type".to_owned(), Self::Text(custom.name));
        Self::Map(std::iter::once(name).chain(custom.options).collect())
    }
}

impl From<Problem> for CupelError {
    fn from(problem: Problem) -> Self {
        Self::PipelineConfig(problem.to_string())
    }
}

/// Borrows the texts of a value that was read before.
impl<'a> From<&'a FieldValue> for Value<'a> {
    fn from(value: &'a FieldValue) -> Self {
        match value {
            FieldValue::Null => Self::Null,
            FieldValue::Bool(value) => Self::Bool(*value),
            FieldValue::Integer(value) => Self::Integer(*value),
            FieldValue::Unsigned(value) => Self::Unsigned(*value),
            FieldValue::Float(value) => Self::Float(*value),
            FieldValue::Text(value) => Self::Text(value.into()),
            FieldValue::List(list) => Self::List(list.iter().map(Self::from).collect()),
            FieldValue::Map(map) => {
                Self::Map(map.iter().map(|(key, value)| (key.into(), value.into())).collect())
            }
        }
    }
}
