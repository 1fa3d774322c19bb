//! The arguments of the command line that all commands, or several of them, share.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use cupel_chat::{Format, Pin};

use crate::style::ColorChoice;
use crate::{budget, cmd};

const AFTER_HELP: &str = "\
Exit codes:
  0  done
  1  the answer is no: it does not fit, is invalid, or differs
  2  could not run: unreadable or malformed input, wrong arguments

Environment:
  NO_COLOR  no colour, if set to anything but the empty text
  COLUMNS   the width of tables, bars and curves, instead of the terminal's

Data goes to stdout, words about it to stderr.";

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

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Select(cmd::select::Arguments),
    Explain(cmd::explain::Arguments),
    Simulate(cmd::simulate::Arguments),
    Compare(cmd::compare::Arguments),
    Eval(cmd::eval::Arguments),
    Count(cmd::count::Arguments),
    Validate(cmd::validate::Arguments),
    Policy(cmd::policy::Arguments),
    Models(cmd::models::Arguments),
    Conformance(cmd::conformance::Arguments),
    /// Answers the requests of a conformance suite
    ///
    /// Reads one JSON request per line from stdin and writes one JSON answer per line to stdout,
    /// until the input ends.
    ServeProtocol,
    Completions(cmd::completions::Arguments),
    Man(cmd::man::Arguments),
}

/// Which request, and how it is read.
#[derive(Debug, Args)]
pub(crate) struct RequestArguments {
    /// The request; stdin if it is `-` or absent
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// The format of the request; detected if absent
    ///
    /// One of `openai-chat`, `openai-responses`, `anthropic`, `gemini`, `langchain`, `items`,
    /// `items-jsonl`.
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<Format>,

    /// How tokens are counted
    ///
    /// One of `o200k_base`, `cl100k_base`, `estimate`, or the path of a `tokenizer.json`. If absent,
    /// as the model counts; without a model, `o200k_base`, or an estimate for formats whose
    /// tokenizer is not public.
    #[arg(long, value_name = "NAME|PATH")]
    pub(crate) tokenizer: Option<String>,

    /// The model, for its tokenizer and window; the one that the request names if absent
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,

    /// Keep this in any case (repeatable)
    ///
    /// The index of a message, as in `3`; a role, as in `role:developer`; or a field, as in
    /// `field:metadata.pinned=true`. System prompts, tool definitions and the last user turn are
    /// always kept.
    #[arg(long, value_name = "SPEC")]
    pub(crate) pin: Vec<Pin>,

    /// Repair a request that its provider would refuse, and tell what was done
    #[arg(long)]
    pub(crate) repair: bool,
}

/// How much fits.
#[derive(Debug, Args)]
pub(crate) struct BudgetArguments {
    /// The window in tokens, as in `8000` or `8k`
    ///
    /// If absent, the window of the model, or else the budget of the policy.
    #[arg(long, value_name = "TOKENS", value_parser = budget::parse_tokens)]
    pub(crate) max: Option<i64>,

    /// What to aim for; all but the reserve if absent
    #[arg(long, value_name = "TOKENS", value_parser = budget::parse_tokens)]
    pub(crate) target: Option<i64>,

    /// What to keep free for the answer
    ///
    /// If absent: nothing with --max; with the window of a model, the output limit that the request
    /// sets itself, or else 4096 tokens, or all that the model can answer if that is less.
    #[arg(long, value_name = "TOKENS", value_parser = budget::parse_tokens)]
    pub(crate) reserve: Option<i64>,
}

/// How to choose.
#[derive(Debug, Args)]
pub(crate) struct PolicyArguments {
    /// The policy: a preset (see `cupel policy list`) or a TOML or JSON file
    #[arg(long, value_name = "FILE|PRESET", default_value = crate::policy::DEFAULT)]
    pub(crate) policy: String,

    #[command(flatten)]
    pub(crate) query: QueryArguments,
}

/// What the window is for.
#[derive(Debug, Args)]
pub(crate) struct QueryArguments {
    /// What the window must answer; if absent, the last user turn and what came after it
    #[arg(long, value_name = "TEXT")]
    pub(crate) query: Option<String>,

    /// What to do with what something newer makes superfluous: keep or drop
    ///
    /// An older read of the same file, the same call made again, a text that a newer one repeats
    /// nearly word for word. What is dropped is told on stderr.
    #[arg(long, value_enum, value_name = "WHAT", default_value = "keep")]
    #[arg(hide_possible_values = true)]
    pub(crate) superseded: Outdated,
}

/// Whether what is superseded may compete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Outdated {
    Keep,
    Drop,
}

/// A request, a budget and one policy: what a selection needs.
#[derive(Debug, Args)]
pub(crate) struct SelectionArguments {
    #[command(flatten)]
    pub(crate) request: RequestArguments,

    #[command(flatten)]
    pub(crate) budget: BudgetArguments,

    #[command(flatten)]
    pub(crate) policy: PolicyArguments,
}
