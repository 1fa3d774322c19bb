//! `PostToolUse`: long texts of a result go in shorter, each with the handle of the whole.

use cupel_engine::Engine;
use serde_json::{Value, json};

use super::log::{Deed, SessionLog};
use super::{HookError, HookSettings, Said};
use crate::Originals;

/// Values of a result that programs read, whatever their length: a path that is cut leads nowhere.
const NO_TEXTS: [&str; 4] = ["filePath", "persistedOutputPath", "data", "base64"];

pub(super) fn answer(said: &Said, settings: &HookSettings) -> Result<Option<Value>, HookError> {
    let tool = said.tool_name.as_deref().unwrap_or_default();
    if is_own(tool) {
        return Ok(None);
    }
    let shortener = Shortener {
        engine: settings.engine.clone().build()?,
        originals: settings.originals(),
        log: settings.log(&said.session_id)?,
        tool,
        call: said.tool_use_id.as_deref().unwrap_or_default(),
        settings,
    };
    let mut result = said.tool_response.clone();
    // Nothing recurses: a result may be nested as deep as a tool likes.
    let mut waiting = vec![&mut result];
    let mut has_changed = false;
    while let Some(value) = waiting.pop() {
        match value {
            Value::String(text) => has_changed |= shortener.shorten(text)?,
            Value::Array(values) => waiting.extend(values),
            Value::Object(fields) => {
                let fields =
                    fields.iter_mut().filter(|(name, _)| !NO_TEXTS.contains(&name.as_str()));
                waiting.extend(fields.map(|(_, value)| value));
            }
            _ => {}
        }
    }
    Ok(has_changed.then(|| {
        json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": result}})
    }))
}

/// Whether a tool is one of this server: what it gives back whole must stay whole.
fn is_own(tool: &str) -> bool {
    tool.strip_prefix("mcp__").is_some_and(|rest| {
        rest.split("__").any(|part| part == "cupel" || part.ends_with("_cupel"))
    })
}

struct Shortener<'a> {
    engine: Engine,
    originals: Originals,
    log: SessionLog,
    tool: &'a str,
    call: &'a str,
    settings: &'a HookSettings,
}

impl Shortener<'_> {
    /// Shortens a text in place, if it is too long; the whole is kept before.
    fn shorten(&self, text: &mut String) -> Result<bool, HookError> {
        // A token has a byte at least.
        if i64::try_from(text.len()).is_ok_and(|bytes| bytes <= self.settings.above) {
            return Ok(false);
        }
        let whole = self.engine.fit_text(text, Some(self.tool), self.settings.above)?;
        if whole.form.is_none() {
            return Ok(false);
        }
        let fitted = self.engine.fit_text(text, Some(self.tool), self.settings.to)?;
        let Some(form) = fitted.form else { return Ok(false) };
        let failed = |error| HookError::Io(self.settings.data.clone(), error);
        let handle = self.originals.keep(text).map_err(failed)?;
        let note = format!(
            "[shortened from {} tokens; the tool retrieve of cupel gives the whole: {handle}]",
            fitted.tokens_before
        );
        self.log.add(&Deed::Shortened {
            tool: self.tool.to_owned(),
            call: self.call.to_owned(),
            handle,
            form,
            before: fitted.tokens_before,
            after: fitted.tokens_after,
        })?;
        let mark = if fitted.text.ends_with('\n') { "" } else { "\n" };
        *text = format!("{}{mark}{note}", fitted.text);
        Ok(true)
    }
}
