//! Coding agents: how each is told to ask through a gateway, without a word in its own configuration.

mod aider;
mod claude;
mod codex;
mod gemini;
mod jsonc;
mod opencode;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use cupel_gateway::UpstreamConfig;

use crate::error::Failure;

/// Stands for the gateway's address, which is known only once it listens.
const GATEWAY: &str = "{gateway}";

/// An agent that can be told to ask through a gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Agent {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// Gemini CLI
    Gemini,
    /// opencode
    Opencode,
    /// aider
    Aider,
    /// Any other program: the first of ARGS is its name
    Any,
}

/// Environment of an agent.
#[derive(Debug, Default)]
pub(crate) struct Surroundings {
    pub(crate) variables: BTreeMap<String, String>,
    pub(crate) home: PathBuf,
    /// Where it is started.
    pub(crate) folder: PathBuf,
    /// Arguments that it is started with.
    pub(crate) arguments: Vec<String>,
}

impl Surroundings {
    /// The process's own.
    pub(crate) fn here(arguments: Vec<String>) -> Self {
        let text = |text: std::ffi::OsString| text.into_string().ok();
        let variables = std::env::vars_os();
        let variables: BTreeMap<_, _> =
            variables.filter_map(|(name, value)| Some((text(name)?, text(value)?))).collect();
        let home = variables.get("HOME").or_else(|| variables.get("USERPROFILE"));
        let home = home.map(PathBuf::from).unwrap_or_default();
        let folder = std::env::current_dir().unwrap_or_default();
        Self { variables, home, folder, arguments }
    }

    /// A variable, if it says anything.
    fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Returns true if a variable switches something on.
    fn is_on(&self, name: &str) -> bool {
        self.variable(name).is_some_and(is_yes)
    }

    fn read(path: &Path) -> Option<String> {
        std::fs::read_to_string(path).ok()
    }
}

/// Returns true if a value means yes.
fn is_yes(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "1" | "true" | "yes" | "on")
}

/// Settings of an agent, and the address that its requests go to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Addresses that its requests go to, with the folder of the gateway that stands for each.
    pub(crate) routes: Vec<Route>,
    /// Variables that it gets.
    pub(crate) variables: Vec<(String, String)>,
    /// Arguments that stand before the user's.
    pub(crate) arguments: Vec<String>,
    /// Notes for the user.
    pub(crate) notes: Vec<String>,
}

/// An address that requests go to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Route {
    /// The folder of the gateway that stands for it; empty if it is the only one.
    pub(crate) name: String,
    /// Scheme and authority.
    pub(crate) origin: String,
}

impl Plan {
    /// Replaces a provider's address, if it is the agent's only one.
    fn only(&mut self, url: &str) -> Result<String, Failure> {
        self.through("", url)
    }

    /// Replaces a provider's address: the same path, in a folder of the gateway.
    fn through(&mut self, name: &str, url: &str) -> Result<String, Failure> {
        let (origin, path) = parted(url).ok_or_else(|| {
            Failure::cannot(format!("`{url}`: is no URL; write it as https://host"))
        })?;
        self.routes.push(Route { name: name.to_owned(), origin: origin.to_owned() });
        let slash = if name.is_empty() { "" } else { "/" };
        Ok(format!("{GATEWAY}{slash}{name}{path}"))
    }

    fn set(&mut self, name: &str, value: impl Into<String>) {
        self.variables.push((name.to_owned(), value.into()));
    }

    /// The upstreams of the gateway; `instead` takes the place of all of them.
    pub(crate) fn upstreams(&self, instead: Option<&str>) -> Vec<UpstreamConfig> {
        let upstream = |route: &Route| {
            let upstream = UpstreamConfig::new(instead.unwrap_or(&route.origin));
            if route.name.is_empty() {
                return upstream;
            }
            upstream.below(format!("/{}", route.name))
        };
        self.routes.iter().map(upstream).collect()
    }

