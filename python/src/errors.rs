//! Exceptions that have code, path and remedy.

use cupel::CupelError;
use cupel_engine::EngineError;
use pyo3::intern;
use pyo3::prelude::*;
use serde_json::{Value, json};

/// Something that is wrong with what Python handed in.
pub(crate) struct Problem {
    code: &'static str,
    rule: String,
    path: String,
    remedy: Option<String>,
}

impl Problem {
    pub(crate) fn new(code: &'static str, rule: String) -> Self {
        Self { code, rule, path: String::new(), remedy: None }
    }

    pub(crate) fn path(mut self, path: &str) -> Self {
        path.clone_into(&mut self.path);
        self
    }

    pub(crate) fn remedy(mut self, remedy: &str) -> Self {
        self.remedy = Some(remedy.to_owned());
        self
    }

    pub(crate) fn raise(self, py: Python<'_>) -> PyErr {
        let Self { code, rule, path, remedy } = self;
        let path = (!path.is_empty()).then_some(path);
        raised(py, &json!({ "code": code, "rule": rule, "path": path, "remedy": remedy }))
    }
}

/// An argument that makes no sense.
pub(crate) fn invalid_argument(py: Python<'_>, path: &str, rule: impl Into<String>) -> PyErr {
    Problem::new("invalid-argument", rule.into()).path(path).raise(py)
}

/// An error of the engine: all that it says.
pub(crate) fn of_engine(py: Python<'_>, error: &EngineError) -> PyErr {
    let mut details = serde_json::to_value(error).unwrap_or_default();
    details["message"] = Value::from(error.to_string());
    raised(py, &details)
}

/// An error of the library, with its numbers.
pub(crate) fn of_library(py: Python<'_>, error: &CupelError) -> PyErr {
    let details = match error {
        CupelError::PinnedExceedsBudget { pinned_tokens, available } => {
            json!({ "pinned_tokens": pinned_tokens, "available": available })
        }
        CupelError::Overflow { merged_tokens, target_tokens } => {
            json!({ "merged_tokens": merged_tokens, "target_tokens": target_tokens })
        }
        CupelError::TableTooLarge { candidates, capacity, cells } => {
            json!({ "candidates": candidates, "capacity": capacity, "cells": cells })
        }
        _ => json!({}),
    };
    raised(py, &json!({ "code": error.code(), "rule": error.to_string(), "details": details }))
}

/// The exception for these details. Its class is Python's to choose.
fn raised(py: Python<'_>, details: &Value) -> PyErr {
    let made = py
        .import(intern!(py, "cupel_context._errors"))
        .and_then(|module| module.getattr(intern!(py, "make")))
        .and_then(|make| make.call1((details.to_string(),)));
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// Adds a name to a path: with a point, or in brackets where it is no plain name.
pub(crate) fn push_name(path: &mut String, name: &str) {
    let is_plain = !name.is_empty()
        && name.chars().all(|char| char.is_alphanumeric() || matches!(char, '_' | '-' | '$'));
    if !is_plain {
        path.push('[');
        path.push_str(&Value::from(name).to_string());
        path.push(']');
        return;
    }
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(name);
}
