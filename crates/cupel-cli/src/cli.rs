//! The arguments of the command line that all commands, or several of them, share.

use std::path::PathBuf;

use clap::builder::UnknownArgumentValueParser;
use clap::{Args, Parser, ValueEnum};
use cupel_engine::{
    Engine, EngineBuilder, Format, Limits, NamedPolicy, Options, Pin, RepairMode, Shorten,
    Superseded, ToolMode, VectorFile, parse_margin, parse_tokens,
};

use crate::cmd::{Command, Context};
use crate::error::Failure;
use crate::input::Input;
use crate::offered::{FORMATS, MODELS, POLICIES};
use crate::policy;
use crate::progress::Bars;
use crate::rules;
use crate::settings::Settings;
use crate::style::ColorChoice;

const AFTER_HELP: &str = "\
Exit codes:
  0  done
  1  the answer is no: it does not fit, is invalid, or differs
  2  could not run: unreadable or malformed input, wrong arguments

Environment:
  CUPEL_*   defaults for flags, as in CUPEL_MAX=8k; `cupel config` lists them
  NO_COLOR  no colour, if set to anything but the empty text
  COLUMNS   the width of tables, bars and curves, instead of the terminal's

A file `cupel.toml` in the folder or above it has defaults for flags too: `cupel config` shows what
holds, and where it comes from. Data goes to stdout, words about it to stderr.";

/// Decides what goes into a language model's context window.
///
/// Give it a request that is too long, and it gives back the best one that fits, in the same
/// format; and it tells what it left out, and why.
#[derive(Debug, Parser)]
#[command(name = "cupel", version, after_help = AFTER_HELP, max_term_width = 100)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// When to use colour: auto, always or never
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value = "auto")]
    #[arg(hide_possible_values = true, help_heading = "Global options")]
    pub(crate) color: ColorChoice,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Which request.
#[derive(Debug, Args)]
pub(crate) struct FileArgument {
    /// The request, or a transcript for its last one; stdin if it is `-` or absent
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

impl FileArgument {
    /// The request, or the last request of a transcript.
    pub(crate) fn read(&self, request: &RequestArguments) -> Result<Input, Failure> {
        Input::read_request(self.file.as_deref(), request.format)
    }
}

/// How a request is read and counted.
#[derive(Debug, Args)]
pub(crate) struct RequestArguments {
    /// The format of the request; detected if absent
    ///
    /// One of `openai-chat`, `openai-responses`, `anthropic`, `gemini`, `ai-sdk`, `ai-sdk-ui`, `bedrock`,
    /// `ollama`, `cohere`, `langchain`, `items`, `items-jsonl`.
    #[arg(long, value_name = "NAME", value_parser = FORMATS, hide_possible_values = true)]
    pub(crate) format: Option<Format>,

    /// Tokenizer that counts the tokens
    ///
    /// One of `o200k_base`, `cl100k_base`, `estimate`, or the path of a `tokenizer.json`. If absent,
    /// as the model counts; without a model, `o200k_base`, or an estimate for formats whose
    /// tokenizer is not public.
    #[arg(long, value_name = "NAME|PATH")]
    pub(crate) tokenizer: Option<String>,

    /// The model, for its tokenizer and window; the one that the request names if absent
    #[arg(long, value_name = "NAME", value_parser = MODELS, hide_possible_values = true)]
    pub(crate) model: Option<String>,

    /// Keep this in any case (repeatable)
    ///
    /// The index of a message, as in `3`; a role, as in `role:developer`; a field, as in
    /// `field:metadata.pinned=true`; or words of the system or the user, as in `words:never use tabs`.
    /// System prompts, tool definitions and the last user turn are always kept.
    #[arg(long, value_name = "SPEC")]
    pub(crate) pin: Vec<Pin>,

    /// Standing rules: keep every message that states one (repeatable)
    ///
    /// A file with a rule on each line, or a rule itself; empty lines and those that begin with `#` are
    /// passed over. What is no existing file is taken as a rule, even if it looks like a path. A message
    /// of the system or the user states a rule if it has the rule's words, white space and case aside;
    /// nobody has to.
    #[arg(long, value_name = "FILE|TEXT")]
    pub(crate) rules: Vec<String>,

