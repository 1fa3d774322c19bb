//! Configuration of a gateway: a TOML file, and flags over it.

mod read;
mod value;

use std::path::PathBuf;
use std::time::Duration;

use cupel_engine::{MarkRule, Rule, Shorten, ToolMode};
use serde::Deserialize;

pub use read::{ConfigError, Source};
pub use value::{Percent, Size, Span, Tokens, parse_size, parse_span};

/// The address that is listened at if nobody says another.
pub(crate) const LISTEN: &str = "127.0.0.1:8790";

/// Configuration of a gateway.
///
/// Every field is described in `docs/gateway.md`, under the same name.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Config {
    /// Where to listen; a loopback address if absent.
    pub listen: Option<String>,
    /// Where requests go that no entry of `upstreams` takes.
    pub upstream: Option<String>,
    /// Treatment of requests that cannot be read or fitted.
    pub fail: Fail,
    /// Readers of the page.
    pub page: Access,
    /// The token of the page: `off`, or one of your own; a random one at each start if absent.
    pub page_token: Option<String>,
    /// Keeping of requests' texts in memory for the page.
    pub texts: Texts,
    /// Readers of the metrics.
    pub metrics: Access,
    /// Names that the gateway is called by, beside those of this machine.
    pub hosts: Vec<String>,
    /// Web pages that may ask it, by their origins.
    pub origins: Vec<String>,
    /// Headers that keys come in, beside those that providers use.
    pub key_headers: Vec<String>,
    /// Certificates to trust beside those of the system: a PEM file.
    pub ca: Option<PathBuf>,
    /// Most tokens of a request.
    pub max: Option<Tokens>,
    /// Most tokens of a request and its answer together.
    pub window: Option<Tokens>,
    /// Questions to local servers for their windows where none is configured.
    pub local_limits: LocalLimits,
    /// Tokens to keep free for the answer.
    pub reserve: Option<Tokens>,
    /// True if the request's own limit for its answer is lowered where the window has no room for it.
    pub cap_output: bool,
    /// Possible error of counts.
    pub margin: Option<Percent>,
    /// The policy that chooses: a name, or a file.
    pub policy: Option<String>,
    /// Tokenizer, whatever the model.
    pub tokenizer: Option<String>,
    /// Texts that may go out shorter than they came: `off`, `json` or `all`.
    pub shorten: Option<String>,
    /// Way with tools in a request that does not fit: `keep`, `shorten` or `choose`.
    pub tools: Option<String>,
    /// Standing rules: paths of files with one on each line, or the rules themselves. Every message of the system
    /// or the user that states one is kept.
    pub rules: Vec<String>,
    /// Rules that were read elsewhere.
    #[serde(skip)]
    pub(crate) rules_read: Vec<Rule>,
    /// True if requests that break rules of their provider are repaired first.
    pub repair: bool,
    /// Where the log goes: `stdout`, `stderr`, `off` or a file.
    pub log: Option<String>,
    /// True if the log may quote texts.
    pub log_texts: bool,
    /// Where requests go, by path or model; the first that matches.
    pub upstreams: Vec<UpstreamConfig>,
    /// Limits by model or key.
    pub limits: Vec<LimitConfig>,
    /// Settings of remembered conversations.
    pub sessions: SessionsConfig,
    /// Timeouts and bounds for clients and upstreams.
    pub server: ServerConfig,
    /// Where spans go.
    pub otel: Option<OtelConfig>,
}

/// Where some requests go.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct UpstreamConfig {
    /// Where they go.
    pub url: String,
    /// The paths at or below this one.
    pub path: Option<String>,
    /// The models of this name, with `*` for anything.
    pub model: Option<String>,
    /// True if `path` stands for the upstream alone, and is not sent on.
    #[serde(default)]
    pub strip: bool,
}

impl UpstreamConfig {
    /// The upstream for everything.
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), path: None, model: None, strip: false }
    }

    /// The same for what is at or below a path that stands for it alone, and is not sent on.
    #[must_use]
    pub fn below(self, path: impl Into<String>) -> Self {
        Self { path: Some(path.into()), strip: true, ..self }
    }
}

