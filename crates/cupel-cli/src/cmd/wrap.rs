//! `cupel wrap`: an agent with a gateway beside it, and nothing to configure.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

use clap::Args;
use cupel_gateway::{Beside, Overrides, Totals};

use super::Context;
use super::gateway::{self, FittingArguments};
use crate::agents::{Agent, Surroundings};
use crate::error::{Answer, Failure};
use crate::output;
use crate::render::number::grouped;

const EXAMPLES: &str = "\
Examples:
  cupel wrap claude
  cupel wrap codex --window 64k -- exec 'fix the failing test'
  cupel wrap aider --upstream http://127.0.0.1:8080 -- --model openai/qwen3-coder
  cupel wrap any -- python agent.py

Starts a gateway at a free port of this machine, starts the agent so that it asks there, and ends with
it and with its exit code. Nothing is written into the agent's own configuration. `any` sets the
variables that providers' libraries read, for the program that ARGS name.";

/// Runs an agent whose requests are made to fit
///
/// The gateway is as `cupel gateway` has it; requests go on to where the agent would have sent them.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The agent: claude, codex, gemini, opencode, aider, or any
    #[arg(value_enum, value_name = "AGENT", hide_possible_values = true)]
    agent: Agent,

    /// Arguments of the agent
    #[arg(last = true, value_name = "ARGS")]
    of_agent: Vec<OsString>,

    /// Where requests go instead of to the agent's own provider
    #[arg(long, value_name = "URL")]
    upstream: Option<String>,

    /// A gateway's configuration; where requests go in it does not count, and flags win over the rest
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    #[command(flatten)]
    fitting: FittingArguments,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<Answer, Failure> {
    let Arguments { agent, of_agent, upstream, config, fitting } = arguments;
    let (program, of_agent) = match (agent.program(), of_agent.split_first()) {
        (Some(program), _) => (program.into(), &of_agent[..]),
        (None, Some((program, rest))) => (program.clone(), rest),
        (None, None) => {
            let text = "no program to run; name it behind two dashes: cupel wrap any -- PROGRAM";
            return Err(Failure::cannot(text));
        }
    };
    let texts = of_agent.iter().map(|argument| argument.to_string_lossy().into_owned());
    let plan = agent.plan(&Surroundings::here(texts.collect()))?;
    let flags = Overrides {
        listen: Some("127.0.0.1:0".to_owned()),
        upstreams: plan.upstreams(upstream.as_deref()),
        ..fitting.flags()
    };
    // The agent has the terminal to itself.
    let log = Some("off".to_owned());
    let fallback = Overrides { log, ..gateway::fallback(&context.settings)? };
    let source = gateway::source(config.as_deref()).with_flags(flags).with_fallback(fallback);
    let Beside { status, totals, .. } = cupel_gateway::run_beside(source, |gateway| {
        output::say(&format!("cupel: page at {}", gateway.page()));
        let plan = plan.at(&format!("http://{}", gateway.address()));
        for note in &plan.notes {
            output::say(&format!("cupel: {note}"));
        }
        let mut command = Command::new(&program);
        command.args(&plan.arguments).args(of_agent).envs(plan.variables);
        // A proxy of the system's would be asked for the gateway.
        command.envs(without_proxy());
        command
    })
    .map_err(Failure::cannot)?;
    output::say(&format!("cupel: {}", saved(&totals)));
    Ok(Answer::Code(code(status)))
}

/// The gateway among the hosts that are asked without a proxy.
fn without_proxy() -> impl Iterator<Item = (&'static str, String)> {
    ["NO_PROXY", "no_proxy"].into_iter().map(|name| {
        let others = std::env::var(name).unwrap_or_default();
        let comma = if others.is_empty() { "" } else { "," };
        (name, format!("{others}{comma}127.0.0.1"))
    })
}

/// What the gateway was good for, in words.
fn saved(totals: &Totals) -> String {
    let count = |number: u64| grouped(i64::try_from(number).unwrap_or(i64::MAX));
    let unfit = totals.unfit.iter().map(|(code, number)| format!("{} {code}", count(*number)));
    let unfit = unfit.collect::<Vec<_>>().join(", ");
    let unfit = if unfit.is_empty() { unfit } else { format!("; as they came: {unfit}") };
    if totals.requests == 0 {
        let doubt = if unfit.is_empty() { "; `cupel doctor` may say why" } else { "" };
        return format!("no request was made to fit{unfit}{doubt}");
    }
    let percent = |part: u64, whole: u64| (part as f64 * 100.0 / whole.max(1) as f64).round();
    let less = totals.tokens_before.saturating_sub(totals.tokens_after);
    format!(
        "{} made to fit of {} {}; {} tokens came, {} went out ({} % less), {} % of them from the \
         provider's cache by its rule{unfit}",
        count(totals.fitted),
        count(totals.requests),
        if totals.requests == 1 { "request" } else { "requests" },
        count(totals.tokens_before),
        count(totals.tokens_after),
        percent(less, totals.tokens_before),
        percent(totals.tokens_cached, totals.tokens_after),
    )
}

/// The exit code of a program; shells have 128 and the number of the signal where one ended it.
fn code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    let signal: Option<i32> = None;
    let code = status.code().or(signal.map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_saved_is_said_in_one_line() {
        let mut totals = Totals::default();
        assert_eq!(saved(&totals), "no request was made to fit; `cupel doctor` may say why");
        totals.unfit = vec![("signed-body".to_owned(), 3)];
        assert_eq!(saved(&totals), "no request was made to fit; as they came: 3 signed-body");
        (totals.requests, totals.fitted) = (40, 31);
        (totals.tokens_before, totals.tokens_after, totals.tokens_cached) = (2_000_000, 500_000, 450_000);
        assert_eq!(
            saved(&totals),
            "31 made to fit of 40 requests; 2,000,000 tokens came, 500,000 went out (75 % less), 90 % of them \
             from the provider's cache by its rule; as they came: 3 signed-body"
        );
    }
}