    /// Repair a request that its provider would refuse, and tell what was done
    ///
    /// Nothing is lost: results move behind their calls, and calls and results without ids are paired by
    /// order and name. With `drop`, what cannot be kept is dropped; `cupel validate --repair=show` says what
    /// that is.
    #[arg(long, value_name = "MODE", num_args = 0..=1, require_equals = true,
        default_missing_value = "keep")]
    pub(crate) repair: Option<Repairing>,

    /// Never let the user speak twice in a row in what is left
    ///
    /// As the chat templates of many open models want it. Then whole turns are in or out, but for
    /// the last one.
    #[arg(long)]
    pub(crate) alternate: bool,

    /// End what is shortened with the handle of its original
    ///
    /// As `[whole: cupel:0366a61f7fbd4ca4]`, so that the model can ask for it with a tool that looks
    /// it up.
    #[arg(long)]
    pub(crate) handles: bool,

    /// The unit that is in or out as a whole: each step of a turn, or the turn
    ///
    /// Where providers want a step to follow a message of the user, it is in only with the message that
    /// opens its turn. With `whole`, turns are in or out, but for the last one.
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    pub(crate) turns: Turns,
}

/// How far a repair goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Repairing {
    /// Nothing is lost
    Keep,
    /// Messages that cannot be kept are dropped
    Drop,
}

impl Repairing {
    pub(crate) fn mode(self) -> RepairMode {
        match self {
            Self::Keep => RepairMode::Keep,
            Self::Drop => RepairMode::Drop,
        }
    }
}

/// The unit of a turn that is in or out as a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Turns {
    /// Each step
    #[default]
    Steps,
    /// All of it
    Whole,
}

/// How much fits.
#[derive(Debug, Default, Args)]
pub(crate) struct BudgetArguments {
    /// The window in tokens, as in `8000`, `8k` or `1.5k`
    ///
    /// If absent, the window of the model, or else the budget of the policy.
    #[arg(long, value_name = "TOKENS", value_parser = parse_tokens)]
    pub(crate) max: Option<i64>,

    /// Not there: many look for --max by this name.
    #[arg(long, hide = true, value_parser = UnknownArgumentValueParser::suggest_arg("--max"))]
    pub(crate) budget: Option<String>,

    /// Tokens to aim for; all but the reserve if absent
    #[arg(long, value_name = "TOKENS", value_parser = parse_tokens)]
    pub(crate) target: Option<i64>,

    /// Tokens to keep free for the answer
    ///
    /// If absent: nothing with --max; with the window of a model, the output limit that the request
    /// sets itself, or else 4096 tokens, or all that the model can answer if that is less.
    #[arg(long, value_name = "TOKENS", value_parser = parse_tokens)]
    pub(crate) reserve: Option<i64>,

    /// Share to keep free because counts may be off, as in `10%`
    ///
    /// If absent, nothing where counts are exact; where a model's tokenizer is not public, as much
    /// as its estimates are off in 95 of 100 cases.
    #[arg(long, value_name = "SHARE", value_parser = parse_margin)]
    pub(crate) margin: Option<f64>,

    /// The input tokens that the provider reported for the request before, to scale estimates by
    ///
    /// The request before is this one up to the last that the assistant said. Give what was read from
    /// the cache too. Then 3 % are kept free, if --margin is absent.
    #[arg(long, value_name = "TOKENS", value_parser = parse_tokens)]
    pub(crate) usage: Option<i64>,
}

/// How to choose.
#[derive(Debug, Args)]
pub(crate) struct PolicyArguments {
    /// The policy: a preset (see `cupel policy list`) or a TOML or JSON file; `auto` if absent
    #[arg(long, value_name = "FILE|PRESET", value_parser = POLICIES, hide_possible_values = true)]
    pub(crate) policy: Option<String>,

    #[command(flatten)]
    pub(crate) query: QueryArguments,
}

/// What the window is for.
#[derive(Debug, Default, Args)]
pub(crate) struct QueryArguments {
    /// Query that the window must answer; the user's last words if absent
    #[arg(long, value_name = "TEXT")]
    pub(crate) query: Option<String>,

