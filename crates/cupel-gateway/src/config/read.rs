//! Reading the file, with errors that name file, line, field and remedy.

use std::fmt;
use std::path::{Path, PathBuf};

use cupel_names::UnknownName;

use super::{Config, Overrides};

/// Why a gateway cannot do as it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError(String);

impl ConfigError {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}

/// Where a gateway's configuration comes from: read at the start, and again at each reload.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Source {
    /// The file, if there is one.
    pub file: Option<PathBuf>,
    /// Flags, which win over it.
    pub flags: Overrides,
    /// Settings where neither says anything.
    pub fallback: Overrides,
}

/// The names of a table, and of the tables in it.
struct Names {
    table: &'static str,
    names: &'static [&'static str],
}

const TABLES: [Names; 6] = [
    Names {
        table: "",
        names: &[
            "listen",
            "upstream",
            "fail",
            "page",
            "page_token",
            "texts",
            "metrics",
            "hosts",
            "origins",
            "key_headers",
            "ca",
            "max",
            "window",
            "local_limits",
            "reserve",
            "cap_output",
            "margin",
            "policy",
            "tokenizer",
            "shorten",
            "tools",
            "rules",
            "repair",
            "log",
            "log_texts",
            "upstreams",
            "limits",
            "sessions",
            "server",
            "otel",
        ],
    },
    Names { table: "upstreams", names: &["url", "path", "model", "strip"] },
    Names { table: "limits", names: &["model", "key", "key_env", "max", "window"] },
    Names {
        table: "sessions",
        names: &[
            "store",
            "header",
            "conversations",
            "memory",
            "lifetime",
            "cache_marks",
            "resend",
            "patience",
        ],
    },
    Names {
        table: "server",
        names: &[
            "body_limit",
            "memory",
            "messages",
            "head_limit",
            "head_timeout",
            "body_timeout",
            "connect_timeout",
            "answer_timeout",
            "pause_timeout",
            "write_timeout",
            "learnt_lifetime",
            "drain",
            "connections",
            "client_connections",
            "requests",
            "requests_memory",
        ],
    },
    Names { table: "otel", names: &["endpoint", "service"] },
];

impl Source {
    /// A configuration from a file.
    pub fn of_file(file: impl Into<PathBuf>) -> Self {
        Self { file: Some(file.into()), ..Self::default() }
    }

    /// The same with what flags say over it.
    #[must_use]
    pub fn with_flags(self, flags: Overrides) -> Self {
        Self { flags, ..self }
    }

    /// The same with what holds where nothing else is said.
    #[must_use]
    pub fn with_fallback(self, fallback: Overrides) -> Self {
        Self { fallback, ..self }
    }

    /// Reads it.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or has a name or a value that is not known.
    pub fn read(&self) -> Result<Config, ConfigError> {
        let config = match &self.file {
            None => Config::default(),
            Some(file) => {
                let wrong = |why: String| ConfigError::new(format!("{}: {why}", file.display()));
                // Opening a pipe would wait for somebody at its other end, at every reload.
                if std::fs::metadata(file).is_ok_and(|found| !found.is_file()) {
                    return Err(wrong("is no file".to_owned()));
                }
                let text = std::fs::read_to_string(file)
                    .map_err(|error| wrong(format!("cannot read: {error}")))?;
                parse(file, &text)?
            }
        };
        Ok(config.under(&self.flags).over(&self.fallback))
    }
}

pub(crate) fn parse(file: &Path, text: &str) -> Result<Config, ConfigError> {
    let name = file.display();
    let wrong = |error: &toml::de::Error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let message = error.message().lines().collect::<Vec<_>>().join("; ");
        ConfigError::new(format!("{name}:{line}: {message}"))
    };
    let table: toml::Table = text.parse().map_err(|error| wrong(&error))?;
    for Names { table: inner, names } in &TABLES {
        let tables: Vec<&toml::Table> = match (*inner, table.get(*inner)) {
            ("", _) => vec![&table],
            (_, Some(toml::Value::Table(table))) => vec![table],
            (_, Some(toml::Value::Array(list))) => {
                list.iter().filter_map(toml::Value::as_table).collect()
            }
            _ => Vec::new(),
        };
        for unknown in tables.iter().flat_map(|table| table.keys()) {
            if names.contains(&unknown.as_str()) {
                continue;
            }
            let line = line_of(text, unknown);
            let told = UnknownName::new("setting", unknown, names.iter().copied());
            let place = if inner.is_empty() { String::new() } else { format!("[{inner}] ") };
            return Err(ConfigError::new(format!("{name}:{line}: {place}{told}")));
        }
    }
    toml::from_str(text).map_err(|error| wrong(&error))
}

