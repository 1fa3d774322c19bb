//! `cupel policy`: policies as data.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use cupel_engine::{NamedPolicy, policies, policy_schema};

use super::Context;
use crate::error::{Answer, Failure};
use crate::input::Input;
use crate::render::table::{Cell, Side, Table};
use crate::render::{json, text};
use crate::style::{self, Palette};
use crate::{output, policy};

/// Lists, shows and checks policies
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Lists the presets
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Prints a policy as TOML, with all defaults filled in
    #[command(after_help = "Example:\n  cupel policy show chat > policy.toml")]
    Show {
        /// A preset or a TOML or JSON file
        #[arg(value_name = "NAME|FILE")]
        policy: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Says whether a file is a valid policy, or what is wrong with it
    ///
    /// Exits with 1 if it is not.
    #[command(after_help = "Example:\n  cupel policy check policy.toml")]
    Check {
        /// A TOML or JSON file; stdin if it is `-` or absent
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Prints the JSON Schema of a policy
    #[command(after_help = "Example:\n  cupel policy schema > policy.schema.json")]
    Schema,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<Answer, Failure> {
    let text = match &arguments.action {
        Action::List { json: true } => json::pretty(&policies())?,
        Action::List { json: false } => list(context.palette),
        Action::Show { policy: name, json } => show(&policy::load(name)?, *json)?,
        Action::Check { file } => check(&Input::read(file.as_deref())?)?,
        Action::Schema => json::pretty(&policy_schema())?,
    };
    output::print(&text)?;
    Ok(Answer::Yes)
}

/// Room for the longest name and the gaps around it.
const NAME_COLUMNS: usize = 20;

fn list(palette: Palette) -> String {
    let screen = text::screen_width();
    let mut table = Table::new(vec![("name", Side::Left), ("favours", Side::Left)]);
    for preset in policies().policies {
        let mark = if preset.is_default { " (default)" } else { "" };
        let mut name = format!("{}{mark}", preset.name);
        for line in text::wrapped(&preset.summary, screen.saturating_sub(NAME_COLUMNS)) {
            table.push(vec![Cell::styled(std::mem::take(&mut name), style::strong()), line.into()]);
        }
    }
    table.render(screen, palette)
}

fn show(policy: &NamedPolicy, is_json: bool) -> Result<String, Failure> {
    if is_json {
        return json::pretty(policy.description());
    }
    policy.to_toml().map_err(|error| Failure::cannot(format!("{error}; try --json")))
}

fn check(input: &Input) -> Result<String, Failure> {
    let policy = policy::read(input).map_err(|error| match Failure::of(&input.name(), &error) {
        Failure::CannotRun(text) => Failure::Refused(text),
        other => other,
    })?;
    let name = policy.description().name.as_ref().map(|name| format!(", {name}"));
    Ok(format!("{}: a valid policy{}\n", input.name(), name.unwrap_or_default()))
}
