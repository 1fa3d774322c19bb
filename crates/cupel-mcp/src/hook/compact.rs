//! `PreCompact` notes the user's standing rules, `SessionStart` says them again.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use cupel_engine::{Options, Prepared, RepairMode};
use serde_json::{Value, json};

use super::log::Deed;
use super::{HookError, HookSettings, Said};
use crate::source::imported;

/// The most bytes of rules that are said again: about 2,000 tokens. Of more, the newest are.
const MOST_BYTES: usize = 8_000;

/// Notes the rules of a session that is about to be compacted, beside those that were noted before.
pub(super) fn before(said: &Said, settings: &HookSettings) -> Result<Option<Value>, HookError> {
    let Some(transcript) = &said.transcript_path else {
        return Err(HookError::Input(
            "transcript_path is missing; nothing says what the rules are".into(),
        ));
    };
    let log = settings.log(&said.session_id)?;
    let mut rules = log.rules()?;
    for rule in read(transcript, settings)?.0.standing_rules() {
        // What is said twice is said last.
        rules.retain(|known| *known != rule.text);
        rules.push(rule.text);
    }
    log.add(&Deed::Noted { rules })?;
    Ok(None)
}

/// Says them again where a session goes on after a compaction.
pub(super) fn after(said: &Said, settings: &HookSettings) -> Result<Option<Value>, HookError> {
    let log = settings.log(&said.session_id)?;
    log.add(&Deed::Begun { transcript: said.transcript_path.clone() })?;
    if said.source.as_deref() != Some("compact") {
        return Ok(None);
    }
    let rules = log.rules()?;
    let mut bytes = 0_usize;
    let newest = rules.iter().rev().take_while(|rule| {
        bytes = bytes.saturating_add(rule.len());
        bytes <= MOST_BYTES
    });
    let told = newest.count();
    if told == 0 {
        return Ok(None);
    }
    log.add(&Deed::PutBack { rules: told })?;
    let lines: Vec<String> =
        rules[rules.len() - told..].iter().map(|rule| format!("- {}", indented(rule))).collect();
    let text = format!(
        "The conversation was compacted. Before that, the user stated these rules and corrections, which still hold; where two \
         disagree, the later one does:\n{}",
        lines.join("\n")
    );
    Ok(Some(
        json!({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}}),
    ))
}

fn indented(rule: &str) -> String {
    rule.lines().collect::<Vec<_>>().join("\n  ")
}

/// The last request of a transcript, and what the file does not tell of it.
pub(super) fn read(
    transcript: &Path,
    settings: &HookSettings,
) -> Result<(Prepared, Vec<String>), HookError> {
    let text =
        fs::read(transcript).map_err(|error| HookError::Io(transcript.to_path_buf(), error))?;
    let read = imported(String::from_utf8_lossy(&text).into_owned(), None)?;
    // A transcript may end in the middle of a step.
    let engine = settings.engine.clone().repair_by(Some(RepairMode::Drop)).build()?;
    Ok((engine.prepare(Arc::clone(&read.text), &Options::new())?, read.notes))
}
