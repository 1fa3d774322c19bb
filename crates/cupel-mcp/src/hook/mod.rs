//! Hooks of Claude Code: long results go in shorter, and rules come back after a compaction.
//!
//! Each hook is a process of its own: it reads what the agent says from its input and answers on its output. What later
//! hooks need is in a folder: whole texts by their handles, and a log for each session. An answer changes the agent's
//! context only where something was shortened or put back; in all other cases there is none.

mod compact;
mod log;
mod shorten;
mod why;

use std::fmt;
use std::io;
use std::path::PathBuf;

use cupel_engine::EngineBuilder;
use serde::Deserialize;
use serde_json::Value;

use crate::{Originals, ToolError};
use log::SessionLog;
pub use why::why;

/// How hooks are set.
#[derive(Clone)]
pub struct HookSettings {
    /// Where whole texts and logs of sessions are.
    pub data: PathBuf,
    /// Texts of results with more tokens than that are shortened.
    pub above: i64,
    /// To so many tokens.
    pub to: i64,
    /// An engine as the user set it.
    pub engine: EngineBuilder,
}

impl HookSettings {
    /// The whole texts.
    #[must_use]
    pub fn originals(&self) -> Originals {
        Originals::in_folder(self.data.join("originals"))
    }

    fn log(&self, session: &str) -> Result<SessionLog, HookError> {
        SessionLog::of(&self.data.join("sessions"), session)
    }
}

impl fmt::Debug for HookSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { data, above, to, .. } = self;
        f.debug_struct("HookSettings")
            .field("data", data)
            .field("above", above)
            .field("to", to)
            .finish_non_exhaustive()
    }
}

/// Why a hook did nothing. The agent goes on as without it.
#[derive(Debug)]
pub enum HookError {
    /// The agent said something that is not understood.
    Input(String),
    /// A file that cannot be read or written.
    Io(PathBuf, io::Error),
    /// The engine could not do it.
    Engine(ToolError),
}

impl fmt::Display for HookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(why) => f.write_str(why),
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Engine(error) => f.write_str(&error.message()),
        }
    }
}

impl std::error::Error for HookError {}

impl<E: Into<ToolError>> From<E> for HookError {
    fn from(error: E) -> Self {
        Self::Engine(error.into())
    }
}

/// What Claude Code says to a hook; of each event a part.
#[derive(Debug, Deserialize)]
struct Said {
    hook_event_name: String,
    session_id: String,
    #[serde(default)]
    transcript_path: Option<PathBuf>,
    #[serde(default)]
    source: Option<String>,
    #[serde(default)]
    tool_name: Option<String>,
    #[serde(default)]
    tool_use_id: Option<String>,
    #[serde(default)]
    tool_response: Value,
}

/// Answers a hook of Claude Code: what it said as JSON, and what it shall be answered, if anything.
///
/// # Errors
///
/// If it is not understood, or a file cannot be read or written.
pub fn claude_code(said: &str, settings: &HookSettings) -> Result<Option<String>, HookError> {
    let said: Said = serde_json::from_str(said).map_err(|error| {
        HookError::Input(format!(
            "the input is no hook of Claude Code: {error}; it is called by a plugin, not by hand"
        ))
    })?;
    let answer = match said.hook_event_name.as_str() {
        "PostToolUse" => shorten::answer(&said, settings)?,
        "PreCompact" => compact::before(&said, settings)?,
        "SessionStart" => compact::after(&said, settings)?,
        other => {
            let rule = format!(
                "the hook `{other}` is not known; PostToolUse, PreCompact and SessionStart are"
            );
            return Err(HookError::Input(rule));
        }
    };
    Ok(answer.map(|answer| answer.to_string()))
}
