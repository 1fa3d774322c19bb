//! Strategies that other crates bring to descriptions.

use super::{Options, table};
use crate::{Scorer, Slicer};

pub use crate::problem::Problem as DescriptionError;

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
/// assert!(error.to_string().contains("scorers[0].type: unknown scorer `length`"));
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
        Err(table::unknown("scorer", name, self.scorer_names().iter().copied()))
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
        Err(table::unknown("slicer", name, self.slicer_names().iter().copied()))
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
