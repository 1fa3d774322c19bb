//! Which model a request is for, and what its provider counts.

use cupel_names::nearest_name;
use cupel_tokens::{Encoding, Model, Prices};
use serde::{Deserialize, Serialize};

use crate::tokenizer::ESTIMATE;
use crate::{EngineError, ErrorCode, Schema, Usage};

/// The model of a name that the caller gave; `None` if the table does not have it, so that counts for it
/// are estimates.
///
/// # Errors
///
/// [`ErrorCode::UnknownModel`] for a name that is misspelt.
pub(crate) fn by_name(name: &str) -> Result<Option<&'static Model>, EngineError> {
    match Model::find(name) {
        Ok(model) => Ok(Some(model)),
        Err(unknown) => match unknown.nearest().filter(|near| is_misspelt(name, near)) {
            None => Ok(None),
            Some(near) => {
                let rule = format!("unknown model `{name}`");
                let error = EngineError::new(ErrorCode::UnknownModel, rule);
                Err(error.with_remedy(format!("did you mean `{near}`?")))
            }
        },
    }
}

/// Returns true if a name means a known one that is near: of its words all but one or two letters are those of the
/// other. One that differs by its numbers, or by a word of its own, is another model.
fn is_misspelt(name: &str, known: &str) -> bool {
    let name = name.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let words = |name: &str| -> Vec<String> {
        let words = name.split(|c: char| !c.is_alphanumeric());
        let is_word = |word: &&str| word.contains(|c: char| c.is_alphabetic());
        words.filter(is_word).map(ToOwned::to_owned).collect()
    };
    let known = words(known);
    let is_slip = |word: &String| {
        known.iter().any(|known| word != known && nearest_name(word, [known.as_str()]).is_some())
    };
    let strange: Vec<String> =
        words(&name).into_iter().filter(|word| !known.contains(word)).collect();
    !strange.is_empty() && strange.iter().all(is_slip)
}

/// The name of the model that counts are for, and what the table has of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named<'n> {
    pub(crate) name: Option<&'n str>,
    pub(crate) model: Option<&'static Model>,
}

impl<'n> Named<'n> {
    /// The name that the caller gave, or else the one of the request.
    ///
    /// # Errors
    ///
    /// As [`by_name`], for the caller's name. Of a request any name is taken.
    pub(crate) fn new(
        given: Option<&'n str>,
        request: Option<&'n str>,
    ) -> Result<Self, EngineError> {
        match given {
            Some(name) => Ok(Self { name: Some(name), model: by_name(name)? }),
            None => {
                Ok(Self { name: request, model: request.and_then(|name| Model::find(name).ok()) })
            }
        }
    }
}

/// The models that are known by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ModelList {
    /// `cupel/1`.
    pub schema: Schema,
    /// The newest first within each provider.
    pub models: Vec<ModelRow>,
}

/// A model that is known by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ModelRow {
    /// The name, without the date of a version.
    pub name: String,
    /// Provider whose rules count: `openai`, `anthropic`, `google` or `open`.
    pub provider: String,
    /// Name of its tokenizer.
    pub tokenizer: String,
    /// Most tokens of a request and its answer together.
    pub context_window: i64,
    /// Most tokens of an answer.
    pub max_output: i64,
    /// Prices of its input, where two sources agree on them.
    #[serde(default)]
    pub prices: Option<ModelPrices>,
}

/// Input prices of a model, in US dollars for a million tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ModelPrices {
    /// Of tokens that no cache is asked for.
    pub input: f64,
    /// Of tokens that the cache has.
    pub cache_read: f64,
    /// Of tokens that are written into the cache.
    pub cache_write: f64,
    /// The month in which the provider asked for so much, as in `2026-11`.
    pub as_of: Option<String>,
}

impl ModelPrices {
    /// Cost of these tokens in US dollars, all that is not in the cache being written into it.
    ///
    /// ```
    /// use cupel_engine::{ModelPrices, Usage};
    ///
    /// let prices = ModelPrices::from(cupel_tokens::Prices::new(3_000_000, 300_000, 3_750_000));
    /// assert_eq!(prices.dollars(Usage::new(900_000, 100_000)), 0.645);
    /// ```
    #[must_use]
    pub fn dollars(&self, usage: Usage) -> f64 {
        let (cached, uncached) = (usage.cached_tokens as f64, usage.uncached_tokens as f64);
        (self.cache_read * cached + self.cache_write * uncached) / 1e6
    }
}

impl From<Prices> for ModelPrices {
    fn from(prices: Prices) -> Self {
        Self {
            input: Prices::in_dollars(prices.input),
            cache_read: Prices::in_dollars(prices.cache_read),
            cache_write: Prices::in_dollars(prices.cache_write),
            as_of: prices.as_of.map(str::to_owned),
        }
    }
}

/// The models that are known by name. A name with a date, as in `gpt-4o-2024-08-06`, is found too.
///
/// ```
/// assert!(cupel_engine::models().models.iter().any(|model| model.name == "gpt-4o"));
/// ```
#[must_use]
pub fn models() -> ModelList {
    let row = |model: &Model| ModelRow {
        name: model.name.to_owned(),
        provider: model.provider.name().to_owned(),
        tokenizer: model.encoding.map_or(ESTIMATE, Encoding::name).to_owned(),
        context_window: model.context_window,
        max_output: model.max_output,
        prices: model.prices.map(ModelPrices::from),
    };
    ModelList { schema: Schema, models: Model::all().iter().map(row).collect() }
}
