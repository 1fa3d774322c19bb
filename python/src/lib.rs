//! Cupel for Python: a thin layer on `cupel-engine`, which is imported as `cupel_context._native`.
//!
//! Values from Python become text (`json.rs`), answers of the engine become JSON, and everything
//! between runs without the interpreter's lock (`work.rs`). Names, types and documentation of the
//! package are in `lib/cupel_context`.

mod arrow;
mod capsule;
mod engine;
mod errors;
mod fork;
mod json;
mod model;
mod options;
mod pipeline;
mod renderer;
mod replay;
mod rows;
mod session;
mod strategy;
mod work;

use pyo3::prelude::*;

/// The engine behind the package `cupel`.
#[pymodule(gil_used = false)]
mod _native {
    use std::ffi::OsString;
    use std::io::Write;

    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::arrow::select_batch;
    #[pymodule_export]
    use crate::engine::{Engine, Selection};
    #[pymodule_export]
    use crate::model::{Budget, Item};
    #[pymodule_export]
    use crate::pipeline::Pipeline;
    #[pymodule_export]
    use crate::replay::Replay;
    #[pymodule_export]
    use crate::session::{Session, Step};
    #[pymodule_export]
    use crate::strategy::{Placer, Scorer, Slicer};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::fork::register(module)?;
        module.add("VERSION", env!("CARGO_PKG_VERSION"))
    }

    /// A value as the JSON text that the engine would read.
    #[pyfunction]
    fn dumps(value: &Bound<'_, PyAny>) -> PyResult<String> {
        Ok(crate::json::request_text(value)?.to_string())
    }

    /// The handle of a text: what names it for good.
    #[pyfunction]
    fn handle(text: &str) -> String {
        cupel_engine::handle(text)
    }

    /// Policies that are known by name, as JSON.
    #[pyfunction]
    fn policies() -> PyResult<String> {
        crate::engine::written(&cupel_engine::policies())
    }

    /// The models that are known, as JSON.
    #[pyfunction]
    fn models() -> PyResult<String> {
        crate::engine::written(&cupel_engine::models())
    }

    /// Runs the command with these arguments, the first of which is its name; the exit code.
    #[pyfunction]
    fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
        py.detach(|| {
            let code = cupel_cli::exit_code(arguments);
            // Nobody flushes behind us, as at the end of a program that is Rust's own.
            let _ = std::io::stdout().flush();
            code
        })
    }
}
