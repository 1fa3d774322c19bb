//! Limits: as configured, as the model takes, as an upstream said.

use cupel_engine::Limits;
use cupel_tokens::Model;

use crate::config::{Config, ConfigError, LimitConfig};
use crate::learnt::LearntWindow;
use crate::measure::Measure;
use crate::{glob, hash};

/// Tokens that are kept free for the answer if neither request nor configuration set them.
const RESERVE: i64 = 4_096;

/// The share of a window that is kept free for the answer at most, unless the configuration names a
/// reserve: one part of so many. Agents ask for 32,000 to 128,000 tokens and use a few hundred, so that
/// their own limit would leave nothing of a small window.
const RESERVE_SHARE: i64 = 4;

/// One limit as it is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limit {
    /// Of a request.
    Max(i64),
    /// Of a request and its answer.
    Window(i64),
}

impl Limit {
    fn read(
        place: &str,
        max: Option<i64>,
        window: Option<i64>,
    ) -> Result<Option<Self>, ConfigError> {
        let limit = match (max, window) {
            (None, None) => return Ok(None),
            (Some(max), None) => Self::Max(max),
            (None, Some(window)) => Self::Window(window),
            (Some(_), Some(_)) => {
                let text = format!("{place}: max and window are both set; give one of them");
                return Err(ConfigError::new(text));
            }
        };
        let (Self::Max(tokens) | Self::Window(tokens)) = limit;
        if tokens <= 0 {
            return Err(ConfigError::new(format!("{place}: must be above 0 tokens, got {tokens}")));
        }
        Ok(Some(limit))
    }

    fn room(self, reserve: Option<i64>, output: Option<i64>) -> Room {
        match self {
            Self::Max(max) => Room { max, reserve: reserve.unwrap_or(0), is_window: false },
            Self::Window(window) => Room::of_window(window, reserve, output.unwrap_or(RESERVE)),
        }
    }
}

/// A limit, and what of it is the answer's.
#[derive(Debug, Clone, Copy)]
struct Room {
    max: i64,
    reserve: i64,
    /// True if the answer counts against `max`.
    is_window: bool,
}

impl Room {
    /// The reserve is as configured, or what the answer may take within its share of the window.
    fn of_window(window: i64, reserve: Option<i64>, output: i64) -> Self {
        let reserve = reserve.unwrap_or(output.min(window / RESERVE_SHARE)).clamp(0, window);
        Self { max: window, reserve, is_window: true }
    }

    /// The same room in tokens as they are counted here.
    fn measured(self, measure: Option<Measure>) -> Self {
        let Some(measure) = measure else { return self };
        let max = measure.room(self.tokens()).saturating_add(self.reserve);
        Self { max, ..self }
    }

    fn tokens(self) -> i64 {
        self.max.saturating_sub(self.reserve)
    }
}

/// Limits of one request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestLimits {
    /// As the engine takes them.
    pub(crate) limits: Limits,
    /// True if the reserve may be less, so that what must be kept fits: nobody configured it.
    pub(crate) reserve_yields: bool,
    /// The window of request and answer together, where the limit is one.
    pub(crate) window: Option<i64>,
}

/// Everything that is configured about limits.
#[derive(Debug)]
pub(crate) struct LimitTable {
    everywhere: Option<Limit>,
    by_model: Vec<(String, Limit)>,
    by_key: Vec<KeyLimit>,
    reserve: Option<i64>,
    margin_percent: Option<f64>,
    cap_output: bool,
}

#[derive(Debug)]
struct KeyLimit {
    /// Hexadecimal digits of the key's SHA-256.
    key: String,
    model: Option<String>,
    limit: Limit,
}

/// Fields of a request that a limit may depend on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sender<'a> {
    /// The model.
    pub(crate) model: Option<&'a str>,
    /// Hashes of all keys that it came with.
    pub(crate) keys: &'a [String],
    /// Its own limit for the answer.
    pub(crate) output: Option<i64>,
    /// The window that it is served with, if request or server say so.
    pub(crate) served: Option<i64>,
}

