//! `cupel gateway`: change one URL, and every request fits.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use cupel_engine::{Shorten, ToolMode, parse_margin, parse_tokens};
use cupel_gateway::config::Fail;
use cupel_gateway::{Overrides, Source};

use super::Context;
use crate::cli;
use crate::error::{Answer, Failure};
use crate::output;
use crate::settings::Settings;

const EXAMPLES: &str = "\
Examples:
  cupel gateway --upstream https://api.openai.com
  OPENAI_BASE_URL=http://127.0.0.1:8790/v1 your-agent

  cupel gateway --upstream http://127.0.0.1:8080 --window 8k
  cupel gateway --config gateway.toml

Requests that fit go on byte for byte. Others become windows that keep the provider's cache. The page
at /cupel shows every one of them, and why. SIGHUP, or a change of the file, reads the configuration
again; SIGTERM lets streams end.";

/// Stands between clients and a provider, and makes every request fit
///
/// Listens at a loopback address and passes everything on to an upstream. Requests to models are
/// made to fit into the model's window, or into what you say.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Where requests go, as `https://api.openai.com`
    #[arg(long, value_name = "URL")]
    upstream: Option<String>,

    /// Where to listen; 127.0.0.1:8790 if absent
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,

    /// Everything that can be said, in a TOML file; flags win over it
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    #[command(flatten)]
    fitting: FittingArguments,

    /// Where conversations are remembered: memory, or the address of a Redis server
    #[arg(long, value_name = "STORE")]
    sessions: Option<String>,
}

/// How requests are made to fit, whoever sends them.
#[derive(Debug, Args)]
pub(crate) struct FittingArguments {
    /// Most tokens of a request, as 8000 or 8k; the model's window less the answer if absent
    #[arg(long, value_name = "TOKENS", value_parser = parse_tokens, conflicts_with = "window")]
    max: Option<i64>,

    /// Most tokens of a request and its answer together
    #[arg(long, value_name = "TOKENS", value_parser = parse_tokens)]
    window: Option<i64>,

    /// Tokens to keep free for the answer
    #[arg(long, value_name = "TOKENS", value_parser = parse_tokens)]
    reserve: Option<i64>,

    /// Possible error of counts, as 10%
    #[arg(long, value_name = "PERCENT", value_parser = parse_margin)]
    margin: Option<f64>,

    /// The policy that chooses: a name, or a file
    #[arg(long, short, value_name = "POLICY")]
    policy: Option<String>,

    /// Tokenizer, whatever the model
    #[arg(long, value_name = "NAME")]
    tokenizer: Option<String>,

    /// Tool results that may go out shorter than they came: off, json or all
    #[arg(long, value_name = "WHAT")]
    shorten: Option<Shorten>,

    /// Let tools make room in a request that does not fit: keep, shorten or choose
    #[arg(long, value_name = "HOW")]
    tools: Option<ToolMode>,

    /// What becomes of requests that cannot be read or fitted: open passes them on, closed refuses
    #[arg(long, value_enum, value_name = "HOW", hide_possible_values = true)]
    fail: Option<FailChoice>,

    /// Where a JSON line for each request goes: stderr, stdout, off or a file
    #[arg(long, value_name = "PLACE")]
    log: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FailChoice {
    Open,
    Closed,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<Answer, Failure> {
    let source = source(arguments.config.as_deref());
    let flags = Overrides {
        listen: arguments.listen.clone(),
        upstream: arguments.upstream.clone(),
        store: arguments.sessions.clone(),
        ..arguments.fitting.flags()
    };
    let source = source.with_flags(flags).with_fallback(fallback(&context.settings)?);
    let ready = |gateway: &cupel_gateway::Gateway| {
        let (address, page) = (gateway.address(), gateway.page());
        output::say(&format!("cupel: listening at http://{address}, page at {page}"));
    };
    let tell = |text: &str| output::say(&format!("cupel: {text}"));
    cupel_gateway::run(source, ready, tell).map_err(Failure::cannot)?;
    Ok(Answer::Yes)
}

/// A configuration from a file, if one is named.
pub(crate) fn source(config: Option<&Path>) -> Source {
    config.map_or_else(Source::default, Source::of_file)
}

impl FittingArguments {
    /// What they say over a file.
    pub(crate) fn flags(&self) -> Overrides {
        Overrides {
            max: self.max,
            window: self.window,
            reserve: self.reserve,
            margin: self.margin,
            policy: self.policy.clone(),
            tokenizer: self.tokenizer.clone(),
            shorten: self.shorten,
            tools: self.tools,
            log: self.log.clone(),
            fail: self.fail.map(|fail| match fail {
                FailChoice::Open => Fail::Open,
                FailChoice::Closed => Fail::Closed,
            }),
            ..Overrides::default()
        }
    }
}

/// What `cupel.toml` and the environment say for all commands.
pub(crate) fn fallback(settings: &Settings) -> Result<Overrides, Failure> {
    Ok(Overrides {
        max: settings.parsed("max", parse_tokens)?,
        reserve: settings.parsed("reserve", parse_tokens)?,
        margin: settings.parsed("margin", parse_margin)?,
        policy: settings.path("policy"),
        tokenizer: settings.path("tokenizer"),
        shorten: settings
            .parsed("shorten", |text| text.parse::<Shorten>().map_err(|error| error.to_string()))?,
        tools: cli::tools(None, settings)?,
        rules: settings.rules()?,
        ..Overrides::default()
    })
}
