//! `cupel mcp`: the engine as tools of the Model Context Protocol.

use std::env;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use cupel_engine::{Engine, EngineBuilder};
use cupel_mcp::{Originals, Roots, ServeError, serve_http, serve_stdio};

use super::Context;
use crate::error::{Answer, Failure};
use crate::output;
use crate::settings::Settings;

/// The variable that names the token which every request over HTTP has to bear.
const TOKEN: &str = "CUPEL_MCP_TOKEN";

const EXAMPLES: &str = "\
Examples:
  cupel mcp --root .
  cupel mcp --http 127.0.0.1:8791 --root ~/transcripts
  claude mcp add cupel -- cupel mcp --root .

Over HTTP it answers at /mcp, on loopback alone. With the variable CUPEL_MCP_TOKEN, every request has to
bear that token.";

/// Answers as an MCP server: tools to count, fit, explain and retrieve
///
/// Speaks the Model Context Protocol on the standard streams, or over HTTP. Files are read only below the
/// folders that you name; nothing is written.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Listen at this address on loopback instead of the standard streams
    #[arg(long, value_name = "ADDRESS")]
    http: Option<SocketAddr>,

    /// Files below this folder may be read (repeatable); without it, none
    #[arg(long, value_name = "FOLDER")]
    root: Vec<PathBuf>,

    /// The folder with the whole texts that `cupel hook` kept
    #[arg(long, value_name = "FOLDER")]
    originals: Option<PathBuf>,

    /// The model that tokens are for where a call names none
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<Answer, Failure> {
    let roots = Roots::new(&arguments.root);
    let engine = engine(&context.settings, arguments.model.clone())?;
    let settings = cupel_mcp::Settings {
        roots: roots.map_err(|error| Failure::cannot(format!("--root: {error}")))?,
        originals: arguments.originals.clone().map(Originals::in_folder),
        engine,
    };
    let served = match arguments.http {
        None => serve_stdio(settings),
        Some(address) => {
            let token = env::var(TOKEN).ok().filter(|token| !token.is_empty());
            serve_http(settings, address, token.as_deref(), |address| {
                output::say(&format!("listening at http://{address}/mcp"));
            })
        }
    };
    match served {
        Ok(()) => Ok(Answer::Yes),
        Err(ServeError::Io(error)) => Err(Failure::cannot(match arguments.http {
            Some(address) => format!("cannot listen at {address}: {error}"),
            None => format!("cannot start: {error}"),
        })),
        Err(error) => Err(Failure::cannot(error.to_string())),
    }
}

/// An engine as the configuration says, for a model; it is tried once, so that what is wrong with it is said at once.
pub(crate) fn engine(
    settings: &Settings,
    model: Option<String>,
) -> Result<EngineBuilder, Failure> {
    let mut builder = Engine::builder();
    if let Some(model) = model.or(settings.text("model")) {
        builder = builder.model(model);
    }
    if let Some(tokenizer) = settings.path("tokenizer") {
        builder = builder.tokenizer(tokenizer);
    }
    builder.clone().build().map_err(|error| Failure::of_settings(&error))?;
    Ok(builder)
}
