//! `cupel doctor`: what is configured, reachable and understood.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::Args;
use cupel_gateway::{ConfigError, ExaminedUpstream, Overrides, RunningGateway, examine};

use super::Context;
use super::gateway;
use crate::agents::{Agent, Plan, Surroundings};
use crate::error::{Answer, Failure};
use crate::output;
use crate::render::number::grouped;

const EXAMPLES: &str = "\
Examples:
  cupel doctor
  cupel doctor claude codex
  cupel doctor --config gateway.toml

Exits with 1 if an upstream cannot be reached, or an agent that was named is not to be found. No key is sent, and
no model is asked anything.";

/// How long a program may take to say its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// Says what is configured, reachable and understood
///
/// Looks at the gateway of a configuration and its upstreams, at windows that local servers tell, and at
/// the agents that `cupel wrap` knows: where each would send its requests.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The agents to look at: claude, codex, gemini, opencode, aider; all that are installed if absent
    #[arg(value_enum, value_name = "AGENT", hide_possible_values = true)]
    agents: Vec<Agent>,

    /// The configuration of the gateway
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Where requests go, as `https://api.openai.com`
    #[arg(long, value_name = "URL")]
    upstream: Option<String>,
}

/// What was found, line by line, and whether all of it is well.
struct Findings {
    lines: Vec<String>,
    is_well: bool,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<Answer, Failure> {
    let mut found = Findings { lines: Vec::new(), is_well: true };
    let has_gateway = arguments.config.is_some() || arguments.upstream.is_some();
    if has_gateway || arguments.agents.is_empty() {
        found.gateway(arguments, context)?;
    }
    let is_named = !arguments.agents.is_empty();
    let agents = if is_named { &arguments.agents[..] } else { &Agent::NAMED };
    for agent in agents {
        found.agent(*agent, is_named);
    }
    if !is_named && !found.lines.iter().any(|line| line.starts_with("agent")) {
        found.say("agents", "none of claude, codex, gemini, opencode, aider is installed");
    }
    output::print(&(found.lines.join("\n") + "\n"))?;
    Ok(Answer::of(found.is_well))
}

impl Findings {
    fn say(&mut self, what: &str, text: &str) {
        self.lines.push(format!("{what:<10} {text}"));
    }

    fn gateway(&mut self, arguments: &Arguments, context: &Context) -> Result<(), Failure> {
        let flags = Overrides { upstream: arguments.upstream.clone(), ..Overrides::default() };
        let fallback = gateway::fallback(&context.settings)?;
        let source = gateway::source(arguments.config.as_deref());
        let source = source.with_flags(flags).with_fallback(fallback);
        match &arguments.config {
            Some(file) => self.say("gateway", &format!("configured by {}", file.display())),
            None if arguments.upstream.is_none() => {
                // Nothing is configured: only whether one runs can be said.
                let somewhere = Some("http://127.0.0.1:9".to_owned());
                let source = source.with_flags(Overrides { upstream: somewhere, ..Overrides::default() });
                let found = examine(&source).map_err(Failure::cannot)?;
                self.running(&found.listen, found.running.as_ref());
                return Ok(());
            }
            None => {}
        }
        let found = examine(&source).map_err(|error: ConfigError| Failure::cannot(error))?;
        self.running(&found.listen, found.running.as_ref());
        for upstream in &found.upstreams {
            self.upstream(upstream);
        }
        Ok(())
    }

    fn running(&mut self, listen: &str, running: Option<&RunningGateway>) {
        let count = |number: u64| grouped(i64::try_from(number).unwrap_or(i64::MAX));
        let Some(running) = running else {
            self.say("gateway", &format!("none runs at {listen}"));
            return;
        };
        let understood = running.requests.map(|requests| {
            let (requests, fitted) = (count(requests), count(running.fitted));
            format!("; understood {requests} requests, made {fitted} of them fit")
        });
        self.say("gateway", &format!("runs at {listen}{}", understood.unwrap_or_default()));
        for (code, number) in &running.unfit {
            self.say("", &format!("not understood or fitted: {} {code}", count(*number)));
        }
    }

    fn upstream(&mut self, upstream: &ExaminedUpstream) {
        let text = match &upstream.answer {
            Ok((status, took)) => {
                let needs = if matches!(status, 401 | 403) { ", it wants a key" } else { "" };
                format!("answers with {status} after {} ms{needs}", took.as_millis())
            }
            Err(why) => {
                self.is_well = false;
                why.clone()
            }
        };
        self.say("upstream", &format!("{}: {text}", upstream.url));
        for (model, window) in &upstream.windows {
            self.say("", &format!("{model}: a window of {} tokens, as it says", grouped(*window)));
        }
    }

    fn agent(&mut self, agent: Agent, is_named: bool) {
        let Some(name) = agent.program() else {
            self.say("agent", "any: whatever program `cupel wrap any -- PROGRAM` names");
            return;
        };
        let Some(program) = on_path(name) else {
            if is_named {
                self.is_well = false;
                self.say("agent", &format!("{name}: is not on the PATH"));
            }
            return;
        };
        let version = version(&program).unwrap_or_else(|| "says no version".to_owned());
        self.say("agent", &format!("{name}: {version}"));
        match agent.plan(&Surroundings::here(Vec::new())) {
            Ok(plan) => self.plan(name, &plan),
            Err(Failure::Refused(why) | Failure::CannotRun(why)) => {
                self.is_well = false;
                self.say("", &why);
            }
            Err(Failure::ClosedPipe) => {}
        }
    }

    fn plan(&mut self, name: &str, plan: &Plan) {
        let mut origins: Vec<&str> = plan.routes.iter().map(|route| &*route.origin).collect();
        origins.dedup();
        let is_gateway = |origin: &&str| origin.ends_with(":8790");
        let through = if origins.iter().any(is_gateway) { ", a gateway" } else { "" };
        self.say("", &format!("asks {}{through}", origins.join(", ")));
        let told = plan.variables.iter().map(|(name, _)| name.clone());
        let mut told: Vec<String> = told.chain(plan.arguments.iter().cloned()).collect();
        told.dedup();
        self.say("", &format!("`cupel wrap {name}` tells it by {}", told.join(" ")));
        for note in &plan.notes {
            self.say("", note);
        }
    }
}

/// A program in the folders of `PATH`.
fn on_path(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&folders).map(|folder| folder.join(name));
    found.into_iter().find(|path| path.is_file())
}

/// The first line that a program says when asked for its version.
fn version(program: &Path) -> Option<String> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let begun = Instant::now();
    while child.try_wait().ok()?.is_none() {
        if begun.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(|line| line.chars().take(80).collect())
}
