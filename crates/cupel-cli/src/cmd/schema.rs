//! `cupel schema`: the form of everything that `--json` prints.

use clap::Args;
use cupel_engine::json_schemas;
use cupel_names::UnknownName;

use super::Context;
use crate::error::{Answer, Failure};
use crate::output;
use crate::render::json;

/// Prints the JSON Schema of an answer, as in `Selection`; without a name, lists them
///
/// Every answer as JSON begins with `"schema": "cupel/1"`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cupel schema Explanation > explanation.schema.json")]
pub(crate) struct Arguments {
    /// The name of the answer
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, _: &Context) -> Result<Answer, Failure> {
    let schemas = json_schemas();
    let names: Vec<&str> = schemas.iter().map(|(name, _)| *name).collect();
    let Some(name) = &arguments.name else {
        output::print(&format!("{}\n", names.join("\n")))?;
        return Ok(Answer::Yes);
    };
    let found = schemas.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    let Some((_, schema)) = found else {
        return Err(Failure::cannot(UnknownName::new("schema", name, names)));
    };
    output::print(&json::pretty(schema)?)?;
    Ok(Answer::Yes)
}
