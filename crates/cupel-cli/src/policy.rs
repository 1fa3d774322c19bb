//! The policy that a word stands for: one that is known, or a file.

use std::path::Path;

use cupel_engine::{DEFAULT_POLICY, NamedPolicy};

use crate::error::Failure;
use crate::input::Input;
use crate::settings::Settings;

/// The policy of the flag, or of the settings, or the default.
pub(crate) fn chosen(flag: Option<&str>, settings: &Settings) -> Result<NamedPolicy, Failure> {
    match flag {
        Some(name) => load(name),
        None => load(settings.path("policy").as_deref().unwrap_or(DEFAULT_POLICY)),
    }
}

/// A policy that is known, or one that is in a file: `./chat` is a file, `chat` is not.
pub(crate) fn load(name: &str) -> Result<NamedPolicy, Failure> {
    let unknown = match NamedPolicy::find(name) {
        Ok(policy) => return Ok(policy),
        Err(unknown) => unknown,
    };
    let path = Path::new(name);
    let is_file = path.exists() || path.components().count() > 1 || path.extension().is_some();
    if !is_file && name != "-" {
        return Err(Failure::of_settings(&unknown));
    }
    let input = Input::read(Some(path))?;
    read(&input).map_err(|error| Failure::of(&input.name(), &error))
}

/// The policy in a file.
pub(crate) fn read(input: &Input) -> Result<NamedPolicy, cupel_engine::EngineError> {
    NamedPolicy::read(&input.name(), &input.text)
}
