//! The one model of cost: what the model's provider asks for, and what its cache has of a request.

use std::collections::BTreeMap;

use cupel_chat::{Format, Request};
use cupel_engine::{CacheRule, ModelPrices};
use cupel_tokens::{Model, Provider};
use serde::Deserialize;

/// Lifetime of a provider's cache, if nobody says otherwise: five minutes.
const LIFETIME_SECONDS: i64 = 300;

/// Price of an input token by a request's model, and the rule by which its provider has it in the cache.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Tariff {
    /// Price of a token that is in the cache, as a share of the full price.
    pub read: f64,
    /// Price of a token that is written into the cache, as a share of the full price.
    pub write: f64,
    /// Dollars for a million tokens at full price, where they are known.
    pub dollars: Option<f64>,
    /// The provider's rule of what it keeps.
    pub rule: CacheRule,
    /// Lifetime of the cache, in seconds.
    pub lifetime_seconds: i64,
}

impl Tariff {
    /// The tariff of the runs of agents, which tell no model: that of `cupel eval`.
    pub(crate) const OF_RUNS: Self = Self {
        read: 0.1,
        write: 1.25,
        dollars: None,
        rule: CacheRule::ANY_PREFIX,
        lifetime_seconds: LIFETIME_SECONDS,
    };

    /// The tariff of a request: by its model and its own prices, else by the provider whose format it is in.
    pub(crate) fn of(request: &Request, prices: Option<&ModelPrices>, own: &PriceList) -> Self {
        let name = request.model().unwrap_or_default();
        let provider = Model::find(name).ok().map(|model| model.provider);
        let format = request.format();
        let rule = match provider {
            Some(Provider::Anthropic) if is_unmarked(request) => CacheRule::None,
            Some(Provider::Anthropic) => CacheRule::ANTHROPIC,
            Some(Provider::OpenAi) => CacheRule::OPENAI,
            Some(Provider::Google) => CacheRule::GEMINI,
            _ if format == Format::Anthropic && is_unmarked(request) => CacheRule::None,
            _ => CacheRule::of(format),
        };
        let (read, write) = match rule {
            CacheRule::Marks { .. } => (0.1, 1.25),
            // Nothing is written into a cache that is not used.
            CacheRule::None => (1.0, 1.0),
            _ => (0.1, 1.0),
        };
        let mut tariff =
            Self { read, write, dollars: None, rule, lifetime_seconds: LIFETIME_SECONDS };
        if let Some(own) = own.find(name) {
            return own.tariff(tariff);
        }
        if let Some(prices) = prices.filter(|prices| prices.input > 0.0) {
            tariff.dollars = Some(prices.input);
            if rule != CacheRule::None {
                tariff.read = prices.cache_read / prices.input;
                tariff.write = prices.cache_write / prices.input;
            }
        }
        tariff
    }

    /// Cost of so many tokens, in tokens at full price. The `uncached` ones stand behind the common
    /// beginning with what was sent before; of what stands before them the provider has as much as its rule
    /// says, and nothing if the cache `is_cold`.
    pub(crate) fn cost(&self, tokens: i64, uncached: i64, is_cold: bool) -> f64 {
        let shared = tokens.saturating_sub(uncached);
        let cached = if is_cold { 0 } else { self.rule.kept_tokens(shared) };
        self.read * cached as f64 + self.write * tokens.saturating_sub(cached) as f64
    }

    /// Returns true if the cache has forgotten what was sent so many microseconds ago.
    pub(crate) fn is_cold_after(&self, micros: i64) -> bool {
        micros >= self.lifetime_seconds.saturating_mul(1_000_000)
    }
}

/// Returns true if a client of Anthropic set no mark: then its provider keeps nothing. Other formats do not tell.
fn is_unmarked(request: &Request) -> bool {
    let marks = request.cache_marks();
    request.format() == Format::Anthropic && !marks.in_head && marks.behind.is_empty()
}

/// Prices of a model that somebody gives, in US dollars for a million tokens.
///
/// ```
/// use cupel_replay::PriceList;
///
/// let prices: PriceList = serde_json::from_str(
///     r#"{"my-model": {"input": 2.0, "cache_read": 0.5, "cache_minutes": 60}}"#,
/// )?;
/// assert!(serde_json::from_str::<PriceList>(r#"{"my-model": {"output": 2.0}}"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(transparent)]
pub struct PriceList {
    models: BTreeMap<String, OwnPrice>,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnPrice {
    /// Of tokens that no cache has.
    input: f64,
    /// Of tokens that the cache has; the same as others if absent.
    cache_read: Option<f64>,
    /// Of tokens that are written into the cache; the same as others if absent.
    cache_write: Option<f64>,
    /// Minutes that the provider keeps them.
    cache_minutes: Option<f64>,
    /// The least that it keeps.
    cache_least_tokens: Option<i64>,
}

impl PriceList {
    /// The prices of a model: those of its name, or of the longest name that it begins with.
    fn find(&self, model: &str) -> Option<&OwnPrice> {
        let model = model.rsplit('/').next().unwrap_or(model);
        let named = self.models.iter().filter(|(name, _)| model.starts_with(&***name));
        named.max_by_key(|(name, _)| name.len()).map(|(_, price)| price)
    }