impl LimitTable {
    pub(crate) fn read(config: &Config) -> Result<Self, ConfigError> {
        let tokens = |tokens: Option<crate::config::Tokens>| tokens.map(|tokens| tokens.0);
        let mut table = Self {
            everywhere: Limit::read("max", tokens(config.max), tokens(config.window))?,
            by_model: Vec::new(),
            by_key: Vec::new(),
            reserve: tokens(config.reserve),
            margin_percent: config.margin.map(|margin| margin.0),
            cap_output: config.cap_output,
        };
        for (at, entry) in config.limits.iter().enumerate() {
            let place = format!("limits[{at}]");
            let limit = Limit::read(&place, tokens(entry.max), tokens(entry.window))?;
            let limit = limit.ok_or_else(|| {
                ConfigError::new(format!("{place}: sets nothing; give max or window"))
            })?;
            match (key_of(&place, entry)?, &entry.model) {
                (Some(key), model) => {
                    table.by_key.push(KeyLimit { key, model: model.clone(), limit });
                }
                (None, Some(model)) => table.by_model.push((model.clone(), limit)),
                (None, None) => {
                    let text = format!("{place}: matches nothing; set `model`, `key` or `key_env`");
                    return Err(ConfigError::new(text));
                }
            }
        }
        Ok(table)
    }

    /// Limits that are configured for a model, or for everything.
    fn configured(&self, model: Option<&str>) -> Option<Limit> {
        let of_model = self.by_model.iter().find(|(pattern, _)| is_named(model, pattern));
        of_model.map(|(_, limit)| *limit).or(self.everywhere)
    }

    /// Returns true if anybody configured how much fits for a model: then its server is not asked.
    pub(crate) fn is_configured(&self, model: Option<&str>) -> bool {
        self.configured(model).is_some()
    }

    /// The least of what holds for a request. `learnt` is the window that the upstream told.
    pub(crate) fn of(&self, sender: Sender<'_>, learnt: Option<LearntWindow>) -> RequestLimits {
        self.measured(sender, learnt, None)
    }

    /// The same in tokens as they are counted here, where it is known what they are to the provider. A
    /// margin for estimates is not needed then. What was learnt is in such tokens already.
    pub(crate) fn measured(
        &self,
        sender: Sender<'_>,
        learnt: Option<LearntWindow>,
        measure: Option<Measure>,
    ) -> RequestLimits {
        let room = |limit: Limit| limit.room(self.reserve, sender.output);
        let is_model = |pattern: &str| is_named(sender.model, pattern);
        let known = sender.model.and_then(|name| Model::find(name).ok());
        let of_table = known.map(|model| {
            let output = sender.output.unwrap_or(RESERVE.min(model.max_output));
            Room::of_window(model.context_window, self.reserve, output)
        });
        let of_server = sender
            .served
            .map(|window| Room::of_window(window, self.reserve, sender.output.unwrap_or(RESERVE)));
        let configured = self.configured(sender.model).map(room);
        let base = configured.or(of_server).or(of_table);
        let of_key = self.by_key.iter().filter(|entry| {
            sender.keys.contains(&entry.key) && entry.model.as_deref().is_none_or(is_model)
        });
        let of_upstream = learnt.map(|LearntWindow { tokens, counts_answer }| {
            match (counts_answer, sender.output) {
                (false, _) => Room { max: tokens, reserve: 0, is_window: false },
                // It refuses whatever asks for more, so that the share of an answer does not bound it.
                (true, Some(output)) if !self.cap_output => {
                    Room { max: tokens, reserve: output.clamp(0, tokens), is_window: true }
                }
                (true, output) => Room::of_window(tokens, self.reserve, output.unwrap_or(RESERVE)),
            }
        });
        let told = base.into_iter().chain(of_key.map(|entry| room(entry.limit)));
        let told = told.map(|room| (room.measured(measure), measure.is_some()));
        let all = told.chain(of_upstream.map(|room| (room, false)));
        let least = all.min_by_key(|(room, _)| room.tokens());
        let mut limits = Limits::default();
        let is_measured = least.is_some_and(|(_, is_measured)| is_measured);
        limits.margin_percent = self.margin_percent.or(is_measured.then_some(0.0));
        let least = least.map(|(room, _)| room);
        if let Some(Room { max, reserve, .. }) = least {
            (limits.max, limits.reserve) = (Some(max), Some(reserve));
        }
        RequestLimits {
            limits,
            reserve_yields: self.reserve.is_none(),
            window: least.filter(|room| room.is_window).map(|room| room.max),
        }
    }
}

fn is_named(model: Option<&str>, pattern: &str) -> bool {
    model.is_some_and(|name| glob::matches(pattern, name))
}