/// The first line that sets a name.
fn line_of(text: &str, name: &str) -> usize {
    let sets = |line: &str| {
        let line = line.trim_start().trim_start_matches(['[', '"', '\'']);
        line.strip_prefix(name).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    text.lines().position(sets).map_or(1, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Access, Fail};

    fn read(text: &str) -> Result<Config, String> {
        parse(Path::new("gateway.toml"), text).map_err(|error| error.to_string())
    }

    #[test]
    fn everything_that_has_a_name_can_be_set() {
        let config = read(
            "listen = '0.0.0.0:1'\nupstream = 'http://h'\nfail = 'closed'\npage = 'open'\n\
             metrics = 'off'\nhosts = ['h']\norigins = ['http://h']\nca = 'x.pem'\nmax = '8k'\n\
             window = 9000\nlocal_limits = 'off'\nreserve = 5\nmargin = '10%'\npolicy = 'auto'\n\
             tokenizer = 'estimate'\nshorten = 'all'\ntools = 'keep'\nrules = ['be brief']\nrepair = true\nlog = 'off'\n\
             log_texts = true\n[[upstreams]]\nurl = 'http://a'\npath = '/v1'\nmodel = 'x*'\nstrip = true\n\
             [[limits]]\nmodel = 'm'\nkey = 'sha256:00'\nkey_env = 'K'\nmax = 1\nwindow = 2\n\
             [sessions]\nstore = 'memory'\nheader = 'h'\nconversations = 1\nmemory = '1MB'\n\
             lifetime = '1h'\ncache_marks = 'write'\npatience = '1s'\n[server]\nbody_limit = 1\n\
             head_limit = 1\nhead_timeout = 1\nbody_timeout = 1\nconnect_timeout = 1\n\
             answer_timeout = 1\ndrain = 1\nconnections = 1\nrequests = 1\n\
             requests_memory = 1\n[otel]\nendpoint = 'http://c'\nservice = 's'\n",
        )
        .unwrap();
        assert_eq!((config.fail, config.page), (Fail::Closed, Access::Open));
        assert_eq!(config.max.unwrap().0, 8_000);
        assert_eq!(config.sessions.lifetime.0.as_secs(), 3_600);
        assert_eq!(config.limits[0].window.unwrap().0, 2);
        let otel = read("[otel]\nendpoint = 'http://c'").unwrap().otel.unwrap();
        assert_eq!(otel.service, "cupel-gateway");
    }

    #[test]
    fn what_is_wrong_is_named_with_file_line_and_remedy() {
        assert_eq!(
            read("max = 1\nupstrem = 'x'").unwrap_err(),
            "gateway.toml:2: unknown setting `upstrem`; did you mean `upstream`?"
        );
        assert_eq!(
            read("[sessions]\nlifetme = 1").unwrap_err(),
            "gateway.toml:2: [sessions] unknown setting `lifetme`; did you mean `lifetime`?"
        );
        assert_eq!(
            read("[[limits]]\nmodel = 'm'\nmx = 1").unwrap_err(),
            "gateway.toml:3: [limits] unknown setting `mx`; did you mean `max`?"
        );
        assert_eq!(
            read("\nmax = 'lots'").unwrap_err(),
            "gateway.toml:2: `lots`: not a number of tokens; write it as 8000 or 8k"
        );
        assert!(read("max = ").unwrap_err().starts_with("gateway.toml:1: "));
        assert!(read("fail = 'ajar'").unwrap_err().contains("`open` or `closed`"));
    }

    #[test]
    fn flags_win_over_the_file_and_a_fallback_holds_where_neither_speaks() {
        let flags = Overrides { max: Some(5), log: Some("off".to_owned()), ..Overrides::default() };
        let file = read("window = 9\nlog = 'stdout'\npolicy = 'chat'").unwrap();
        let config = file.clone().under(&flags);
        assert_eq!((config.max.map(|max| max.0), config.window), (Some(5), None));
        assert_eq!((config.log.as_deref(), config.policy.as_deref()), (Some("off"), Some("chat")));
        let unchanged = file.clone().under(&Overrides::default());
        assert_eq!(unchanged.window.map(|window| window.0), Some(9));

        let policy = Some("rag".to_owned());
        let fallback = Overrides { max: Some(7), policy, reserve: Some(3), ..Overrides::default() };
        let config = file.over(&fallback);
        assert_eq!(config.max, None, "the file has a window");
        assert_eq!(
            (config.policy.as_deref(), config.reserve.map(|it| it.0)),
            (Some("chat"), Some(3))
        );
        assert_eq!(Config::default().over(&fallback).max.map(|max| max.0), Some(7));
    }

    #[test]
    fn a_source_is_its_file_with_flags_over_it_and_a_fallback_below() {
        let max = |tokens| Overrides { max: Some(tokens), ..Overrides::default() };
        let read = |source: &Source| source.read().unwrap().max.map(|max| max.0);
        assert_eq!(read(&Source::default().with_fallback(max(7))), Some(7));
        assert_eq!(read(&Source::default().with_fallback(max(7)).with_flags(max(5))), Some(5));
        let missing = Source::of_file("no/such/gateway.toml").read().unwrap_err().to_string();
        assert!(missing.starts_with("no/such/gateway.toml: cannot read: "), "{missing}");
    }
}
