//! Arrow's C data interface, through the capsules of the PyCapsule interface, without a copy.
//!
//! The crate arrow-array reads and writes the structures; here are the capsules around them. The
//! interface has no lengths of buffers, so a producer's structures are believed, as in every
//! consumer of Arrow.

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{Array, ArrayRef, RecordBatch, StructArray};
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use std::ffi::CStr;
use std::ptr::NonNull;

/// A column of results.
///
/// It has the methods of Arrow's PyCapsule interface, so pyarrow.array, polars.Series and others
/// take it without a copy. A column of structures is also a table to them: pyarrow.record_batch.
#[pyclass(frozen, module = "aioli")]
pub(crate) struct Column(pub(crate) ArrayRef);

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __repr__(&self) -> String {
        format!("<aioli.Column of {} x {}>", self.0.len(), self.0.data_type())
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.0.data_type()).map_err(refused)?;
        PyCapsule::new_with_value(py, schema, SCHEMA)
    }

    /// The column as it is: a schema that is asked for may be ignored.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let _ = requested_schema;
        let (array, schema) = to_ffi(&self.0.to_data()).map_err(refused)?;
        let schema = PyCapsule::new_with_value(py, schema, SCHEMA)?;
        PyTuple::new(py, [schema, PyCapsule::new_with_value(py, array, ARRAY)?])
    }
}

/// The batches of a table, a batch or a stream of batches.
pub(crate) fn batches(object: &Bound<'_, PyAny>) -> PyResult<Vec<RecordBatch>> {
    if object.hasattr("__arrow_c_stream__")? {
        let capsule = object.call_method0("__arrow_c_stream__")?;
        let stream: NonNull<FFI_ArrowArrayStream> = pointer(&capsule, STREAM)?;
        // SAFETY: a capsule of this name holds such a structure. It is moved out, and what stays
        // behind is marked as released, which the destructor of the capsule heeds.
        let stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr()) };
        // A producer may need the interpreter in another thread before it answers.
        let batches = object.py().detach(|| RecordBatchStreamReader::try_new(stream)?.collect::<Result<_, _>>());
        return batches.map_err(refused);
    }
    if object.hasattr("__arrow_c_array__")? {
        let capsules = object.call_method0("__arrow_c_array__")?;
        let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) = capsules.extract()?;
        let schema: NonNull<FFI_ArrowSchema> = pointer(&schema, SCHEMA)?;
        let array: NonNull<FFI_ArrowArray> = pointer(&array, ARRAY)?;
        // SAFETY: as above, for an array.
        let array = unsafe { FFI_ArrowArray::from_raw(array.as_ptr()) };
        // SAFETY: a capsule of this name holds a schema, which stays in it, and `capsules` lives.
        let schema = unsafe { schema.as_ref() };
        // SAFETY: the producer of a pair of capsules promises that they belong together.
        let data = unsafe { from_ffi(array, schema) }.map_err(refused)?;
        return match data.data_type() {
            DataType::Struct(_) if data.null_count() == 0 => Ok(vec![StructArray::from(data).into()]),
            DataType::Struct(_) => Err(PyValueError::new_err("some rows of the table are null as a whole")),
            other => Err(PyTypeError::new_err(format!("expected a table, given a column of {other}"))),
        };
    }
    let given = object.get_type();
    let message = format!(
        "expected a table with Arrow's PyCapsule interface (__arrow_c_stream__ or __arrow_c_array__), such as \
         pyarrow's, Polars' or DuckDB's; given {given}"
    );
    Err(PyTypeError::new_err(message))
}

/// The structure in a capsule of this name.
fn pointer<T>(capsule: &Bound<'_, PyAny>, name: &CStr) -> PyResult<NonNull<T>> {
    let capsule = capsule.cast::<PyCapsule>()?;
    Ok(capsule.pointer_checked(Some(name))?.cast())
}

pub(crate) fn refused(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";
