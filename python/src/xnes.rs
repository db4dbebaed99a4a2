//! xNES, for emitters of other schedulers.

use std::sync::Mutex;

use magpie_random::Stream;
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::arrays::rows;
use crate::errors::{failed, invalid};

/// The search distribution of PPGA, with draws of its own.
#[pyclass(frozen, module = "magpie_qd._magpie")]
pub struct Xnes {
    inner: Mutex<(magpie_qd::Xnes, u64)>,
    stream: Stream,
    dims: usize,
}

#[pymethods]
impl Xnes {
    /// As a search starts it: over the coefficients of one objective and `measures` measure gradients.
    #[new]
    fn new(measures: usize, sigma0: f64, seed: u64) -> PyResult<Xnes> {
        let stream = Stream::new(seed, "xnes in Python");
        let xnes = magpie_qd::Xnes::start(measures, sigma0, &mut stream.draws(0, 0)).map_err(failed)?;
        Ok(Xnes { inner: Mutex::new((xnes, 0)), stream, dims: measures + 1 })
    }

    /// Starts again, with new draws.
    fn restart(&self, sigma0: f64) -> PyResult<()> {
        let mut inner = self.lock()?;
        inner.1 += 1;
        inner.0 = magpie_qd::Xnes::start(self.dims - 1, sigma0, &mut self.stream.draws(0, inner.1))
            .map_err(failed)?;
        Ok(())
    }

    /// `n` samples, a row each.
    fn ask<'py>(&self, py: Python<'py>, n: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let mut inner = self.lock()?;
        inner.1 += 1;
        let samples = inner.0.ask(n, &mut self.stream.draws(1, inner.1));
        rows(py, samples, self.dims)
    }

    /// Follows the ranks of the samples' fitness.
    fn tell(&self, samples: PyReadonlyArray2<'_, f64>, fitness: PyReadonlyArray1<'_, f64>) -> PyResult<()> {
        let samples: Vec<f64> = samples.as_array().iter().copied().collect();
        let fitness: Vec<f64> = fitness.as_array().to_vec();
        self.lock()?.0.tell(&samples, &fitness).map_err(invalid)
    }

    #[getter]
    fn mean<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(PyArray1::from_slice(py, self.lock()?.0.mean()))
    }
}

impl Xnes {
    fn lock(&self) -> PyResult<std::sync::MutexGuard<'_, (magpie_qd::Xnes, u64)>> {
        self.inner.lock().map_err(|_| failed("an earlier call failed half-way"))
    }
}
