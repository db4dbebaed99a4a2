//! Reward models without a search.

use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard};

use magpie_demos::Pairs;
use magpie_nn::normaliser::{Moments, RunningMeanStd};
use magpie_random::Stream;
use magpie_rewards::{Record, RewardConfig, Sizes, Transitions, build};
use magpie_run::settings::resolve;
use numpy::{PyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::{Deserialize, Serialize};

use crate::arrays::table;
use crate::demos::Demonstrations;
use crate::errors::{failed, invalid};
use crate::threads;

/// Normalised observations are clipped to ± this value, as in training.
const OBSERVATION_LIMIT: f32 = 10.0;

/// A reward model.
#[pyclass(frozen, module = "magpie_qd._magpie")]
pub struct RewardModel {
    sizes: Sizes,
    config: RewardConfig,
    seed: u64,
    inner: Mutex<Inner>,
}

struct Inner {
    model: Box<dyn magpie_rewards::RewardModel>,
    normaliser: RunningMeanStd,
    prepared: bool,
    updates: u64,
}

/// Everything that changes.
#[derive(Serialize, Deserialize)]
struct Saved {
    record: Record,
    normaliser: RunningMeanStd,
    prepared: bool,
    updates: u64,
}

/// Rows as Python gives them.
struct Given {
    observations: Vec<f32>,
    actions: Vec<f32>,
    next_observations: Vec<f32>,
    terminated: Vec<bool>,
    log_probs: Vec<f32>,
    rewards: Vec<f32>,
    lost: Vec<u32>,
}

impl Given {
    /// From a dictionary of arrays. Columns that nobody gives are zero where zero is a fair answer.
    fn new(given: &Bound<'_, PyDict>, sizes: Sizes) -> PyResult<Given> {
        let table_of = |name: &'static str, width: usize| -> PyResult<Vec<f32>> {
            match given.get_item(name)? {
                None => Ok(Vec::new()),
                Some(array) => {
                    let array: PyReadonlyArray2<'_, f32> = array.extract()?;
                    table(name, &array, width)
                }
            }
        };
        let observations = table_of("observations", sizes.observation)?;
        let count = observations.len() / sizes.observation;
        let zeros = |column: Vec<f32>| if column.is_empty() { vec![0.0; count] } else { column };
        let terminated = table_of("terminated", 1)?;
        Ok(Given {
            actions: table_of("actions", sizes.action)?,
            next_observations: table_of("next_observations", sizes.observation)?,
            terminated: zeros(terminated).iter().map(|&flag| flag != 0.0).collect(),
            log_probs: table_of("log_probs", 1)?,
            rewards: zeros(table_of("rewards", 1)?),
            lost: vec![0; count],
            observations,
        })
    }

    fn transitions(&self) -> Transitions<'_> {
        let Given { observations, actions, next_observations, terminated, log_probs, rewards, lost } = self;
        Transitions { observations, actions, next_observations, terminated, log_probs, rewards, lost }
    }
}

#[pymethods]
impl RewardModel {
    /// A model with initial parameters. `settings` are pairs such as "gail.hidden=[64]".
    #[new]
    fn new(
        name: &str,
        observation: usize,
        action: usize,
        settings: Vec<String>,
        gamma: f32,
        seed: u64,
    ) -> PyResult<RewardModel> {
        let model = name.parse().map_err(invalid)?;
        let config = resolve(RewardConfig { model, ..RewardConfig::default() }, None, &settings);
        let (config, sizes) = (config.map_err(failed)?, Sizes { observation, action });
        let mut draws = Stream::new(seed, "initial reward model").draws(0, 0);
        let model = build(&config, sizes, gamma, &mut draws).map_err(failed)?;
        let normaliser = RunningMeanStd::new(observation);
        let inner = Mutex::new(Inner { model, normaliser, prepared: false, updates: 0 });
        Ok(RewardModel { sizes, config, seed, inner })
    }

