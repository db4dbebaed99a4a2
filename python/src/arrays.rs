//! Arrays of numpy, checked.

use numpy::ndarray::ArrayView2;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::errors::invalid;

/// Copies a table of numbers, which must have this many columns and be finite. A copy, because the caller may change its
/// array while it is being used.
pub fn table(name: &str, array: &PyReadonlyArray2<'_, f32>, columns: usize) -> PyResult<Vec<f32>> {
    let view: ArrayView2<'_, f32> = array.as_array();
    let (rows, found) = view.dim();
    if found != columns {
        return Err(invalid(format_args!(
            "{name} has shape ({rows}, {found}), but rows need {columns} columns"
        )));
    }
    // In C order whatever the strides.
    let numbers: Vec<f32> = view.iter().copied().collect();
    match numbers.iter().position(|number| !number.is_finite()) {
        None => Ok(numbers),
        Some(at) => Err(invalid(format_args!(
            "{name}[{}, {}] is {}; all numbers must be finite",
            at / columns,
            at % columns,
            numbers[at]
        ))),
    }
}

/// An array of rows.
pub fn rows<'py, T: numpy::Element>(
    py: Python<'py>,
    numbers: Vec<T>,
    columns: usize,
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let rows = numbers.len().checked_div(columns).unwrap_or(0);
    PyArray1::from_vec(py, numbers).reshape([rows, columns])
}