fn key_of(place: &str, entry: &LimitConfig) -> Result<Option<String>, ConfigError> {
    let wrong = |text: String| Err(ConfigError::new(format!("{place}: {text}")));
    match (&entry.key, &entry.key_env) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) => wrong("key and key_env are both set; give one of them".to_owned()),
        (Some(key), None) => {
            let digits = key.strip_prefix("sha256:").unwrap_or_default().to_ascii_lowercase();
            if digits.len() != 64 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                let text = "key: must be `sha256:` and 64 hexadecimal digits; a key itself is best \
                            kept in a variable that key_env names";
                return wrong(text.to_owned());
            }
            Ok(Some(digits))
        }
        (None, Some(name)) => match std::env::var(name) {
            Ok(key) if !key.is_empty() => Ok(Some(hash::sha256(key.as_bytes()))),
            _ => wrong(format!("key_env: the variable `{name}` is not set")),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse_for_tests;

    const ANYBODY: Sender<'_> = Sender { model: None, keys: &[], output: None, served: None };

    #[test]
    fn a_server_says_what_fits_unless_the_configuration_does() {
        let of = |config: &str, model, served| {
            let table = LimitTable::read(&parse_for_tests(config)).unwrap();
            room(table.of(Sender { model, served, output: Some(1_000), ..ANYBODY }, None).limits)
        };
        assert_eq!(of("", Some("gpt-4o"), Some(8_000)), Some(7_000));
        assert_eq!(of("", None, Some(8_000)), Some(7_000));
        assert_eq!(of("max = '9k'", None, Some(8_000)), Some(9_000));
        let table =
            LimitTable::read(&parse_for_tests("[[limits]]\nmodel = 'q*'\nmax = 5")).unwrap();
        assert!(table.is_configured(Some("qwen")) && !table.is_configured(Some("llama")));
        assert!(!table.is_configured(None));
    }

    fn limits(config: &str, model: Option<&str>, keys: &[String], output: Option<i64>) -> Limits {
        let table = LimitTable::read(&parse_for_tests(config)).unwrap();
        table.of(Sender { model, keys, output, served: None }, None).limits
    }

    fn room(limits: Limits) -> Option<i64> {
        limits.max.map(|max| max - limits.reserve.unwrap_or(0))
    }

    #[test]
    fn the_model_says_it_unless_the_configuration_does() {
        assert_eq!(room(limits("", Some("gpt-4o"), &[], Some(1_000))), Some(127_000));
        assert_eq!(room(limits("", Some("eliza"), &[], None)), None);
        assert_eq!(room(limits("max = '8k'", Some("gpt-4o"), &[], Some(1_000))), Some(8_000));
        assert_eq!(room(limits("window = '8k'", Some("gpt-4o"), &[], Some(1_000))), Some(7_000));
        assert_eq!(room(limits("window = '8k'", None, &[], None)), Some(6_000));
        let by_model = "max = 10\n[[limits]]\nmodel = 'gpt-*'\nmax = 50";
        assert_eq!(room(limits(by_model, Some("gpt-4o"), &[], None)), Some(50));
        assert_eq!(room(limits(by_model, Some("eliza"), &[], None)), Some(10));
    }

    #[test]
    fn an_answer_gets_a_quarter_of_the_window_at_most_unless_a_reserve_is_configured() {
        for (config, output, expected) in [
            ("window = '32k'", Some(32_000), 24_000),
            ("window = '32k'", Some(8_000), 24_000),
            ("window = '32k'", Some(7_999), 24_001),
            ("window = '8k'", None, 6_000),
            ("window = '200k'", None, 200_000 - RESERVE),
            ("window = '32k'\nreserve = '20k'", Some(32_000), 12_000),
            ("window = '32k'\nreserve = '40k'", None, 0),
            ("max = '32k'", Some(32_000), 32_000),
        ] {
            assert_eq!(room(limits(config, None, &[], output)), Some(expected), "{config}");
        }
        // 200,000 tokens, of which it writes 64,000 at most.
        let of_model = |output| room(limits("", Some("claude-sonnet-4-5"), &[], output));
        assert_eq!(of_model(Some(64_000)), Some(150_000));
        assert_eq!(of_model(None), Some(200_000 - RESERVE));
    }

    #[test]
    fn a_reserve_yields_unless_it_is_configured_and_a_window_is_known_as_one() {
        let of = |config: &str, learnt| {
            let table = LimitTable::read(&parse_for_tests(config)).unwrap();
            let found = table.of(ANYBODY, learnt);
            (found.reserve_yields, found.window)
        };
        assert_eq!(of("window = '8k'", None), (true, Some(8_000)));
        assert_eq!(of("window = '8k'\nreserve = 5", None), (false, Some(8_000)));
        assert_eq!(of("max = '8k'", None), (true, None));
        let learnt = LearntWindow { tokens: 10, counts_answer: false };
        assert_eq!(of("window = '8k'", Some(learnt)), (true, None), "of a request alone");
    }

    #[test]
    fn whatever_keys_come_the_least_limit_holds() {
        let (one, two) = (hash::sha256(b"one"), hash::sha256(b"two"));
        let config = format!(
            "max = 100\n[[limits]]\nkey = 'sha256:{one}'\nmax = 40\n\
             [[limits]]\nkey = 'sha256:{two}'\nmax = 500\n"
        );
        let of = |keys: &[String]| room(limits(&config, None, keys, None));
        assert_eq!(of(&[]), Some(100));
        assert_eq!(of(std::slice::from_ref(&two)), Some(100));
        assert_eq!(of(&[two, one]), Some(40));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (config, text) in [
            ("max = 1\nwindow = 2", "max: max and window are both set; give one of them"),
            ("max = 0", "max: must be above 0 tokens, got 0"),
            ("[[limits]]\nmodel = 'm'", "limits[0]: sets nothing; give max or window"),
            ("[[limits]]\nmax = 5", "limits[0]: matches nothing; set `model`, `key` or `key_env`"),
        ] {
            let error = LimitTable::read(&parse_for_tests(config)).unwrap_err();
            assert_eq!(error.to_string(), text);
        }
        let plain = parse_for_tests("[[limits]]\nkey = 'sk-1'\nmax = 5");
        let error = LimitTable::read(&plain).unwrap_err().to_string();
        assert!(error.starts_with("limits[0]: key: must be `sha256:`"), "{error}");
        assert!(!error.contains("sk-1"));
    }

    #[test]
    fn what_is_learnt_lowers_a_limit() {
        let table = LimitTable::read(&parse_for_tests("max = 100")).unwrap();
        let sender = ANYBODY;
        let of = |tokens| {
            table.of(sender, Some(LearntWindow { tokens, counts_answer: false })).limits.max
        };
        assert_eq!((of(60), of(160)), (Some(60), Some(100)));
    }

    #[test]
    fn an_upstream_that_counts_the_answer_gets_it_whole_unless_it_may_be_lowered() {
        let learnt = Some(LearntWindow { tokens: 32_000, counts_answer: true });
        let of = |config: &str, output| {
            let table = LimitTable::read(&parse_for_tests(config)).unwrap();
            room(table.of(Sender { output, ..ANYBODY }, learnt).limits)
        };
        assert_eq!(of("", Some(20_000)), Some(12_000));
        assert_eq!(of("", Some(90_000)), Some(0));
        assert_eq!(of("", None), Some(32_000 - RESERVE));
        assert_eq!(of("cap_output = true", Some(20_000)), Some(24_000));
        assert_eq!(of("reserve = 1000", None), Some(31_000));
    }

    #[test]
    fn a_key_may_stand_in_a_variable() {
        // Every process has this one.
        let path = std::env::var("PATH").unwrap();
        let keys = [hash::sha256(path.as_bytes())];
        let config = "max = 100\n[[limits]]\nkey_env = 'PATH'\nmax = 40";
        assert_eq!(room(limits(config, None, &keys, None)), Some(40));
        assert_eq!(room(limits(config, None, &[], None)), Some(100));
        let unset = parse_for_tests("[[limits]]\nkey_env = 'CUPEL_NO_SUCH_KEY'\nmax = 40");
        let error = LimitTable::read(&unset).unwrap_err().to_string();
        let rule = "key_env: the variable `CUPEL_NO_SUCH_KEY` is not set";
        assert_eq!(error, format!("limits[0]: {rule}"));
    }

    #[test]
    fn the_least_limit_is_the_one_with_the_least_room() {
        let key = hash::sha256(b"one");
        let config = format!("window = 8000\n[[limits]]\nkey = 'sha256:{key}'\nmax = 4000\n");
        let of = |output| {
            let limits = limits(&config, None, std::slice::from_ref(&key), Some(output));
            (limits.max, limits.reserve)
        };
        assert_eq!(of(5_000), (Some(4_000), Some(0)), "6000 of the window are left");
        let config = config.replace("8000", "5000");
        let limits = limits(&config, None, std::slice::from_ref(&key), Some(5_000));
        assert_eq!((limits.max, limits.reserve), (Some(5_000), Some(1_250)), "3750 are left");
    }
}
