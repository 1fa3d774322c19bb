//! Items and budgets.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, NaiveDateTime, Utc};
use cupel::{ContextBudget, ContextItem, ContextItemBuilder, ContextKind, ContextSource};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::engine::written;
use crate::errors;

/// A candidate: a text, what it costs, and what is known of it.
#[pyclass(frozen, module = "cupel_context._native")]
pub(crate) struct Item(pub(crate) ContextItem);

#[pymethods]
impl Item {
    #[new]
    #[pyo3(signature = (
        content, tokens, *, kind=None, source=None, priority=None, tags=Vec::new(),
        metadata=HashMap::new(), timestamp=None, future_relevance_hint=None, pinned=false,
        original_tokens=None,
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords")]
    fn new(
        py: Python<'_>,
        content: String,
        tokens: i64,
        kind: Option<&str>,
        source: Option<&str>,
        priority: Option<i64>,
        tags: Vec<String>,
        metadata: HashMap<String, String>,
        timestamp: Option<Bound<'_, PyAny>>,
        future_relevance_hint: Option<f64>,
        pinned: bool,
        original_tokens: Option<i64>,
    ) -> PyResult<Self> {
        let failed = |error| errors::of_library(py, &error);
        let mut item =
            ContextItemBuilder::new(content, tokens).tags(tags).metadata(metadata).pinned(pinned);
        if let Some(kind) = kind {
            item = item.kind(ContextKind::new(kind).map_err(failed)?);
        }
        if let Some(source) = source {
            item = item.source(ContextSource::new(source).map_err(failed)?);
        }
        if let Some(priority) = priority {
            item = item.priority(priority);
        }
        if let Some(timestamp) = timestamp {
            item = item.timestamp(moment("timestamp", &timestamp)?);
        }
        if let Some(hint) = future_relevance_hint {
            item = item.future_relevance_hint(hint);
        }
        if let Some(tokens) = original_tokens {
            item = item.original_tokens(tokens);
        }
        item.build().map(Self).map_err(failed)
    }

    #[getter]
    fn content(&self) -> &str {
        self.0.content()
    }

    #[getter]
    fn tokens(&self) -> i64 {
        self.0.tokens()
    }

    #[getter]
    fn kind(&self) -> &str {
        self.0.kind().as_str()
    }

    #[getter]
    fn source(&self) -> &str {
        self.0.source().as_str()
    }

    #[getter]
    fn priority(&self) -> Option<i64> {
        self.0.priority()
    }

    #[getter]
    fn tags(&self) -> Vec<String> {
        self.0.tags().to_vec()
    }

    #[getter]
    fn metadata(&self) -> BTreeMap<String, String> {
        self.0.metadata().clone().into_iter().collect()
    }

    #[getter]
    fn timestamp(&self) -> Option<DateTime<Utc>> {
        self.0.timestamp()
    }

    #[getter]
    fn future_relevance_hint(&self) -> Option<f64> {
        self.0.future_relevance_hint()
    }

    #[getter]
    fn pinned(&self) -> bool {
        self.0.pinned()
    }

    #[getter]
    fn original_tokens(&self) -> Option<i64> {
        self.0.original_tokens()
    }

    /// The item in its wire form, as JSON.
    fn to_json(&self) -> PyResult<String> {
        written(&self.0)
    }

    fn __repr__(&self) -> String {
        let text: String = self.0.content().chars().take(40).collect();
        format!("Item({text:?}, {})", self.0.tokens())
    }
}

/// Budget of items.
#[pyclass(frozen, module = "cupel_context._native")]
pub(crate) struct Budget(pub(crate) ContextBudget);

#[pymethods]
impl Budget {
    #[new]
    #[pyo3(signature = (
        max_tokens, *, target_tokens=None, output_reserve=0, reserved_slots=BTreeMap::new(),
        margin_percent=0.0,
    ))]
    fn new(
        py: Python<'_>,
        max_tokens: i64,
        target_tokens: Option<i64>,
        output_reserve: i64,
        reserved_slots: BTreeMap<String, i64>,
        margin_percent: f64,
    ) -> PyResult<Self> {
        let failed = |error| errors::of_library(py, &error);
        let mut budget = ContextBudget::builder(max_tokens)
            .output_reserve(output_reserve)
            .estimation_safety_margin_percent(margin_percent);
        if let Some(target) = target_tokens {
            budget = budget.target_tokens(target);
        }
        for (kind, tokens) in reserved_slots {
            budget = budget.reserve(ContextKind::new(kind).map_err(failed)?, tokens);
        }
        budget.build().map(Self).map_err(failed)
    }

    #[getter]
    fn max_tokens(&self) -> i64 {
        self.0.max_tokens()
    }

    #[getter]
    fn target_tokens(&self) -> i64 {
        self.0.target_tokens()
    }

    #[getter]
    fn output_reserve(&self) -> i64 {
        self.0.output_reserve()
    }

    #[getter]
    fn margin_percent(&self) -> f64 {
        self.0.estimation_safety_margin_percent()
    }

    #[getter]
    fn reserved_slots(&self) -> BTreeMap<String, i64> {
        self.0.reserved_slots().iter().map(|(kind, tokens)| (kind.to_string(), *tokens)).collect()
    }

    fn __repr__(&self) -> String {
        let (max, target) = (self.0.max_tokens(), self.0.target_tokens());
        format!("Budget({max}, target_tokens={target}, output_reserve={})", self.0.output_reserve())
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

/// A moment: a text in ISO 8601 or a `datetime`. What has no offset is UTC.
pub(crate) fn moment(path: &str, value: &Bound<'_, PyAny>) -> PyResult<DateTime<Utc>> {
    let py = value.py();
    let written = match value.cast::<PyString>() {
        Ok(text) => text.clone(),
        Err(_) => value.call_method0(intern!(py, "isoformat"))?.cast_into::<PyString>()?,
    };
    let text = written.to_str()?;
    let with_offset = text.parse::<DateTime<Utc>>();
    let without = || text.parse::<NaiveDateTime>().ok().map(|moment| moment.and_utc());
    with_offset.ok().or_else(without).ok_or_else(|| {
        let rule = format!("must be a moment as 2025-01-01T12:00:00Z, got {text:?}");
        errors::invalid_argument(py, path, rule)
    })
}