    /// Problem of the prices, if there is one.
    pub fn problem(&self) -> Option<String> {
        self.models.iter().find_map(|(name, price)| {
            let all = [Some(price.input), price.cache_read, price.cache_write, price.cache_minutes];
            let is_bad =
                all.into_iter().flatten().any(|number| !number.is_finite() || number < 0.0);
            is_bad.then(|| format!("{name}: a price is not a number of dollars of 0 or more"))
        })
    }
}

impl OwnPrice {
    fn tariff(&self, usual: Tariff) -> Tariff {
        let share = |price: Option<f64>| match price {
            Some(price) if self.input > 0.0 => price / self.input,
            Some(_) => 0.0,
            None => 1.0,
        };
        let rule = match (self.cache_read, self.cache_least_tokens, usual.rule) {
            (None, ..) => CacheRule::None,
            (_, Some(least_tokens), CacheRule::Marks { blocks_back, .. }) => {
                CacheRule::Marks { blocks_back, least_tokens }
            }
            (_, Some(least_tokens), _) => CacheRule::Prefix { least_tokens, step_tokens: 1 },
            (_, None, rule) => rule,
        };
        Tariff {
            read: share(self.cache_read),
            write: if rule == CacheRule::None { 1.0 } else { share(self.cache_write) },
            dollars: Some(self.input),
            rule,
            lifetime_seconds: self
                .cache_minutes
                .map_or(usual.lifetime_seconds, |minutes| (minutes * 60.0) as i64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tariff(body: &str, own: &PriceList) -> Tariff {
        let request = Request::parse(body, None).unwrap();
        let prices = Model::find(request.model().unwrap_or_default()).ok();
        let prices = prices.and_then(|model| model.prices).map(ModelPrices::from);
        Tariff::of(&request, prices.as_ref(), own)
    }

    const CHAT: &str = r#"{"model":"gpt-4.1","messages":[{"role":"user","content":"x"}]}"#;

    #[test]
    fn a_prefix_below_the_providers_minimum_is_not_cached() {
        let tariff = tariff(CHAT, &PriceList::default());
        assert_eq!(tariff.dollars, Some(2.0));
        assert!((tariff.cost(1_500, 500, false) - 1_500.0).abs() < 1e-9, "1,000 is no prefix");
        // Of 2,000 tokens 1,920 are kept, in steps of 128, at a quarter of the price.
        assert!((tariff.cost(2_500, 500, false) - (480.0 + 580.0)).abs() < 1e-9);
        assert!((tariff.cost(2_500, 500, true) - 2_500.0).abs() < 1e-9, "the cache is cold");
        assert!(tariff.is_cold_after(300_000_000) && !tariff.is_cold_after(299_999_999));
    }

    #[test]
    fn a_client_of_anthropic_that_sets_no_mark_has_nothing_cached() {
        let body = |mark: &str| {
            format!(
                r#"{{"model":"claude-sonnet-4-5","max_tokens":9,"system":[{{"type":"text","text":"s"{mark}}}],"messages":[{{"role":"user","content":"x"}}]}}"#
            )
        };
        let none = PriceList::default();
        let unmarked = tariff(&body(""), &none);
        assert!((unmarked.cost(5_000, 1_000, false) - 5_000.0).abs() < 1e-9);
        let marked = tariff(&body(r#","cache_control":{"type":"ephemeral"}"#), &none);
        assert!((marked.cost(5_000, 1_000, false) - (400.0 + 1_250.0)).abs() < 1e-9);
    }

    #[test]
    fn own_prices_are_found_by_the_longest_name_that_a_model_begins_with() {
        let own: PriceList = serde_json::from_str(
            r#"{"gpt":{"input":9.0},"gpt-4":{"input":4.0,"cache_read":1.0,"cache_minutes":60,"cache_least_tokens":10}}"#,
        )
        .unwrap();
        let tariff = tariff(CHAT, &own);
        assert_eq!((tariff.dollars, tariff.read, tariff.write), (Some(4.0), 0.25, 1.0));
        assert_eq!(tariff.lifetime_seconds, 3_600);
        assert!((tariff.cost(100, 50, false) - 62.5).abs() < 1e-9);
        assert_eq!(own.problem(), None);
        let bad: PriceList = serde_json::from_str(r#"{"m":{"input":-1.0}}"#).unwrap();
        assert!(bad.problem().unwrap().starts_with("m: a price"));
    }
}