    /// Messages that something newer makes superfluous: keep or drop
    ///
    /// An older read of the same file, the same call made again, a text that a newer one repeats
    /// nearly word for word. What is dropped is told on stderr. `keep` if absent.
    #[arg(long, value_enum, value_name = "WHAT", hide_possible_values = true)]
    pub(crate) superseded: Option<SupersededChoice>,

    /// Tool results that may go in shorter than they are: off, json or all
    ///
    /// `json` shortens results of tools that are JSON, `all` any result. If absent, only a long reply
    /// that the last turn refers to is, and JSON results of what must be kept and does not fit
    /// otherwise. What else people, models and instructions say stays as it is. `off` shortens nothing.
    #[arg(long, value_name = "WHAT")]
    pub(crate) shorten: Option<Shorten>,

    /// Let tool definitions that take too much of the window make room: keep, shorten or choose
    ///
    /// Where a request does not fit and its tools take more than a quarter of the window, `shorten` cuts what their
    /// definitions only say to the model; they take the same calls. `choose` besides leaves out tools that nobody
    /// called or named and that are far from the question. `keep` if absent.
    #[arg(long, value_name = "HOW")]
    pub(crate) tools: Option<ToolMode>,

    /// Shorter forms of results and answers that you made, as summaries by a model: a JSON list
    ///
    /// `[{"call": "toolu_1", "hash": "cupel:…", "content": "…"}, …]`, each for the answer to a call or,
    /// with `message`, for what the message at an index says. `cupel show` lists the hashes.
    #[arg(long, value_name = "FILE")]
    pub(crate) renderings: Option<PathBuf>,

    /// Vectors of the messages and of the query, as JSON
    ///
    /// `{"query": [0.1, …], "messages": [[…], null, …]}`, or JSON lines. Made by an embedding model
    /// of your choice; messages without one are judged by their words.
    #[arg(long, value_name = "FILE")]
    pub(crate) vectors: Option<PathBuf>,

    /// Let the policy's caps and quotas leave things out of a request that fits whole
    #[arg(long)]
    pub(crate) caps: bool,
}

/// Whether what is superseded may compete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SupersededChoice {
    Keep,
    Drop,
}

/// A budget, a policy, and how requests are read: what a selection needs beside the request.
#[derive(Debug, Args)]
pub(crate) struct SelectionArguments {
    #[command(flatten)]
    pub(crate) request: RequestArguments,

    #[command(flatten)]
    pub(crate) budget: BudgetArguments,

    #[command(flatten)]
    pub(crate) policy: PolicyArguments,
}

impl SelectionArguments {
    /// An engine as the flags, the environment and the configuration say.
    pub(crate) fn engine(&self, context: &Context) -> Result<Engine, Failure> {
        let policy = policy::chosen(self.policy.policy.as_deref(), &context.settings)?;
        engine(context, &self.request, &self.budget, &self.policy.query, policy)
    }

    /// What the flags say of one request.
    pub(crate) fn options(&self) -> Result<Options, Failure> {
        Ok(self.budget.scaled(self.policy.query.options()?))
    }
}

impl BudgetArguments {
    /// Options with what the provider reported.
    pub(crate) fn scaled(&self, options: Options) -> Options {
        match self.usage {
            Some(tokens) => options.usage(tokens),
            None => options,
        }
    }
}

impl QueryArguments {
    /// What the flags say of one request.
    pub(crate) fn options(&self) -> Result<Options, Failure> {
        let mut options = Options::new();
        if let Some(query) = &self.query {
            options = options.query(query.as_str());
        }
        if let Some(file) = &self.vectors {
            let input = Input::read(Some(file))?;
            let vectors = VectorFile::parse(&input.text).map_err(|error| {
                Failure::cannot(format!("{}:{}: {}", input.name(), error.line, error.problem))
            })?;
            options = options.vectors(vectors);
        }
        if let Some(file) = &self.renderings {
            let input = Input::read(Some(file))?;
            let renderings = cupel_engine::read_renderings(&input.text);
            let failed = |error| Failure::of(&input.name(), &error);
            options = options.renderings(renderings.map_err(failed)?);
        }
        Ok(options)
    }
}

