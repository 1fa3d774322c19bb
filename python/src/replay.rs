//! Rows of logs: Arrow in, Arrow out. The computation is that of `cupel replay`.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use cupel_replay::{LogRow, Place, ReplayedPolicy, Settings, result_rows, results_batch};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::arrow::Texts;
use crate::engine::Engine;
use crate::{capsule, errors, work};

/// Replays rows of a log, batch by batch: what was sent before in a conversation is remembered.
#[pyclass(frozen, module = "cupel_context._native")]
pub(crate) struct Replay(Arc<Mutex<(cupel_replay::Replay, usize)>>);

#[pymethods]
impl Replay {
    #[new]
    #[pyo3(signature = (policies, budgets, *, session=false, tokenizer=None, columns=None, threads=None))]
    fn new(
        py: Python<'_>,
        policies: Vec<(String, Py<Engine>)>,
        budgets: Vec<i64>,
        session: bool,
        tokenizer: Option<&str>,
        columns: Option<&str>,
        threads: Option<NonZeroUsize>,
    ) -> PyResult<Self> {
        let policy = |(name, engine): (String, Py<Engine>)| {
            let engine = engine.borrow(py).0.clone();
            ReplayedPolicy { name, engine }
        };
        let counter = cupel_engine::counter(tokenizer.unwrap_or("cl100k_base"));
        let counter = counter.map_err(|error| errors::of_engine(py, &error))?;
        let mut settings =
            Settings::new(policies.into_iter().map(policy).collect(), budgets, counter);
        settings.session = session;
        settings.details = true;
        if let Some(columns) = columns {
            let wrong = |error: cupel_replay::InvalidColumns| {
                errors::invalid_argument(py, "columns", error.to_string())
            };
            settings.columns = columns.parse().map_err(wrong)?;
        }
        if let Some(threads) = threads {
            settings.threads = threads;
        }
        Ok(Self(Arc::new(Mutex::new((cupel_replay::Replay::new(settings), 0)))))
    }

    /// Outcomes of the next rows: the capsules of a batch.
    fn push<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'_, PyAny>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let texts = Texts::of(py, capsule::array_of(rows)?)?;
        let replay = Arc::clone(&self.0);
        let results = work::run(py, true, move || {
            let mut replay = replay.lock().unwrap_or_else(PoisonError::into_inner);
            let (replay, seen) = &mut *replay;
            let row = |at: usize| {
                // What is no text is no JSON either, and is told as that.
                let text = texts.at(at).map(|text| text.unwrap_or("?").into()).unwrap_or_default();
                LogRow { place: Place::line("rows", *seen + at + 1), text }
            };
            let rows: Vec<LogRow> = (0..texts.len()).map(row).collect();
            *seen += texts.len();
            let outcomes = replay.push(rows);
            let ways = replay.ways();
            outcomes.rows.iter().flat_map(|outcome| result_rows(outcome, ways)).collect::<Vec<_>>()
        })?;
        let batch = results_batch(&results);
        let batch = batch
            .map_err(|error| PyRuntimeError::new_err(format!("the result is no batch: {error}")))?;
        capsule::capsules_of(py, batch)
    }
}