/// Limits for some requests.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LimitConfig {
    /// The models of this name, with `*` for anything.
    pub model: Option<String>,
    /// The key, as `sha256:` and hexadecimal digits.
    pub key: Option<String>,
    /// The variable of the environment that has the key.
    pub key_env: Option<String>,
    /// Most tokens of a request.
    pub max: Option<Tokens>,
    /// Most tokens of a request and its answer together.
    pub window: Option<Tokens>,
}

/// Settings of remembered conversations.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SessionsConfig {
    /// `memory`, or the address of a Redis server.
    pub store: String,
    /// The header that names a conversation.
    pub header: String,
    /// Number that is remembered in memory.
    pub conversations: usize,
    /// Number of bytes their requests may have together.
    pub memory: Size,
    /// Time that the provider remembers.
    pub lifetime: Span,
    /// Treatment of marks for Anthropic's cache.
    pub cache_marks: MarkRule,
    /// Number of tokens that may be sent again, as a share of those that arrive.
    pub resend: Percent,
    /// Time that a Redis server may take.
    pub patience: Span,
}

impl Default for SessionsConfig {
    fn default() -> Self {
        Self {
            store: "memory".to_owned(),
            header: "x-cupel-conversation".to_owned(),
            conversations: 1_000,
            memory: Size(256_000_000),
            lifetime: Span(Duration::from_secs(300)),
            cache_marks: MarkRule::Move,
            resend: Percent(0.0),
            patience: Span(Duration::from_millis(250)),
        }
    }
}

/// Timeouts and bounds for clients and upstreams.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ServerConfig {
    /// Most bytes of a request that is fitted.
    pub body_limit: Size,
    /// Bytes of memory for all requests that are on their way; a quarter of the machine's if absent.
    pub memory: Option<Size>,
    /// Most messages and tools of a request that is fitted.
    pub messages: usize,
    /// Most bytes of a request's head.
    pub head_limit: Size,
    /// Time that a client may take for the head of a request.
    pub head_timeout: Span,
    /// Time that a client may pause in a body.
    pub body_timeout: Span,
    /// Time that a connection to an upstream may take to be made.
    pub connect_timeout: Span,
    /// Time that an upstream may take to begin its answer.
    pub answer_timeout: Span,
    /// Time that an upstream may pause in its answer.
    pub pause_timeout: Span,
    /// Time that a client may take nothing of its answer.
    pub write_timeout: Span,
    /// Time that a limit is remembered that an upstream told.
    pub learnt_lifetime: Span,
    /// Time that streams may go on when the gateway is told to stop.
    pub drain: Span,
    /// Most connections at once.
    pub connections: usize,
    /// Most connections at once from one address.
    pub client_connections: usize,
    /// Number of requests the page shows.
    pub requests: usize,
    /// Number of bytes they may have together.
    pub requests_memory: Size,
}

impl Default for ServerConfig {
    fn default() -> Self {
        let seconds = |seconds| Span(Duration::from_secs(seconds));
        Self {
            body_limit: Size(64_000_000),
            memory: None,
            messages: 20_000,
            head_limit: Size(64_000),
            head_timeout: seconds(60),
            body_timeout: seconds(30),
            connect_timeout: seconds(10),
            answer_timeout: seconds(900),
            pause_timeout: seconds(300),
            write_timeout: seconds(60),
            learnt_lifetime: seconds(3_600),
            drain: seconds(30),
            connections: 4_096,
            client_connections: 1_024,
            requests: 200,
            requests_memory: Size(64_000_000),
        }
    }
}

/// Where spans and metrics go.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct OtelConfig {
    /// The collector's address for OTLP over HTTP, as in `http://127.0.0.1:4318`.
    pub endpoint: String,
    /// Name of the service in spans.
    #[serde(default = "service")]
    pub service: String,
}

fn service() -> String {
    "cupel-gateway".to_owned()
}

/// Treatment of requests that cannot be read or fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fail {
    /// They go on as they came.
    #[default]
    Open,
    /// They are refused.
    Closed,
}

