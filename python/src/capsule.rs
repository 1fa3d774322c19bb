//! Arrays from and to Python by Arrow's C data interface: pointers in capsules, and no copies.
//!
//! The only `unsafe` code of the package. What a capsule of these names holds is what the interface
//! says, by its contract; there is no way to check it.

use std::ffi::CStr;
use std::ptr::NonNull;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow_array::{Array, ArrayRef, RecordBatch, StructArray, make_array};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";

/// An array that whoever made it lends: its buffers stay where they are.
pub(crate) fn array_of(value: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let py = value.py();
    let lent = value.call_method0(intern!(py, "__arrow_c_array__")).map_err(|_| {
        let name = value.get_type().name().map(|name| name.to_string()).unwrap_or_default();
        PyTypeError::new_err(format!("must be an Arrow array, got a value of type `{name}`"))
    })?;
    let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) =
        lent.cast_into::<PyTuple>()?.extract()?;
    let schema: NonNull<FFI_ArrowSchema> = schema.pointer_checked(Some(SCHEMA))?.cast();
    let array: NonNull<FFI_ArrowArray> = array.pointer_checked(Some(ARRAY))?.cast();
    // SAFETY: a capsule of this name holds such an array, by the contract of the interface. Taking
    // it out leaves an empty one behind, whose release is nothing; the capsules live until we return.
    let taken = unsafe { std::ptr::replace(array.as_ptr(), FFI_ArrowArray::empty()) };
    // SAFETY: as above; array and schema were made together.
    let data = unsafe { from_ffi(taken, schema.as_ref()) };
    let data = data.map_err(|error| PyTypeError::new_err(format!("no Arrow array: {error}")))?;
    Ok(make_array(data))
}

/// A batch as the two capsules that `pyarrow.RecordBatch._import_from_c_capsule` and others take.
pub(crate) fn capsules_of(
    py: Python<'_>,
    batch: RecordBatch,
) -> PyResult<(Bound<'_, PyCapsule>, Bound<'_, PyCapsule>)> {
    let rows = StructArray::from(batch);
    let (array, schema) = to_ffi(&rows.to_data())
        .map_err(|error| PyTypeError::new_err(format!("no Arrow array: {error}")))?;
    let schema = PyCapsule::new_with_value(py, schema, SCHEMA)?;
    let array = PyCapsule::new_with_value(py, array, ARRAY)?;
    Ok((schema, array))
}
