//! What hooks did in a session: a line of JSON for each deed, since hooks may run at the same time.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::HookError;
use crate::originals::make_folder;

/// Something that a hook did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "did", rename_all = "kebab-case")]
pub(super) enum Deed {
    /// A session began, or went on.
    Begun { transcript: Option<PathBuf> },
    /// A text of a result went in shorter.
    Shortened { tool: String, call: String, handle: String, form: String, before: i64, after: i64 },
    /// The rules of the user so far, noted before a compaction.
    Noted { rules: Vec<String> },
    /// They were said again after it.
    PutBack { rules: usize },
}

/// The log of one session.
pub(super) struct SessionLog {
    path: PathBuf,
}

impl SessionLog {
    pub(super) fn of(folder: &Path, session: &str) -> Result<Self, HookError> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if session.is_empty() || session.len() > 128 || !session.chars().all(is_name) {
            let shown = cupel_names::excerpt(session, 40, cupel_names::letters);
            return Err(HookError::Input(format!("`{shown}` is no name of a session")));
        }
        Ok(Self { path: folder.join(format!("{session}.jsonl")) })
    }

    /// Adds a line; in one write, so that another hook's line never stands in it.
    pub(super) fn add(&self, deed: &Deed) -> Result<(), HookError> {
        let failed = |error: io::Error| HookError::Io(self.path.clone(), error);
        let mut line =
            serde_json::to_string(deed).map_err(|error| HookError::Input(error.to_string()))?;
        line.push('\n');
        make_folder(self.path.parent().unwrap_or(&self.path)).map_err(failed)?;
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options
            .open(&self.path)
            .and_then(|mut file| file.write_all(line.as_bytes()))
            .map_err(failed)
    }

    /// All deeds, in order; none where no hook did anything yet. A line that a full disk cut short is passed over.
    pub(super) fn deeds(&self) -> Result<Vec<Deed>, HookError> {
        match fs::read_to_string(&self.path) {
            Ok(text) => {
                Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(HookError::Io(self.path.clone(), error)),
        }
    }

    /// The rules that were noted last.
    pub(super) fn rules(&self) -> Result<Vec<String>, HookError> {
        let noted = self.deeds()?.into_iter().rev().find_map(|deed| match deed {
            Deed::Noted { rules } => Some(rules),
            _ => None,
        });
        Ok(noted.unwrap_or_default())
    }
}
