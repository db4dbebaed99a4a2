//! A batch of running environments, with the three ways of Gymnasium to begin the next episode.

use std::sync::{Arc, Mutex};

use magpie_envs::{Batch, CHUNK, RowsMut, Snapshot};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::{Deserialize, Serialize};

use crate::arrays::{rows, table};
use crate::environment::Environment;
use crate::errors::{failed, invalid};
use crate::threads;

/// When a finished episode is followed by the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Autoreset {
    /// In the step that finishes it.
    SameStep,
    /// In the step after, which ignores its action.
    NextStep,
    /// When the caller says so.
    Disabled,
}

/// What a step has finished.
type Finished<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray2<f32>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray2<f64>>,
);

/// Observations, rewards, measured quantities, both flags, which environments were only reset, and what has finished.
type Step<'py> = (
    Bound<'py, PyArray2<f32>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray2<f32>>,
    Bound<'py, PyArray1<bool>>,
    Bound<'py, PyArray1<bool>>,
    Option<Bound<'py, PyArray1<bool>>>,
    Option<Finished<'py>>,
);

/// Running environments. Methods may be called from several threads, and then wait for each other.
#[pyclass(frozen, module = "magpie_qd._magpie")]
pub struct Environments {
    env: Arc<magpie_envs::Environment>,
    /// Measured quantities that are averaged over an episode.
    measures: usize,
    count: usize,
    autoreset: Autoreset,
    running: Mutex<Running>,
}

struct Running {
    batch: Option<Batch>,
    episodes: Episodes,
    final_observation: Vec<f32>,
    reward: Vec<f32>,
}

/// The episodes under way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Episodes {
    /// Whether it has finished and waits for a reset.
    finished: Vec<bool>,
    returns: Vec<f64>,
    lengths: Vec<u32>,
    /// Sums of the measures.
    measures: Vec<f64>,
}

/// Everything that changes.
#[derive(Serialize, Deserialize)]
struct Saved {
    snapshot: Snapshot,
    episodes: Episodes,
}

/// The first bytes of a saved state.
const TAG: &[u8] = b"magpie environments 1\n";

impl Episodes {
    fn new(count: usize, measures: usize) -> Episodes {
        Episodes {
            finished: vec![false; count],
            returns: vec![0.0; count],
            lengths: vec![0; count],
            measures: vec![0.0; count * measures],
        }
    }

    fn begin(&mut self, row: usize) {
        let width = self.measures.len() / self.finished.len();
        self.finished[row] = false;
        (self.returns[row], self.lengths[row]) = (0.0, 0);
        self.measures[row * width..][..width].fill(0.0);
    }
}

/// What episodes came to.
#[derive(Default)]
struct Outcome {
    rows: Vec<i64>,
    observation: Vec<f32>,
    returns: Vec<f64>,
    lengths: Vec<i64>,
    measures: Vec<f64>,
}

#[pymethods]
impl Environments {
    /// `count` environments, which are reset before the first step.
    #[new]
    #[pyo3(signature = (environment, count, autoreset))]
    fn new(environment: &Environment, count: u32, autoreset: &str) -> PyResult<Environments> {
        let autoreset = match autoreset {
            "SameStep" => Autoreset::SameStep,
            "NextStep" => Autoreset::NextStep,
            "Disabled" => Autoreset::Disabled,
            other => return Err(invalid(format_args!("there is no autoreset mode {other:?}"))),
        };
        if count == 0 {
            return Err(invalid("num_envs must be at least 1"));
        }
        let (env, measures) = (Arc::clone(&environment.env), environment.measure_size());
        let count = count as usize;
        let running = Running {
            batch: None,
            episodes: Episodes::new(count, measures),
            final_observation: vec![0.0; count * env.observation_size()],
            reward: vec![0.0; count],
        };
        Ok(Environments { env, measures, count, autoreset, running: Mutex::new(running) })
    }

