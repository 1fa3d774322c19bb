//! `cupel view`: a request as a page in the browser.

use std::process::{Command, Stdio};

use clap::Args;

use super::Context;
use crate::cli::{FileArgument, SelectionArguments};
use crate::error::{Answer, Failure};
use crate::output;
use crate::page::{Page, Server};
use crate::session::SessionArguments;

const EXAMPLES: &str = "\
Examples:
  cupel view request.json
  cupel view request.json --max 8000 --no-open
  cupel view history.json --max 8000 --session run.session";

/// Opens a page that shows what is kept at every budget, and why
///
/// Serves the page to this machine alone, on a free port, and prints its address, with a token that nobody
/// else has; Ctrl-C ends it. The
/// slider moves the budget, other policies can be put beside. A request that fits whole opens at a
/// fifth of its tokens, so that there is something to see. With --session, shows the next step, as
/// `cupel explain` does. `cupel explain --html FILE` writes the same page as one file.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    input: FileArgument,

    #[command(flatten)]
    selection: SelectionArguments,

    #[command(flatten)]
    session: SessionArguments,

    /// Another policy to compare with, beside those that are known by name (repeatable)
    #[arg(long, value_name = "FILE|PRESET")]
    beside: Vec<String>,

    /// The port to serve on; a free one if absent
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,

    /// Do not open a browser
    #[arg(long)]
    no_open: bool,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<Answer, Failure> {
    let engine = arguments.selection.engine(context)?;
    let input = arguments.input.read(&arguments.selection.request)?;
    let Arguments { selection, session, beside, .. } = arguments;
    let view = Page { context, selection, session, beside, output: None }.view(&engine, &input)?;
    let server = Server::bind(arguments.port, cupel_page::page(&view), !arguments.no_open).map_err(|error| {
        let port = arguments.port;
        Failure::cannot(format!("port {port}: cannot listen: {error}; take another with --port"))
    })?;
    output::print(&format!("{}\n", server.url()))?;
    if !arguments.no_open {
        open(&server.url());
    }
    server.run();
    Ok(Answer::Yes)
}

/// Opens a browser, if this machine has a way to. Whoever has none reads the address.
fn open(url: &str) {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    let mut command = Command::new(program);
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _ = command.spawn();
}
