//! Columns of requests: Arrow in, Arrow out.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread;

use arrow_array::builder::{Int64Builder, ListBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use cupel_engine::Options;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::capsule;
use crate::engine::Engine;
use crate::work::Abandoned;
use crate::{errors, options, rows, work};

/// The windows of a column of requests, row by row. A row that fails stops no other.
///
/// Requests and budgets are read where they lie, in the memory of whoever made the columns. What
/// comes back are the capsules of a batch.
#[pyfunction]
#[pyo3(signature = (requests, budgets, engine, options, threads))]
pub(crate) fn select_batch<'py>(
    py: Python<'py>,
    requests: Bound<'_, PyAny>,
    budgets: Option<Bound<'_, PyAny>>,
    engine: PyRef<'_, Engine>,
    options: &str,
    threads: Option<NonZeroUsize>,
) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    let requests = Texts::of(py, capsule::array_of(&requests)?)?;
    let budgets = match budgets {
        Some(budgets) => Some(Numbers::of(py, capsule::array_of(&budgets)?)?),
        None => None,
    };
    if let Some(budgets) = budgets.as_ref().filter(|budgets| budgets.len() != requests.len()) {
        let (rows, got) = (requests.len(), budgets.len());
        let rule = format!("must be one for each request, got {got} for {rows}");
        return Err(errors::invalid_argument(py, "budgets", rule));
    }
    let job =
        Job { engine: engine.0.clone(), options: options::read(py, options)?, requests, budgets };
    let threads = threads.or_else(|| thread::available_parallelism().ok());
    let rows = work::run(py, true, move || job.rows(threads.map_or(1, NonZeroUsize::get)))?;
    let batch = batch(&rows).map_err(|error| {
        pyo3::exceptions::PyRuntimeError::new_err(format!("the result is no batch: {error}"))
    })?;
    capsule::capsules_of(py, batch)
}

/// A column of texts.
pub(crate) struct Texts(ArrayRef);

impl Texts {
    pub(crate) fn of(py: Python<'_>, array: ArrayRef) -> PyResult<Self> {
        use DataType::{Binary, LargeBinary, LargeUtf8, Utf8, Utf8View};
        match array.data_type() {
            Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary => Ok(Self(array)),
            other => {
                let rule = format!("must be a column of texts, got {other}");
                Err(errors::invalid_argument(py, "requests", rule))
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The text of a row; `None` if there is none.
    pub(crate) fn at(&self, row: usize) -> Option<Result<&str, String>> {
        if self.0.is_null(row) {
            return None;
        }
        let bytes = match self.0.data_type() {
            DataType::Utf8 => return Some(Ok(self.0.as_string::<i32>().value(row))),
            DataType::LargeUtf8 => return Some(Ok(self.0.as_string::<i64>().value(row))),
            DataType::Utf8View => return Some(Ok(self.0.as_string_view().value(row))),
            DataType::Binary => self.0.as_binary::<i32>().value(row),
            _ => self.0.as_binary::<i64>().value(row),
        };
        Some(std::str::from_utf8(bytes).map_err(|error| format!("the text is not UTF-8: {error}")))
    }
}

/// A column of whole numbers.
struct Numbers(ArrayRef);

impl Numbers {
    fn of(py: Python<'_>, array: ArrayRef) -> PyResult<Self> {
        match array.data_type() {
            DataType::Int32 | DataType::Int64 => Ok(Self(array)),
            other => {
                let rule = format!("must be a column of whole numbers, got {other}");
                Err(errors::invalid_argument(py, "budgets", rule))
            }
        }
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn at(&self, row: usize) -> Option<i64> {
        if self.0.is_null(row) {
            return None;
        }
        Some(match self.0.data_type() {
            DataType::Int32 => self.0.as_primitive::<Int32Type>().value(row).into(),
            _ => self.0.as_primitive::<Int64Type>().value(row),
        })
    }
}

struct Job {
    engine: cupel_engine::Engine,
    options: Options,
    requests: Texts,
    budgets: Option<Numbers>,
}

/// Outcome for a row.
enum Row {
    /// There is no request.
    Absent,
    Window(Box<cupel_engine::Selection>),
    /// The error, as JSON.
    Failed(String),
}

impl Job {
    /// All rows, in order, by so many threads.
    fn rows(&self, threads: usize) -> Vec<Row> {
        let abandoned = Abandoned::here();
        let stopped = "the engine stopped at this row; please report it";
        let failed = || Row::Failed(failure("internal", stopped));
        rows::done(self.requests.len(), threads, || abandoned.is_so(), |row| self.row(row), failed)
    }

    fn row(&self, row: usize) -> Row {
        let text = match self.requests.at(row) {
            None => return Row::Absent,
            Some(Err(rule)) => return Row::Failed(failure("malformed-request", &rule)),
            Some(Ok(text)) => text,
        };
        let budget = self.budgets.as_ref().and_then(|budgets| budgets.at(row));
        let selected = work::heard(|| match budget {
            Some(tokens) => self.engine.select_with(text, &self.options.clone().max_tokens(tokens)),
            None => self.engine.select_with(text, &self.options),
        });
        let selected = match selected {
            Ok(selected) => selected,
            Err(raised) => return Row::Failed(failure("renderer-failed", &raised.to_string())),
        };
        match selected {
            Ok(selection) => Row::Window(Box::new(selection)),
            Err(error) => Row::Failed(serde_json::to_string(&error).unwrap_or_default()),
        }
    }
}

fn failure(code: &str, rule: &str) -> String {
    serde_json::json!({ "schema": "cupel/1", "code": code, "rule": rule }).to_string()
}

fn batch(rows: &[Row]) -> Result<RecordBatch, arrow_schema::ArrowError> {
    let bytes = rows.iter().map(|row| match row {
        Row::Window(selection) => selection.text.len(),
        _ => 0,
    });
    let mut windows = StringBuilder::with_capacity(rows.len(), bytes.sum());
    let mut kept = ListBuilder::new(Int64Builder::new());
    let (mut before, mut after) = (Int64Builder::new(), Int64Builder::new());
    let (mut summaries, mut errors) = (StringBuilder::new(), StringBuilder::new());
    for row in rows {
        let Row::Window(selection) = row else {
            windows.append_null();
            kept.append_null();
            before.append_null();
            after.append_null();
            summaries.append_null();
            match row {
                Row::Failed(error) => errors.append_value(error),
                _ => errors.append_null(),
            }
            continue;
        };
        windows.append_value(&selection.text);
        kept.append_value(selection.kept_messages.iter().map(|at| i64::try_from(*at).ok()));
        before.append_value(selection.summary.tokens_before);
        after.append_value(selection.summary.tokens_after);
        summaries.append_value(serde_json::to_string(&selection.summary).unwrap_or_default());
        errors.append_null();
    }
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("window", Arc::new(windows.finish())),
        ("kept", Arc::new(kept.finish())),
        ("tokens_before", Arc::new(before.finish())),
        ("tokens_after", Arc::new(after.finish())),
        ("summary", Arc::new(summaries.finish())),
        ("error", Arc::new(errors.finish())),
    ];
    // Every column may be null, whatever is in this batch: all batches have one schema.
    let fields: Vec<Field> = columns
        .iter()
        .map(|(name, column)| Field::new(*name, column.data_type().clone(), true))
        .collect();
    let columns = columns.into_iter().map(|(_, column)| column).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
}
