//! Options of one call, and policies, as Python hands them in.

use cupel_engine::{NamedPolicy, Options};
use pyo3::prelude::*;

use crate::errors;

/// Changes of one call to its engine's settings, as JSON by the keywords of the engine's table.
pub(crate) fn read(py: Python<'_>, options: &str) -> PyResult<Options> {
    Options::from_json(options).map_err(|error| errors::of_engine(py, &error))
}

/// A policy: the name of one that is known, or what its file says.
#[derive(FromPyObject)]
pub(crate) enum PolicyOf {
    Known(String),
    /// Name in reports, and TOML or JSON.
    Text(String, String),
}

impl PolicyOf {
    pub(crate) fn read(&self, py: Python<'_>) -> PyResult<NamedPolicy> {
        let policy = match self {
            Self::Known(name) => NamedPolicy::find(name),
            Self::Text(name, text) => NamedPolicy::read(name, text),
        };
        policy.map_err(|error| errors::of_engine(py, &error))
    }
}