/// Keeping of requests' texts in memory for the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Texts {
    /// They are, as many as `requests` and `requests_memory` say.
    #[default]
    Keep,
    /// Never: the page shows figures alone.
    Off,
}

/// Questions to local servers for their windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LocalLimits {
    /// They are, where none is configured.
    #[default]
    Ask,
    /// Never.
    Off,
}

/// Readers of a part of the gateway itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Whoever is on this machine.
    #[default]
    Loopback,
    /// Whoever can reach it.
    Open,
    /// Nobody.
    Off,
}

/// Flags over a file, or settings under it.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// See [`Config::listen`].
    pub listen: Option<String>,
    /// See [`Config::upstream`].
    pub upstream: Option<String>,
    /// See [`Config::upstreams`]. Flags that have some have all: where the file would send a request no longer counts.
    pub upstreams: Vec<UpstreamConfig>,
    /// See [`Config::max`].
    pub max: Option<i64>,
    /// See [`Config::window`].
    pub window: Option<i64>,
    /// See [`Config::reserve`].
    pub reserve: Option<i64>,
    /// See [`Config::margin`].
    pub margin: Option<f64>,
    /// See [`Config::policy`].
    pub policy: Option<String>,
    /// See [`Config::tokenizer`].
    pub tokenizer: Option<String>,
    /// See [`Config::shorten`].
    pub shorten: Option<Shorten>,
    /// See [`Config::tools`].
    pub tools: Option<ToolMode>,
    /// See [`Config::rules`].
    pub rules: Vec<Rule>,
    /// See [`Config::log`].
    pub log: Option<String>,
    /// See [`Config::fail`].
    pub fail: Option<Fail>,
    /// See [`SessionsConfig::store`].
    pub store: Option<String>,
}

impl Config {
    /// These settings, and those of `over` where they are absent.
    pub(crate) fn under(mut self, over: &Overrides) -> Self {
        let over = over.clone();
        // A flag for one of them is an answer to both.
        if over.max.is_some() || over.window.is_some() {
            (self.max, self.window) = (None, None);
        }
        if !over.upstreams.is_empty() {
            (self.upstreams, self.upstream) = (over.upstreams, None);
        }
        self.listen = over.listen.or(self.listen);
        self.upstream = over.upstream.or(self.upstream);
        self.max = over.max.map(Tokens).or(self.max);
        self.window = over.window.map(Tokens).or(self.window);
        self.reserve = over.reserve.map(Tokens).or(self.reserve);
        self.margin = over.margin.map(Percent).or(self.margin);
        self.policy = over.policy.or(self.policy);
        self.tokenizer = over.tokenizer.or(self.tokenizer);
        self.shorten = over.shorten.map(|what| what.to_string()).or(self.shorten);
        self.tools = over.tools.map(|mode| mode.to_string()).or(self.tools);
        self.rules_read.extend(over.rules);
        self.log = over.log.or(self.log);
        self.fail = over.fail.unwrap_or(self.fail);
        self.sessions.store = over.store.unwrap_or(self.sessions.store);
        self
    }

    /// The same, with these where neither file nor flags say anything.
    pub(crate) fn over(mut self, under: &Overrides) -> Self {
        let under = under.clone();
        self.log = self.log.or(under.log);
        if self.max.is_none() && self.window.is_none() {
            self.max = under.max.map(Tokens);
        }
        self.reserve = self.reserve.or(under.reserve.map(Tokens));
        self.margin = self.margin.or(under.margin.map(Percent));
        self.policy = self.policy.or(under.policy);
        self.tokenizer = self.tokenizer.or(under.tokenizer);
        self.shorten = self.shorten.or(under.shorten.map(|what| what.to_string()));
        self.tools = self.tools.or(under.tools.map(|mode| mode.to_string()));
        // Whoever states a rule means it, wherever that is: none replaces another.
        self.rules_read.extend(under.rules);
        self
    }
}

/// A configuration of a test.
#[cfg(test)]
pub(crate) fn parse_for_tests(text: &str) -> Config {
    read::parse(std::path::Path::new("gateway.toml"), text).unwrap()
}
