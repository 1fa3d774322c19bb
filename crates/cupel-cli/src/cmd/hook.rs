//! `cupel hook`: what a plugin of Claude Code calls.

use std::env;
use std::path::PathBuf;

use clap::Args;
use cupel_engine::parse_tokens;
use cupel_mcp::hook::{self, HookError, HookSettings};

use super::{Context, mcp};
use crate::error::{Answer, Failure};
use crate::input::Input;
use crate::output;

/// The variable by which Claude Code tells a plugin's hooks where its data are.
const DATA: &str = "CLAUDE_PLUGIN_DATA";

const EXAMPLES: &str = "\
Examples:
  cupel hook < event.json
  cupel hook --why 3f1c9a50-6a51-4be0-8ee4-0e7a3c1c5f7a --data ~/.claude/plugins/data/cupel

The plugin in integrations/claude-code calls it; nobody else has to.";

/// Answers a hook of Claude Code: shortens results, says rules again
///
/// Reads what the agent says of an event on stdin. After a tool: texts of its result that are too long go
/// in shorter, with a handle by which the whole is had back. Before a compaction, the user's standing rules
/// are noted; after it they are said again. In all other cases nothing is answered.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Where whole texts and logs of sessions are kept; the plugin's folder if absent
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,

    /// Shorten texts of results with more tokens than that
    #[arg(long, value_name = "TOKENS", value_parser = parse_tokens, default_value = "3000")]
    above: i64,

    /// Shorten them to so many tokens
    #[arg(long, value_name = "TOKENS", value_parser = parse_tokens, default_value = "1200")]
    to: i64,

    /// Say what hooks did in this session, and what is in its context now
    #[arg(long, value_name = "SESSION")]
    why: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<Answer, Failure> {
    let (above, to) = (arguments.above, arguments.to);
    if to > above || to <= 0 {
        return Err(Failure::cannot(format!("--to: must be positive and at most --above ({above}), got {to}")));
    }
    let data = arguments.data.clone().or_else(|| env::var_os(DATA).map(PathBuf::from));
    let Some(data) = data.filter(|data| !data.as_os_str().is_empty()) else {
        return Err(Failure::cannot(format!("nothing says where to keep whole texts; name a folder with --data, or set {DATA}")));
    };
    let settings = HookSettings { data, above, to, engine: mcp::engine(&context.settings, None)? };
    let failed = |error: HookError| Failure::cannot(error.to_string());
    if let Some(session) = &arguments.why {
        output::print(&hook::why(session, &settings).map_err(failed)?)?;
        return Ok(Answer::Yes);
    }
    let said = Input::read(None)?;
    if let Some(answer) = hook::claude_code(&said.text, &settings).map_err(failed)? {
        output::print_data(&(answer + "\n"), cupel_names::readable_json)?;
    }
    Ok(Answer::Yes)
}
