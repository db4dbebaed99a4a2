//! Demonstrations.

use std::path::PathBuf;

use magpie_demos::{About, Columns, Episode, Foreign, Sizes, bundled};
use magpie_run::operations::{ImportOptions, import_demonstrations};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{rows, table};
use crate::environment::World;
use crate::errors::{failed, invalid};

/// Whole episodes of an expert, checked.
#[pyclass(frozen, module = "magpie_qd._magpie")]
pub struct Demonstrations {
    pub inner: magpie_demos::Demonstrations,
    warnings: Vec<String>,
}

impl From<magpie_demos::Demonstrations> for Demonstrations {
    fn from(inner: magpie_demos::Demonstrations) -> Demonstrations {
        Demonstrations { inner, warnings: Vec::new() }
    }
}

#[pymethods]
impl Demonstrations {
    /// Reads a file of magpie's.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Demonstrations> {
        Ok(magpie_demos::Demonstrations::load(&path).map_err(failed)?.into())
    }

    /// Those that come with magpie.
    #[staticmethod]
    fn bundled(task: &str) -> PyResult<Demonstrations> {
        let bytes = bundled(task)
            .ok_or_else(|| invalid(format_args!("there are no bundled demonstrations of {task:?}")))?;
        Ok(magpie_demos::Demonstrations::from_bytes(bytes).map_err(failed)?.into())
    }

    /// Reads a file or folder of imitation, Minari, D4RL, the paper or magpie.
    #[staticmethod]
    fn import_file(path: PathBuf, task: String, measure: String, world: World) -> PyResult<Demonstrations> {
        let options = ImportOptions { task, measure, world: world.changes()? };
        let imported = import_demonstrations(&path, &options).map_err(failed)?;
        Ok(Demonstrations { inner: imported.demonstrations, warnings: imported.warnings })
    }

    /// Episodes one after the other: `lengths` steps each; `final_observations` follow the last of each.
    #[staticmethod]
    #[allow(clippy::too_many_arguments)]
    fn from_arrays<'py>(
        observations: PyReadonlyArray2<'py, f32>,
        actions: PyReadonlyArray2<'py, f32>,
        final_observations: PyReadonlyArray2<'py, f32>,
        rewards: Option<PyReadonlyArray1<'py, f32>>,
        lengths: Vec<usize>,
        terminated: Vec<bool>,
        task: String,
        horizon: u32,
        source: String,
    ) -> PyResult<Demonstrations> {
        let sizes = Sizes { observation: observations.shape()[1], action: actions.shape()[1] };
        let rewards = rewards.map(|rewards| rewards.as_array().to_vec()).unwrap_or_default();
        if lengths.len() != terminated.len() {
            return Err(invalid("there must be as many flags of termination as episodes"));
        }
        let mut next = 0usize;
        let mut episodes = Vec::new();
        for (&length, &terminated) in lengths.iter().zip(&terminated) {
            let of_episode = rewards.get(next..next.saturating_add(length));
            let true_return = of_episode.map(|rewards| rewards.iter().map(|&r| f64::from(r)).sum());
            episodes.push(Episode {
                length,
                terminated,
                true_return,
                measures: Vec::new(),
                demonstrator: None,
            });
            next = next.saturating_add(length);
        }
        let foreign = Some(Foreign::default());
        let columns = Columns {
            about: About { task, horizon, source, foreign, ..About::default() },
            sizes,
            episodes,
            observations: table("observations", &observations, sizes.observation)?,
            actions: table("actions", &actions, sizes.action)?,
            final_observations: table("final_observations", &final_observations, sizes.observation)?,
            next_observations: Vec::new(),
            rewards,
            measures: Vec::new(),
        };
        Ok(magpie_demos::Demonstrations::new(columns).map_err(failed)?.into())
    }

    /// Writes a file of magpie's.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        self.inner.save(&path).map_err(failed)
    }

    fn __len__(&self) -> usize {
        self.inner.columns().episodes.len()
    }

    #[getter]
    fn task(&self) -> &str {
        &self.inner.columns().about.task
    }

    #[getter]
    fn measure(&self) -> &str {
        &self.inner.columns().about.measure
    }

    /// Every how many steps of an episode one was kept.
    #[getter]
    fn every(&self) -> u32 {
        self.inner.columns().about.every
    }

    /// What is likely to be wrong with imported demonstrations, in sentences.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// Length, whether it terminated, and true return of each episode.
    #[getter]
    fn episodes(&self) -> Vec<(usize, bool, Option<f64>)> {
        let episodes = self.inner.columns().episodes.iter();
        episodes.map(|episode| (episode.length, episode.terminated, episode.true_return)).collect()
    }

    /// All tables that there are.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = self.inner.columns();
        let Sizes { observation, action } = columns.sizes;
        let measures = columns.measures.len() / self.inner.steps();
        let dict = PyDict::new(py);
        for (name, table, width) in [
            ("observations", &columns.observations, observation),
            ("actions", &columns.actions, action),
            ("final_observations", &columns.final_observations, observation),
            ("next_observations", &columns.next_observations, observation),
            ("measures", &columns.measures, measures),
        ] {
            if !table.is_empty() {
                dict.set_item(name, rows(py, table.clone(), width)?)?;
            }
        }
        if !columns.rewards.is_empty() {
            dict.set_item("rewards", PyArray1::from_slice(py, &columns.rewards))?;
        }
        Ok(dict)
    }
}