    /// Starts new episodes everywhere; from the beginning of this seed's episodes, if one is given.
    #[pyo3(signature = (seed))]
    fn reset<'py>(&self, py: Python<'py>, seed: Option<u64>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        self.observe(py, |running, observation| {
            running.episodes = Episodes::new(self.count, self.measures);
            match (seed, &mut running.batch) {
                (None, Some(batch)) => batch.reset_where(&vec![true; self.count], observation),
                (seed, batch) => {
                    let mut new = Batch::new(Arc::clone(&self.env), 0..self.count as u32, seed.unwrap_or(0));
                    let mut rows = new.rows();
                    new.reset(&mut rows);
                    observation.copy_from_slice(&rows.observation);
                    *batch = Some(new);
                }
            }
            Ok(())
        })
    }

    /// Starts new episodes where `mask` says so, and returns all observations.
    fn reset_where<'py>(
        &self,
        py: Python<'py>,
        mask: PyReadonlyArray1<'py, bool>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let mask: Vec<bool> = mask.as_array().to_vec();
        if mask.len() != self.count {
            return Err(invalid(format_args!(
                "reset_mask has {} entries for {} environments",
                mask.len(),
                self.count
            )));
        }
        self.observe(py, |running, observation| {
            let Running { batch, episodes, .. } = running;
            batch.as_mut().ok_or_else(unstarted)?.reset_where(&mask, observation);
            (0..mask.len()).filter(|&row| mask[row]).for_each(|row| episodes.begin(row));
            Ok(())
        })
    }

    /// Whether an episode has finished and waits for a reset.
    fn waiting(&self, py: Python<'_>) -> PyResult<bool> {
        py.detach(|| Ok(self.lock()?.episodes.finished.contains(&true)))
    }

    /// One step of every environment.
    fn step<'py>(&self, py: Python<'py>, actions: PyReadonlyArray2<'py, f32>) -> PyResult<Step<'py>> {
        let act = self.env.action_size();
        if actions.shape() != [self.count, act] {
            return Err(invalid(format_args!(
                "actions have shape {:?}, but {} environments need ({}, {act})",
                actions.shape(),
                self.count,
                self.count
            )));
        }
        let actions = table("actions", &actions, act)?;
        let (width, dims) = (self.env.observation_size(), self.env.measure_size());
        // New arrays, which the caller may keep; results are written straight into them.
        let observation = PyArray2::<f32>::zeros(py, [self.count, width], false);
        let reward = PyArray1::<f64>::zeros(py, self.count, false);
        let measure = PyArray2::<f32>::zeros(py, [self.count, dims], false);
        let terminated = PyArray1::<bool>::zeros(py, self.count, false);
        let truncated = PyArray1::<bool>::zeros(py, self.count, false);
        let (was_reset, outcome) = {
            let mut arrays = (
                observation.readwrite(),
                reward.readwrite(),
                measure.readwrite(),
                terminated.readwrite(),
                truncated.readwrite(),
            );
            let rows = RowsMut {
                observation: arrays.0.as_slice_mut()?,
                final_observation: &mut [],
                reward: &mut [],
                measure: arrays.2.as_slice_mut()?,
                terminated: arrays.3.as_slice_mut()?,
                truncated: arrays.4.as_slice_mut()?,
            };
            let reward = arrays.1.as_slice_mut()?;
            self.work(py, |running| self.advance(running, &actions, rows, reward))?
        };
        let was_reset = was_reset.map(|reset| PyArray1::from_vec(py, reset));
        let finished = match outcome.rows.is_empty() {
            true => None,
            false => Some((
                PyArray1::from_vec(py, outcome.rows),
                rows(py, outcome.observation, width)?,
                PyArray1::from_vec(py, outcome.returns),
                PyArray1::from_vec(py, outcome.lengths),
                rows(py, outcome.measures, self.measures)?,
            )),
        };
        Ok((observation, reward, measure, terminated, truncated, was_reset, finished))
    }

    /// Everything that changes, as bytes.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| {
            let running = self.lock()?;
            let snapshot = running.batch.as_ref().ok_or_else(unstarted)?.save();
            let saved = Saved { snapshot, episodes: running.episodes.clone() };
            postcard::to_extend(&saved, TAG.to_vec()).map_err(failed)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Continues from saved bytes of environments of the same kind and number; returns the observations.
    fn restore<'py>(&self, py: Python<'py>, state: &[u8]) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let saved = state
            .strip_prefix(TAG)
            .and_then(|bytes| postcard::from_bytes(bytes).ok())
            .ok_or_else(|| invalid("these bytes are not a saved state of environments, or are damaged"))?;
        let Saved { snapshot, episodes } = saved;
        let Episodes { finished, returns, lengths, measures } = &episodes;
        let lengths = [finished.len(), returns.len(), lengths.len(), measures.len()];
        if lengths != [self.count, self.count, self.count, self.count * self.measures] {
            return Err(invalid(format_args!(
                "the saved state is of {} environments, but these are {}, or of another measure",
                finished.len(),
                self.count
            )));
        }
        self.observe(py, |running, observation| {
            let (env, ids) = (Arc::clone(&self.env), 0..self.count as u32);
            let mut batch = Batch::new(env, ids, snapshot.seed);
            // Lanes beyond the last environment must have a state too.
            let mut rows = batch.rows();
            batch.reset(&mut rows);
            batch.restore(&snapshot).map_err(invalid)?;
            observation.copy_from_slice(&snapshot.observation);
            (running.batch, running.episodes) = (Some(batch), episodes);
            Ok(())
        })
    }
}

