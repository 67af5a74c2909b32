//! The values of a column, whichever of Arrow's types it has.

use arrow_array::cast::AsArray;
use arrow_array::{AnyDictionaryArray, Array, RecordBatch, types};
use arrow_schema::DataType;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// The id of a key.
#[derive(Clone, Copy)]
pub(crate) enum Id<'a> {
    Named(&'a [u8]),
    Number(i128),
}

/// The values of a column, `None` for null.
type Values<T> = Vec<Option<T>>;

/// Reads a column, which must be there and have a type that `read` knows.
pub(crate) fn column<'a, T>(
    batch: &'a RecordBatch,
    name: &str,
    read: fn(&'a dyn Array) -> Result<Values<T>, &'static str>,
) -> PyResult<Values<T>> {
    let Some(column) = batch.column_by_name(name) else {
        let schema = batch.schema();
        let names: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        return Err(PyValueError::new_err(format!("no column {name:?}; the columns are {}", names.join(", "))));
    };
    let refused = |expected| {
        let given = column.data_type();
        PyTypeError::new_err(format!("column {name:?} is of {given}; expected {expected}, or a dictionary of these"))
    };
    read(column).map_err(refused)
}

/// The bytes of each value; the error says which types are known.
pub(crate) fn bytes(array: &dyn Array) -> Result<Values<&[u8]>, &'static str> {
    Ok(match array.data_type() {
        DataType::Binary => array.as_binary::<i32>().iter().collect(),
        DataType::LargeBinary => array.as_binary::<i64>().iter().collect(),
        DataType::FixedSizeBinary(_) => array.as_fixed_size_binary().iter().collect(),
        DataType::BinaryView => array.as_binary_view().iter().collect(),
        DataType::Utf8 => array.as_string::<i32>().iter().map(|text| text.map(str::as_bytes)).collect(),
        DataType::LargeUtf8 => array.as_string::<i64>().iter().map(|text| text.map(str::as_bytes)).collect(),
        DataType::Utf8View => array.as_string_view().iter().map(|text| text.map(str::as_bytes)).collect(),
        DataType::Null => vec![None; array.len()],
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            spread(dictionary, &bytes(dictionary.values())?)
        }
        _ => return Err("Binary, LargeBinary, FixedSizeBinary, BinaryView or strings"),
    })
}

/// The ids in a column.
pub(crate) fn ids(array: &dyn Array) -> Result<Values<Id<'_>>, &'static str> {
    macro_rules! numbers {
        ($type:ident) => {
            array.as_primitive::<types::$type>().iter().map(|id| id.map(|id| Id::Number(id.into()))).collect()
        };
    }
    Ok(match array.data_type() {
        DataType::Int8 => numbers!(Int8Type),
        DataType::Int16 => numbers!(Int16Type),
        DataType::Int32 => numbers!(Int32Type),
        DataType::Int64 => numbers!(Int64Type),
        DataType::UInt8 => numbers!(UInt8Type),
        DataType::UInt16 => numbers!(UInt16Type),
        DataType::UInt32 => numbers!(UInt32Type),
        DataType::UInt64 => numbers!(UInt64Type),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            spread(dictionary, &ids(dictionary.values())?)
        }
        _ => match bytes(array) {
            Ok(names) => names.into_iter().map(|name| name.map(Id::Named)).collect(),
            Err(_) => return Err("integers, strings, Binary, LargeBinary, FixedSizeBinary or BinaryView"),
        },
    })
}

/// The value of each row of a dictionary array.
fn spread<T: Copy>(dictionary: &dyn AnyDictionaryArray, values: &[Option<T>]) -> Values<T> {
    // An empty dictionary has null rows alone.
    if values.is_empty() {
        return vec![None; dictionary.len()];
    }
    let rows = dictionary.normalized_keys().into_iter().enumerate();
    rows.map(|(row, key)| values[key].filter(|_| dictionary.keys().is_valid(row))).collect()
}