    /// The same with the address of a gateway.
    pub(crate) fn at(self, gateway: &str) -> Self {
        let put = |text: String| text.replace(GATEWAY, gateway);
        let variables = self.variables.into_iter().map(|(name, value)| (name, put(value)));
        Self {
            variables: variables.collect(),
            arguments: self.arguments.into_iter().map(put).collect(),
            ..self
        }
    }
}

/// Scheme and authority, and the path without a slash at its end.
fn parted(url: &str) -> Option<(&str, &str)> {
    let begin = url.find("://").filter(|at| matches!(&url[..*at], "http" | "https"))? + 3;
    let end = url[begin..].find('/').map_or(url.len(), |at| begin + at);
    let (origin, path) = url.split_at(end);
    (end > begin).then(|| (origin, path.trim_end_matches('/')))
}

impl Agent {
    /// All that have a name.
    pub(crate) const NAMED: [Self; 5] =
        [Self::Claude, Self::Codex, Self::Gemini, Self::Opencode, Self::Aider];

    /// The program, unless it is the user's to name.
    pub(crate) fn program(self) -> Option<&'static str> {
        Some(match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Aider => "aider",
            Self::Any => return None,
        })
    }

    /// Settings with which it asks through a gateway.
    pub(crate) fn plan(self, around: &Surroundings) -> Result<Plan, Failure> {
        match self {
            Self::Claude => claude::plan(around),
            Self::Codex => codex::plan(around),
            Self::Gemini => gemini::plan(around),
            Self::Opencode => opencode::plan(around),
            Self::Aider | Self::Any => aider::plan(around),
        }
    }
}

#[cfg(test)]
mod testing {
    use super::*;

    /// Surroundings with these variables and files; paths are below the home folder.
    pub(super) fn around(
        name: &str,
        variables: &[(&str, &str)],
        files: &[(&str, &str)],
    ) -> Surroundings {
        let process = std::process::id();
        let home = std::env::temp_dir().join(format!("cupel-agents-{process}-{name}"));
        let _ = std::fs::remove_dir_all(&home);
        for (path, text) in files {
            let path = home.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let variables = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        let folder = home.join("project");
        Surroundings { variables: variables.collect(), folder, home, arguments: Vec::new() }
    }

    /// Lines about the settings of a plan, and about the address that requests go to.
    pub(super) fn shown(plan: &Plan) -> Vec<String> {
        let variables = plan.variables.iter().map(|(name, value)| format!("{name}={value}"));
        let routes = plan.routes.iter().map(|route| format!("/{} {}", route.name, route.origin));
        variables.chain(plan.arguments.iter().cloned()).chain(routes).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_its_origin_and_its_path() {
        for (url, parts) in [
            ("https://api.openai.com/v1", Some(("https://api.openai.com", "/v1"))),
            ("http://h:8/a/b/", Some(("http://h:8", "/a/b"))),
            ("http://h", Some(("http://h", ""))),
            ("http://", None),
            ("ftp://h", None),
            ("h/v1", None),
            ("", None),
        ] {
            assert_eq!(parted(url), parts, "{url}");
        }
    }

    #[test]
    fn a_plan_keeps_paths_and_one_upstream_may_stand_for_all() {
        let mut plan = Plan::default();
        let base = plan.through("openai", "https://api.openai.com/v1").unwrap();
        assert_eq!(base, "{gateway}/openai/v1");
        plan.set("BASE", base);
        let [straight] = &plan.upstreams(None)[..] else { panic!() };
        assert_eq!(
            (&*straight.url, straight.path.as_deref()),
            ("https://api.openai.com", Some("/openai"))
        );
        assert!(straight.strip);
        assert_eq!(plan.upstreams(Some("http://l:4"))[0].url, "http://l:4");
        let at = plan.at("http://127.0.0.1:5");
        assert_eq!(at.variables[0].1, "http://127.0.0.1:5/openai/v1");
        assert!(Plan::default().only("api.openai.com").is_err());
    }
}