fn unstarted() -> PyErr {
    invalid("the environments have not been reset yet: call reset() first")
}

impl Environments {
    fn lock(&self) -> PyResult<std::sync::MutexGuard<'_, Running>> {
        self.running.lock().map_err(|_| failed("an earlier call failed half-way; make a new object"))
    }

    /// Does work without the interpreter's lock; the few environments that one core steps anyway need no other thread.
    fn work<T: Send>(
        &self,
        py: Python<'_>,
        work: impl Send + FnOnce(&mut Running) -> PyResult<T>,
    ) -> PyResult<T> {
        if self.count <= CHUNK {
            return py.detach(|| work(&mut *self.lock()?));
        }
        threads::run_on(py, &self.running, work)?
    }

    fn observe<'py>(
        &self,
        py: Python<'py>,
        work: impl Send + FnOnce(&mut Running, &mut [f32]) -> PyResult<()>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let observation = PyArray2::<f32>::zeros(py, [self.count, self.env.observation_size()], false);
        {
            let mut array = observation.readwrite();
            let rows = array.as_slice_mut()?;
            self.work(py, |running| work(running, rows))?;
        }
        Ok(observation)
    }

    /// Steps, and returns which environments were reset in place of a step, if any, and what has finished.
    fn advance(
        &self,
        running: &mut Running,
        actions: &[f32],
        rows: RowsMut<'_>,
        rewards: &mut [f64],
    ) -> PyResult<(Option<Vec<bool>>, Outcome)> {
        let Running { batch, episodes, final_observation, reward } = running;
        let batch = batch.as_mut().ok_or_else(unstarted)?;
        let (width, dims) = (self.env.observation_size(), self.env.measure_size());
        let RowsMut { observation, measure, terminated, truncated, .. } = rows;
        let columns = RowsMut {
            observation: &mut *observation,
            final_observation,
            reward,
            measure: &mut *measure,
            terminated: &mut *terminated,
            truncated: &mut *truncated,
        };
        let mut was_reset = None;
        match self.autoreset {
            Autoreset::SameStep => batch.step_into(actions, columns),
            Autoreset::Disabled | Autoreset::NextStep => {
                batch.step_without_reset(actions, columns);
                if self.autoreset == Autoreset::NextStep && episodes.finished.contains(&true) {
                    let waiting = episodes.finished.clone();
                    batch.reset_where(&waiting, observation);
                    was_reset = Some(waiting);
                }
            }
        }
        let mut outcome = Outcome::default();
        for row in 0..self.count {
            let measure = &mut measure[row * dims..][..dims];
            if was_reset.as_ref().is_some_and(|was_reset| was_reset[row]) {
                (terminated[row], truncated[row]) = (false, false);
                measure.fill(0.0);
                episodes.begin(row);
                continue;
            }
            rewards[row] = f64::from(reward[row]);
            episodes.returns[row] += rewards[row];
            episodes.lengths[row] += 1;
            let sums = &mut episodes.measures[row * self.measures..][..self.measures];
            sums.iter_mut().zip(measure).for_each(|(sum, &mut value)| *sum += f64::from(value));
            if terminated[row] || truncated[row] {
                let length = episodes.lengths[row];
                outcome.rows.push(row as i64);
                let last = match self.autoreset {
                    Autoreset::SameStep => &*final_observation,
                    Autoreset::NextStep | Autoreset::Disabled => &*observation,
                };
                outcome.observation.extend_from_slice(&last[row * width..][..width]);
                outcome.returns.push(episodes.returns[row]);
                outcome.lengths.push(length.into());
                outcome.measures.extend(sums.iter().map(|sum| sum / f64::from(length)));
                match self.autoreset {
                    Autoreset::SameStep => episodes.begin(row),
                    Autoreset::NextStep | Autoreset::Disabled => episodes.finished[row] = true,
                }
            }
        }
        Ok((was_reset, outcome))
    }
}