    /// What the model reads beside observations and actions.
    #[getter]
    fn needs(&self, py: Python<'_>) -> PyResult<Vec<&'static str>> {
        let needs = py.detach(|| self.lock().map(|inner| inner.model.needs()))?;
        let all = [
            ("next_observations", needs.next_observations),
            ("log_probs", needs.log_probs),
            ("rewards", needs.rewards),
            ("lost", needs.lost),
        ];
        Ok(all.into_iter().filter(|(_, needed)| *needed).map(|(name, _)| name).collect())
    }

    /// Every how many steps of demonstrations one is learned from.
    #[getter]
    fn thinning(&self) -> usize {
        self.config.thinning
    }

    /// Learns what is learned from demonstrations alone, once, and the statistics of observations.
    fn prepare(&self, py: Python<'_>, demonstrations: &Demonstrations) -> PyResult<()> {
        let expert = self.expert(py, demonstrations)?;
        let mut raised = None;
        threads::run_on(py, &self.inner, |inner| {
            let Inner { model, normaliser, prepared, .. } = inner;
            if *prepared {
                return Ok(());
            }
            let mut moments = Moments::new(self.sizes.observation);
            moments.add_rows(&expert.observations);
            normaliser.update(&moments);
            let mut draws = Stream::new(self.seed, "preparation of the reward model").draws(0, 0);
            let result = model.prepare(&(&expert).into(), &mut draws, &mut |_| match Python::attach(|py| {
                py.check_signals()
            }) {
                Ok(()) => ControlFlow::Continue(()),
                Err(reason) => {
                    raised = Some(reason);
                    ControlFlow::Break(())
                }
            });
            if let Some(reason) = raised {
                return Err(reason);
            }
            result.map_err(failed)?;
            *prepared = true;
            Ok(())
        })?
    }

    /// One pass over the demonstrations, with as many rows of a policy. Returns what it came to.
    fn update(
        &self,
        py: Python<'_>,
        demonstrations: &Demonstrations,
        policy: &Bound<'_, PyDict>,
        log_probs: Option<Vec<f32>>,
    ) -> PyResult<Vec<(&'static str, f64)>> {
        let expert = self.expert(py, demonstrations)?;
        let policy = Given::new(policy, self.sizes)?;
        threads::run_on(py, &self.inner, |inner| {
            let Inner { model, normaliser, updates, .. } = inner;
            let log_probs = log_probs.unwrap_or_default();
            let expert = Transitions { log_probs: &log_probs, ..(&expert).into() };
            let mut draws = Stream::new(self.seed, "updates of the reward model").draws(0, *updates);
            let frozen = normaliser.freeze(OBSERVATION_LIMIT);
            let health = model.update(&expert, &policy.transitions(), &frozen, &mut draws).map_err(failed)?;
            *updates += 1;
            Ok(health.columns().collect())
        })?
    }

    /// The reward of each row.
    fn reward<'py>(
        &self,
        py: Python<'py>,
        given: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let given = Given::new(given, self.sizes)?;
        let rewards = threads::run_on(py, &self.inner, |inner| {
            let mut rewards = vec![0.0; given.observations.len() / self.sizes.observation];
            let frozen = inner.normaliser.freeze(OBSERVATION_LIMIT);
            inner.model.reward(&given.transitions(), &frozen, &mut rewards).map_err(failed)?;
            PyResult::Ok(rewards)
        })??;
        Ok(PyArray1::from_vec(py, rewards))
    }

    /// Everything that changes, as bytes.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| {
            let inner = self.lock()?;
            let record = inner.model.save().map_err(failed)?;
            let (normaliser, prepared, updates) = (inner.normaliser.clone(), inner.prepared, inner.updates);
            postcard::to_stdvec(&Saved { record, normaliser, prepared, updates }).map_err(failed)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Continues from saved bytes of a model with the same settings.
    fn restore(&self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        let saved: Saved = postcard::from_bytes(state)
            .map_err(|_| invalid("these bytes are not a saved reward model, or are damaged"))?;
        py.detach(|| {
            let mut inner = self.lock()?;
            if saved.normaliser.mean().len() != self.sizes.observation {
                return Err(invalid("the saved reward model is for observations of another size"));
            }
            inner.model.restore(&saved.record).map_err(failed)?;
            (inner.normaliser, inner.prepared, inner.updates) =
                (saved.normaliser, saved.prepared, saved.updates);
            Ok(())
        })
    }
}

impl RewardModel {
    fn lock(&self) -> PyResult<MutexGuard<'_, Inner>> {
        self.inner.lock().map_err(|_| failed("an earlier call failed half-way; make a new model"))
    }

    fn expert(&self, py: Python<'_>, demonstrations: &Demonstrations) -> PyResult<Pairs> {
        if demonstrations.inner.sizes() != self.sizes {
            let (found, expected) = (demonstrations.inner.sizes(), self.sizes);
            return Err(invalid(format_args!(
                "demonstrations have {found:?}, but the model is for {expected:?}"
            )));
        }
        let needs = py.detach(|| self.lock().map(|inner| inner.model.needs()))?;
        demonstrations.inner.thinned(self.config.thinning, needs.next_observations).map_err(failed)
    }
}
