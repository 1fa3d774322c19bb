//! State of a session: numbers and fingerprints, no texts.

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::{Serialize, Serializer};

use super::CacheEntry;
use crate::schema::named_form;
use crate::{EngineError, ErrorCode, SentTool};

/// State of a session between steps: small, without a text, to be written down and read
/// again.
///
/// ```
/// use cupel_engine::{Engine, SessionState};
///
/// let engine = Engine::builder().max_tokens(1_000).tokenizer("estimate").build()?;
/// let mut session = engine.session();
/// session.next(r#"[{"role": "user", "content": "Hello!"}]"#)?;
/// session.accept();
///
/// let written = session.state().map(SessionState::to_json).unwrap();
/// assert!(!written.contains("Hello"));
/// let again = engine.resume(SessionState::from_json(&written)?);
/// assert_eq!(again.state(), session.state());
/// # Ok::<(), cupel_engine::EngineError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SessionState {
    /// `cupel-session/1`.
    pub schema: SessionSchema,
    /// The format of the requests.
    pub format: String,
    /// The model that they were counted for, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Fingerprint of the text beside the messages: system prompt, tools.
    pub head: Fingerprint,
    /// The tools that were sent, in this order, where they were not all sent as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<SentTool>,
    /// Every message of the last request.
    pub messages: Vec<Fingerprint>,
    /// The messages that were sent of it, by index, in the order written.
    pub window: Vec<usize>,
    /// Those of them that were sent shorter than they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shortened: Vec<SentShorter>,
    /// Beginnings of the window that the provider keeps, where it goes by marks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cache_entries: Vec<CacheEntry>,
    /// When it was sent, in seconds since 1970, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_at: Option<u64>,
    /// Tokens that may be sent again. Below 0 where messages that must be in had to be sent again beyond
    /// that.
    pub credit: i64,
    /// Steps that were accepted.
    pub steps: u64,
    /// Tokens since the account began: see [`Account`].
    pub account: Account,
    /// Tokens of the whole session.
    pub totals: Totals,
}

/// A message that was sent shorter than it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SentShorter {
    /// Its index.
    pub message: usize,
    /// The [handle](crate::handle) of the message as it was sent.
    pub hash: String,
}

/// Tokens since the account began: with the first step, or when the provider's cache was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Account {
    /// Tokens before all messages.
    pub head_tokens: i64,
    /// Tokens that arrived.
    pub arrived_tokens: i64,
    /// Tokens that were not in the provider's cache.
    pub uncached_tokens: i64,
    /// Tokens that must be in, and had to be sent again beyond the credit.
    pub overdrawn_tokens: i64,
}

/// Tokens of the whole session, and what other ways to send it would have come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Totals {
    /// Tokens that were sent.
    pub sent: Usage,
    /// If everything had been sent.
    pub everything: Usage,
    /// If the newest messages that fit had been sent.
    pub newest_first: Usage,
    /// The first message that newest first would have sent, head aside.
    pub newest_from: usize,
}

/// Tokens that were sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Usage {
    /// In the provider's cache.
    pub cached_tokens: i64,
    /// Not in it.
    pub uncached_tokens: i64,
}

impl Usage {
    /// So many of each.
    #[must_use]
    pub fn new(cached_tokens: i64, uncached_tokens: i64) -> Self {
        Self { cached_tokens, uncached_tokens }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
        self.uncached_tokens = self.uncached_tokens.saturating_add(other.uncached_tokens);
    }

    /// All of them.
    #[must_use]
    pub fn tokens(self) -> i64 {
        self.cached_tokens.saturating_add(self.uncached_tokens)
    }
}

impl SessionState {
    /// As JSON, on one line.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads what [`to_json`](Self::to_json) wrote.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::InvalidState`] if it is not that, or of another version. Whoever can do without
    /// the state begins a new session then.
    pub fn from_json(text: &str) -> Result<Self, EngineError> {
        let state: Self = serde_json::from_str(text)
            .map_err(|error| remedied(EngineError::of_json(ErrorCode::InvalidState, &error)))?;
        let count = state.messages.len();
        let rises = state.window.is_sorted_by(|a, b| a < b);
        if let Some(index) = state.window.iter().find(|index| **index >= count) {
            let rule = format!("there are {count} messages, but the window has message {index}");
            return Err(invalid(rule).at_path("window"));
        }
        if !rises && !state.format.starts_with("items") {
            return Err(invalid("must rise".to_owned()).at_path("window"));
        }
        Ok(state)
    }
}