/// An engine as flags say, and the environment and the configuration where flags say nothing.
pub(crate) fn engine(
    context: &Context,
    request: &RequestArguments,
    budget: &BudgetArguments,
    query: &QueryArguments,
    policy: NamedPolicy,
) -> Result<Engine, Failure> {
    let builder = engine_builder(context, request, budget, query, policy)?;
    builder.progress(Bars::shared()).build().map_err(|error| Failure::of_settings(&error))
}

/// The same without bars, for whoever shows their own.
#[cfg(feature = "replay")]
pub(crate) fn quiet_engine(
    context: &Context,
    request: &RequestArguments,
    budget: &BudgetArguments,
    query: &QueryArguments,
    policy: NamedPolicy,
) -> Result<Engine, Failure> {
    let builder = engine_builder(context, request, budget, query, policy)?;
    builder.build().map_err(|error| Failure::of_settings(&error))
}

fn engine_builder(
    context: &Context,
    request: &RequestArguments,
    budget: &BudgetArguments,
    query: &QueryArguments,
    policy: NamedPolicy,
) -> Result<EngineBuilder, Failure> {
    let settings = &context.settings;
    let mut builder = Engine::builder()
        .named_policy(policy)
        .limits(limits(budget, settings)?)
        .repair_by(request.repair.map(Repairing::mode))
        .alternate(request.alternate)
        .handles(request.handles)
        .whole_turns(request.turns == Turns::Whole)
        .keep_caps(query.caps)
        .superseded(superseded(query, settings)?);
    if let Some(model) = request.model.clone().or(settings.text("model")) {
        builder = builder.model(model);
    }
    if let Some(tokenizer) = request.tokenizer.clone().or(settings.path("tokenizer")) {
        builder = builder.tokenizer(tokenizer);
    }
    let shorten = match query.shorten {
        Some(shorten) => Some(shorten),
        None => {
            settings.parsed("shorten", |text| text.parse::<Shorten>().map_err(|e| e.to_string()))?
        }
    };
    if let Some(shorten) = shorten {
        builder = builder.shorten(shorten);
    }
    if let Some(mode) = tools(query.tools, settings)? {
        builder = builder.tools(mode);
    }
    if let Some(format) = request.format {
        builder = builder.format(format);
    }
    let rules = match &request.rules[..] {
        [] => settings.rules()?,
        flags => rules::of_flags(flags)?,
    };
    let builder = builder.rules(rules);
    let pins = if request.pin.is_empty() { settings.pins()? } else { request.pin.clone() };
    Ok(pins.into_iter().fold(builder, EngineBuilder::pin))
}

/// Way with tools by a flag or the settings.
pub(crate) fn tools(
    flag: Option<ToolMode>,
    settings: &Settings,
) -> Result<Option<ToolMode>, Failure> {
    match flag {
        Some(mode) => Ok(Some(mode)),
        None => settings.parsed("tools", str::parse::<ToolMode>),
    }
}

fn limits(budget: &BudgetArguments, settings: &Settings) -> Result<Limits, Failure> {
    let or = |flag: Option<i64>, name| match flag {
        Some(tokens) => Ok(Some(tokens)),
        None => settings.parsed(name, parse_tokens),
    };
    let mut limits = Limits::from_model();
    limits.max = or(budget.max, "max")?;
    limits.target = or(budget.target, "target")?;
    limits.reserve = or(budget.reserve, "reserve")?;
    limits.margin_percent = match budget.margin {
        Some(percent) => Some(percent),
        None => settings.parsed("margin", parse_margin)?,
    };
    Ok(limits)
}

fn superseded(query: &QueryArguments, settings: &Settings) -> Result<Superseded, Failure> {
    let choice = match query.superseded {
        Some(choice) => Some(choice),
        None => settings.parsed("superseded", |text| SupersededChoice::from_str(text, false))?,
    };
    Ok(match choice {
        Some(SupersededChoice::Drop) => Superseded::Drop,
        Some(SupersededChoice::Keep) | None => Superseded::Keep,
    })
}
