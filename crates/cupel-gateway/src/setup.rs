//! A configuration, made ready to work by: replaced as a whole at a reload.

use std::net::SocketAddr;
use std::sync::Arc;

use cupel_engine::{Engine, NamedPolicy, Rule, SessionSettings, Shorten, ToolMode};

use crate::api::Api;
use crate::config::{Config, ConfigError, Fail};
use crate::guard::Guard;
use crate::limit::LimitTable;
use crate::path::Path;
use crate::upstream::{self, Sender, Upstream};

/// A configuration, made ready to work by.
pub(crate) struct Setup {
    /// Configuration that it was made of.
    pub(crate) config: Config,
    /// Limits.
    pub(crate) limits: LimitTable,
    /// Guard against foreign requests.
    pub(crate) guard: Guard,
    /// Client that sends requests.
    pub(crate) sender: Sender,
    /// Settings of sessions.
    pub(crate) sessions: SessionSettings,
    /// Another one for each configuration: sessions of an older one have older engines.
    pub(crate) generation: u64,
    /// One for each API, in the order of [`Api::ALL`].
    engines: Vec<Engine>,
    upstreams: Vec<Arc<Upstream>>,
}

impl Setup {
    pub(crate) fn new(config: Config, generation: u64) -> Result<Self, ConfigError> {
        let upstreams = Upstream::read_all(&config)?;
        let is_secure = upstreams.iter().any(|upstream| upstream.name.starts_with("https"));
        let mut sessions = SessionSettings::default();
        sessions.cache_lifetime = config.sessions.lifetime.0;
        sessions.cache_marks = config.sessions.cache_marks;
        sessions.resend_share = config.sessions.resend.0 / 100.0;
        Ok(Self {
            limits: LimitTable::read(&config)?,
            guard: Guard::new(&config)?,
            sender: upstream::sender(&config, is_secure)?,
            sessions,
            generation,
            engines: Api::ALL
                .into_iter()
                .map(|api| engine(&config, api))
                .collect::<Result<_, _>>()?,
            upstreams: upstreams.into_iter().map(Arc::new).collect(),
            config,
        })
    }

    /// The engine for the requests of an API.
    pub(crate) fn engine(&self, api: Api) -> &Engine {
        &self.engines[api as usize]
    }

    /// Refuses an upstream that is this gateway, as far as its address tells; requests tell the rest.
    pub(crate) fn check_loops(&self, local: SocketAddr) -> Result<(), ConfigError> {
        match self.upstreams.iter().find(|upstream| upstream.is_at(local)) {
            None => Ok(()),
            Some(upstream) => {
                let name = &upstream.name;
                let text = format!("upstream: `{name}`: is the gateway itself; name its provider");
                Err(ConfigError::new(text))
            }
        }
    }

    /// Everywhere that requests go.
    pub(crate) fn upstreams(&self) -> &[Arc<Upstream>] {
        &self.upstreams
    }

    /// Where a request goes, if anywhere.
    pub(crate) fn upstream(&self, path: &Path, model: Option<&str>) -> Option<&Arc<Upstream>> {
        self.upstreams.iter().find(|upstream| upstream.takes(path, model))
    }
}

fn engine(config: &Config, api: Api) -> Result<Engine, ConfigError> {
    // What an upstream itself answered without thinking, it will take without.
    let lacks_thinking = config.fail == Fail::Open;
    let mut builder = Engine::builder().format(api.format()).repair(config.repair);
    builder = builder.lacks_thinking(lacks_thinking);
    if let Some(policy) = &config.policy {
        builder = builder.named_policy(policy_of(policy)?);
    }
    if let Some(tokenizer) = &config.tokenizer {
        builder = builder.tokenizer(tokenizer.as_str());
    }
    if let Some(shorten) = &config.shorten {
        let what: Shorten = shorten
            .parse()
            .map_err(|error| ConfigError::new(format!("shorten: `{shorten}`: {error}")))?;
        builder = builder.shorten(what);
    }
    if let Some(tools) = &config.tools {
        let mode: ToolMode = tools
            .parse()
            .map_err(|error| ConfigError::new(format!("tools: `{tools}`: {error}")))?;
        builder = builder.tools(mode);
    }
    for named in &config.rules {
        builder = builder.rules(rules_of(named)?);
    }
    builder = builder.rules(config.rules_read.iter().cloned());
    builder.build().map_err(|error| ConfigError::new(error.message()))
}

/// The rules of a file, or a rule itself.
fn rules_of(named: &str) -> Result<Vec<Rule>, ConfigError> {
    let wrong = |problem: String| ConfigError::new(format!("rules: {named}: {problem}"));
    let rules: Vec<Rule> = if std::path::Path::new(named).is_file() {
        let text = std::fs::read_to_string(named).map_err(|error| wrong(error.to_string()))?;
        Rule::lines(&text).collect()
    } else {
        Rule::lines(named).collect()
    };
    if rules.is_empty() {
        return Err(wrong(
            "has no rules; give each on a line of its own that does not begin with `#`".to_owned(),
        ));
    }
    Ok(rules)
}

/// A policy by its name, or by the path of its file.
fn policy_of(name: &str) -> Result<NamedPolicy, ConfigError> {
    let is_file = name.contains(['.', '/']);
    if !is_file {
        let found = NamedPolicy::find(name);
        return found.map_err(|error| ConfigError::new(format!("policy: {}", error.message())));
    }
    let wrong = |problem: String| ConfigError::new(format!("policy: {name}: {problem}"));
    let text = std::fs::read_to_string(name).map_err(|error| wrong(error.to_string()))?;
    NamedPolicy::read(name, &text).map_err(|error| wrong(error.message()))
}
