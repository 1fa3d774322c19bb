//! `cupel schema`: the form of everything that `--json` prints.

use clap::Args;
use cupel_names::UnknownName;

use super::{Context, config};
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

/// Of the engine's answers, of measurements, and of what the command itself knows.
fn schemas() -> Vec<(&'static str, serde_json::Value)> {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    let config = settings.into_generator().into_root_schema_for::<config::Document<'_>>();
    let mut schemas = cupel_engine::json_schemas();
    schemas.extend(cupel_eval::json_schemas());
    #[cfg(feature = "replay")]
    schemas.extend(cupel_replay::json_schemas());
    schemas.push(("Config", config.to_value()));
    schemas.sort_by_key(|(name, _)| *name);
    schemas
}

pub(crate) fn run(arguments: &Arguments, _: &Context) -> Result<Answer, Failure> {
    let schemas = schemas();
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
