//! Errors as exceptions.

use std::fmt::Display;

use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};

create_exception!(
    magpie_qd,
    MagpieError,
    PyRuntimeError,
    "Something that magpie cannot do: the message names the place, what was found, what is allowed, and a remedy."
);

/// An error of the library.
pub fn failed(reason: impl Display) -> PyErr {
    MagpieError::new_err(reason.to_string())
}

/// An argument that cannot be used.
pub fn invalid(reason: impl Display) -> PyErr {
    PyValueError::new_err(reason.to_string())
}