fn invalid(rule: String) -> EngineError {
    remedied(EngineError::new(ErrorCode::InvalidState, rule))
}

fn remedied(error: EngineError) -> EngineError {
    error.with_remedy("give the state that a session wrote, or begin a new one")
}

/// The name of the form of a session's state, now `cupel-session/1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SessionSchema;

named_form!(SessionSchema, "cupel-session/1");

/// Fingerprint of a message, which recognizes it without its text: 16 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fingerprint(pub u64);

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:016x}", self.0))
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let digits = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        let is_written_so = digits.len() == 16 && digits.bytes().all(|b| b.is_ascii_hexdigit());
        let number = is_written_so.then(|| u64::from_str_radix(&digits, 16).ok()).flatten();
        let wrong = || D::Error::custom(format!("`{digits}` is not 16 hexadecimal digits"));
        number.map(Self).ok_or_else(wrong)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Fingerprint {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Fingerprint".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^[0-9a-f]{16}$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written() -> String {
        let state = SessionState {
            format: "openai-chat".to_owned(),
            messages: vec![Fingerprint(1), Fingerprint(u64::MAX)],
            window: vec![1],
            ..SessionState::default()
        };
        state.to_json()
    }

    #[test]
    fn a_state_is_read_as_it_was_written() {
        let state = SessionState::from_json(&written()).unwrap();
        assert_eq!(state.to_json(), written());
        assert!(written().starts_with(r#"{"schema":"cupel-session/1","#));
        assert!(written().contains(r#"["0000000000000001","ffffffffffffffff"]"#));
    }

    #[test]
    fn what_is_no_state_or_of_another_version_is_refused() {
        for (from, to, rule) in [
            ("cupel-session/1", "cupel-session/2", "schema `cupel-session/2` is not known"),
            ("0000000000000001", "1", "`1` is not 16 hexadecimal digits"),
            (
                "\"window\":[1]",
                "\"window\":[2]",
                "there are 2 messages, but the window has message 2",
            ),
            ("\"window\":[1]", "\"window\":[1,0]", "must rise"),
            ("\"window\":[1]", "\"window\":[1,1]", "must rise"),
            ("\"steps\"", "\"stesp\"", "unknown field `stesp`"),
            ("\"credit\":0", "\"credit\":\"x\"", "invalid type: string \"x\""),
        ] {
            assert!(written().contains(from), "{from}");
            let error = SessionState::from_json(&written().replace(from, to)).unwrap_err();
            assert_eq!(error.code(), ErrorCode::InvalidState);
            assert!(error.rule().starts_with(rule), "{error}");
        }
        let half = &written()[..40];
        assert_eq!(SessionState::from_json(half).unwrap_err().code(), ErrorCode::InvalidState);
    }

    #[test]
    fn a_window_of_messages_rises_and_one_of_items_need_not() {
        let read = |window: &str| {
            let text = written().replace("\"window\":[1]", &format!("\"window\":{window}"));
            SessionState::from_json(&text).map(|state| state.window).ok()
        };
        assert_eq!(read("[0,1]"), Some(vec![0, 1]));
        assert_eq!(read("[]"), Some(vec![]));
        let items = written().replace("openai-chat", "items").replace("[1]", "[1,0]");
        assert_eq!(SessionState::from_json(&items).unwrap().window, [1, 0]);
    }

    #[test]
    fn usage_adds_up_and_never_wraps() {
        let mut usage = Usage::new(1, 2);
        usage.add(Usage::new(10, 20));
        assert_eq!((usage, usage.tokens()), (Usage::new(11, 22), 33));
        assert_eq!(Usage::new(i64::MAX, 1).tokens(), i64::MAX);
    }
}
