//! Parts of a search that are written in Python: the traits of the search, answered by batch calls on arrays.
//!
//! An exception cannot pass through the search, whose errors are values. It waits in a [`Fault`], the search fails for
//! any reason, and the caller raises the exception in its place.

use std::panic::resume_unwind;
use std::sync::{Arc, Mutex};

use magpie_envs::{
    Description, Dimension, Entry, Group, LaneSet, ResetDraws, SearchHints, Simulation, Simulator, members,
};
use magpie_learn::{Policy, RolloutBuffer};
use magpie_nn::normaliser::Frozen;
use magpie_qd::ArchivePair;
use magpie_random::Draws;
use magpie_rewards::{Health, Needs, Record, RewardError, RewardModel, Transitions};
use magpie_run::train::OwnParts;
use magpie_search::{
    Batch, Bonus, Emitter, EpisodeAccumulator, SearchError, Setup, Told, TrainingError, Turn, elite_policy,
};
use magpie_simd::{Isa, LANES, Pack};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arrays::{rows, table};
use crate::errors::invalid;

/// The first exception of the user's own parts.
#[derive(Clone, Default)]
pub struct Fault(Arc<Mutex<Option<PyErr>>>);

impl Fault {
    pub fn set(&self, reason: PyErr) {
        self.0.lock().unwrap_or_else(|e| e.into_inner()).get_or_insert(reason);
    }

    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(|e| e.into_inner()).take()
    }

    /// Keeps an exception, and says in words that there is one.
    fn words<T>(&self, result: PyResult<T>) -> Result<T, String> {
        result.map_err(|reason| {
            let words = reason.to_string();
            self.set(reason);
            words
        })
    }

    /// Keeps an exception and leaves the iteration: a simulator has no way to fail.
    fn or_leave<T>(&self, result: PyResult<T>) -> T {
        result.unwrap_or_else(|reason| {
            self.set(reason);
            // No panic message: the exception has the words.
            resume_unwind(Box::new("an exception in Python"))
        })
    }
}

/// The user's own parts, as Python objects.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Own {
    world: Option<Py<PyAny>>,
    reward: Option<Py<PyAny>>,
    bonus: Option<Py<PyAny>>,
    emitters: Vec<Py<PyAny>>,
}

impl Own {
    pub fn is_some(&self) -> bool {
        self.world.is_some() || self.reward.is_some() || self.bonus.is_some() || !self.emitters.is_empty()
    }

    pub fn world(&self, py: Python<'_>, fault: &Fault) -> PyResult<Option<Arc<magpie_envs::Environment>>> {
        self.world.as_ref().map(|world| environment(py, world, fault)).transpose()
    }

    pub fn parts(self, py: Python<'_>, fault: &Fault) -> PyResult<OwnParts> {
        let object = |object: Py<PyAny>| Object { object, fault: fault.clone() };
        let reward = match self.reward {
            None => None,
            Some(reward) => {
                let needs = |name: &str| reward.bind(py).getattr(name)?.extract::<bool>();
                let needs =
                    Needs { next_observations: needs("needs_next_observations")?, ..Needs::default() };
                Some(Box::new(OwnReward { own: object(reward), needs }) as Box<dyn RewardModel>)
            }
        };
        let emitters = self.emitters.into_iter();
        Ok(OwnParts {
            emitters: emitters
                .map(|emitter| {
                    Box::new(OwnEmitter { own: object(emitter), asked: false }) as Box<dyn Emitter>
                })
                .collect(),
            bonus: self.bonus.map(|bonus| Box::new(OwnBonus(object(bonus))) as Box<dyn Bonus>),
            learner: None,
            reward,
        })
    }
}

/// A Python object that takes part.
struct Object {
    object: Py<PyAny>,
    fault: Fault,
}

impl Object {
    /// Calls Python; signals are heard first, so that a search in Python can be interrupted between two calls.
    fn call<T>(&self, work: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Result<T, String> {
        let result = Python::attach(|py| {
            py.check_signals()?;
            work(self.object.bind(py))
        });
        self.fault.words(result)
    }

    fn save(&self) -> Result<Vec<u8>, String> {
        self.call(|object| object.call_method0("save")?.extract())
    }

    fn restore(&self, bytes: &[u8]) -> Result<(), String> {
        self.call(|object| object.call_method1("restore", (PyBytes::new(object.py(), bytes),)).map(drop))
    }
}

/// A column that Python returned: as many finite numbers as there are rows.
fn column(what: &str, returned: &Bound<'_, PyAny>, count: usize) -> PyResult<Vec<f32>> {
    let numpy = returned.py().import("numpy")?;
    let array = numpy.call_method1("asarray", (returned, "float32"))?.call_method0("ravel")?;
    let array: PyReadonlyArray1<'_, f32> = array.extract()?;
    let numbers: Vec<f32> = array.as_array().to_vec();
    if numbers.len() != count {
        return Err(invalid(format_args!("{what} returned {} numbers for {count} rows", numbers.len())));
    }
    match numbers.iter().position(|number| !number.is_finite()) {
        None => Ok(numbers),
        Some(row) => Err(invalid(format_args!("{what} returned {} for row {row}", numbers[row]))),
    }
}

fn array<'py>(py: Python<'py>, numbers: &[f32], rows: usize) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let columns = numbers.len().checked_div(rows).unwrap_or(0);
    PyArray1::from_slice(py, numbers).reshape([rows, columns])
}

struct OwnReward {
    own: Object,
    needs: Needs,
}

impl OwnReward {
    const NAME: &'static str = "reward model in Python";

    fn failed(problem: String) -> RewardError {
        RewardError::Failed { model: OwnReward::NAME, problem }
    }

    /// The columns as a dictionary of arrays.
    fn columns<'py>(
        &self,
        py: Python<'py>,
        given: &Transitions<'_>,
        count: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        columns.set_item("observations", array(py, given.observations, count)?)?;
        columns.set_item("actions", array(py, given.actions, count)?)?;
        if self.needs.next_observations {
            columns.set_item("next_observations", array(py, given.next_observations, count)?)?;
            columns.set_item("terminated", PyArray1::from_slice(py, given.terminated))?;
        }
        Ok(columns)
    }

    fn rewards(
        &self,
        object: &Bound<'_, PyAny>,
        given: &Transitions<'_>,
        count: usize,
    ) -> PyResult<Vec<f32>> {
        let columns = self.columns(object.py(), given, count)?;
        column("reward()", &object.call_method("reward", (), Some(&columns))?, count)
    }
}

impl RewardModel for OwnReward {
    fn name(&self) -> &'static str {
        OwnReward::NAME
    }

    fn needs(&self) -> Needs {
        self.needs
    }

    fn reward(
        &self,
        transitions: &Transitions<'_>,
        normaliser: &Frozen,
        out: &mut [f32],
    ) -> Result<(), RewardError> {
        let _ = normaliser;
        let rewards = self.own.call(|object| self.rewards(object, transitions, out.len()));
        out.copy_from_slice(&rewards.map_err(OwnReward::failed)?);
        Ok(())
    }

    fn update(
        &mut self,
        expert: &Transitions<'_>,
        policy: &Transitions<'_>,
        normaliser: &Frozen,
        draws: &mut Draws,
    ) -> Result<Health, RewardError> {
        let _ = normaliser;
        let seed = draws.bits();
        let health = self.own.call(|object| {
            let py = object.py();
            let (experts, policies) = (expert.lost.len(), policy.rewards.len());
            let sides = (self.columns(py, expert, experts)?, self.columns(py, policy, policies)?, seed);
            let mean = |side: &Transitions<'_>, count: usize| -> PyResult<f64> {
                let rewards = self.rewards(object, side, count)?;
                Ok(rewards.iter().map(|&reward| f64::from(reward)).sum::<f64>() / count.max(1) as f64)
            };
            let (expert_reward, policy_reward) = (mean(expert, experts)?, mean(policy, policies)?);
            object.call_method1("update", sides)?;
            Ok(Health { rows: experts, expert_reward, policy_reward, ..Health::default() })
        });
        health.map_err(OwnReward::failed)
    }

    fn save(&self) -> Result<Record, RewardError> {
        Record::new(OwnReward::NAME, &self.own.save().map_err(OwnReward::failed)?)
    }

    fn restore(&mut self, record: &Record) -> Result<(), RewardError> {
        let state: Vec<u8> = record.state(OwnReward::NAME)?;
        self.own.restore(&state).map_err(OwnReward::failed)
    }
}

struct OwnBonus(Object);

impl Bonus for OwnBonus {
    fn begin_phase(&mut self, archives: &ArchivePair) {
        // A failure is kept, and comes to light with the first payment.
        let _ = self.0.call(|object| {
            let py = object.py();
            let entries: Vec<_> = archives.result().entries().collect();
            let cells: Vec<i64> = entries.iter().map(|(cell, _)| *cell as i64).collect();
            let objective: Vec<f64> = entries.iter().map(|(_, entry)| entry.objective).collect();
            let measures: Vec<f64> = entries.iter().flat_map(|(_, entry)| entry.measures.clone()).collect();
            let dims = archives.cells().measure_dim();
            let elites = PyDict::new(py);
            elites.set_item("index", PyArray1::from_vec(py, cells))?;
            elites.set_item("objective", PyArray1::from_vec(py, objective))?;
            elites.set_item("measures", rows(py, measures, dims)?)?;
            object.call_method1("begin_phase", (elites,)).map(drop)
        });
    }

    fn pay(
        &self,
        rollout: &mut RolloutBuffer,
        episodes: &mut EpisodeAccumulator,
    ) -> Result<f64, TrainingError> {
        let _ = episodes;
        let count = rollout.rows();
        let paid = self.0.call(|object| {
            let py = object.py();
            let measures = array(py, &rollout.measures, count)?;
            let rewards = PyArray1::from_slice(py, &rollout.rewards);
            column("pay()", &object.call_method1("pay", (measures, rewards))?, count)
        });
        let paid = paid.map_err(TrainingError::Bonus)?;
        rollout.rewards.iter_mut().zip(&paid).for_each(|(reward, bonus)| *reward += bonus);
        let some = paid.iter().filter(|&&bonus| bonus != 0.0).count();
        Ok(some as f64 / count.max(1) as f64)
    }

    fn save(&self) -> Result<Vec<u8>, SearchError> {
        let whose = || "the bonus in Python".to_owned();
        self.0.save().map_err(|problem| SearchError::Record { whose: whose(), problem })
    }

    fn restore(&mut self, record: &[u8]) -> Result<(), SearchError> {
        let whose = || "the bonus in Python".to_owned();
        self.0.restore(record).map_err(|problem| SearchError::Record { whose: whose(), problem })
    }
}

struct OwnEmitter {
    own: Object,
    /// Whether it has been asked in this iteration.
    asked: bool,
}

impl OwnEmitter {
    const NAME: &'static str = "python";

    fn failed(problem: String) -> SearchError {
        SearchError::Emitter { name: OwnEmitter::NAME, problem }
    }
}

impl Emitter for OwnEmitter {
    fn name(&self) -> &'static str {
        OwnEmitter::NAME
    }

    fn ask(&mut self, turn: &mut Turn<'_>) -> Result<Vec<Batch>, SearchError> {
        if std::mem::replace(&mut self.asked, true) {
            return Ok(Vec::new());
        }
        let seed = turn.draws("emitter in Python").bits();
        let width = turn.setup.networks.policy_len();
        let parameters = self.own.call(|object| {
            let py = object.py();
            let archives = turn.archives;
            let elites: Vec<_> = archives.elites().collect();
            let given = PyDict::new(py);
            let solutions: Vec<f32> = elites.iter().flat_map(|elite| elite.solution).copied().collect();
            let objective: Vec<f64> = elites.iter().map(|elite| elite.entry.objective).collect();
            let measures: Vec<f64> = elites.iter().flat_map(|elite| elite.entry.measures.clone()).collect();
            given.set_item("solution", rows(py, solutions, width)?)?;
            given.set_item("objective", PyArray1::from_vec(py, objective))?;
            given.set_item("measures", rows(py, measures, archives.cells().measure_dim())?)?;
            given
                .set_item("index", PyArray1::from_vec(py, elites.iter().map(|e| e.cell as i64).collect()))?;
            let sizes = turn.setup.networks.actor.sizes().to_vec();
            let returned = object.call_method1("ask", (given, sizes, seed))?;
            let numpy = py.import("numpy")?;
            let array = numpy.call_method1("asarray", (returned, "float32"))?;
            let array: PyReadonlyArray2<'_, f32> = array.extract()?;
            table("what ask() returned", &array, width)
        });
        let parameters = parameters.map_err(OwnEmitter::failed)?;
        // Policies act with the normaliser of the best elite: they have none of their own.
        let normaliser = turn.archives.best_elite().map(|elite| elite_policy(&elite).normaliser);
        let normaliser = normaliser.unwrap_or_else(|| {
            magpie_nn::normaliser::RunningMeanStd::new(turn.setup.networks.actor.inputs())
        });
        let policies: Vec<Policy> = parameters
            .chunks_exact(width)
            .map(|row| Policy { parameters: row.to_vec(), normaliser: normaliser.clone() })
            .collect();
        Ok(if policies.is_empty() { Vec::new() } else { vec![Batch::New(policies)] })
    }

    fn tell(&mut self, _turn: &mut Turn<'_>, told: &[Told]) -> Result<(), SearchError> {
        for told in told {
            let heard = self.own.call(|object| {
                let py = object.py();
                let policies = &told.policies;
                let objective = policies.iter().map(|policy| policy.objective).collect();
                let measures: Vec<f64> = policies.iter().flat_map(|policy| policy.measures.clone()).collect();
                let dims = measures.len().checked_div(policies.len()).unwrap_or(0);
                let given = PyDict::new(py);
                given.set_item("objective", PyArray1::from_vec(py, objective))?;
                given.set_item("measures", rows(py, measures, dims)?)?;
                given.set_item("improvement", PyArray1::from_vec(py, told.insertion.values()))?;
                object.call_method1("tell", (given,)).map(drop)
            });
            heard.map_err(OwnEmitter::failed)?;
        }
        Ok(())
    }

    fn end(&mut self, _turn: &mut Turn<'_>) -> Result<(), SearchError> {
        self.asked = false;
        Ok(())
    }

    fn save(&self) -> Result<Vec<u8>, SearchError> {
        self.own.save().map_err(OwnEmitter::failed)
    }

    fn restore(&mut self, _setup: &Setup, record: &[u8]) -> Result<(), SearchError> {
        self.asked = false;
        self.own.restore(record).map_err(OwnEmitter::failed)
    }
}

/// What Python says of a world.
#[derive(FromPyObject)]
struct Said {
    name: String,
    observation_size: usize,
    action_size: usize,
    measures: Vec<(String, [f64; 2])>,
    episode_steps: u32,
    threshold_min: f64,
}

fn environment(py: Python<'_>, world: &Py<PyAny>, fault: &Fault) -> PyResult<Arc<magpie_envs::Environment>> {
    let Said { name, observation_size, action_size, measures, episode_steps, threshold_min } =
        world.bind(py).extract()?;
    let entries = |count: usize| (0..count).map(|i| Entry::new(format!("entry {i}"), "1")).collect();
    let description = Description {
        robot: name.clone(),
        task: name,
        observation: entries(observation_size),
        action: entries(action_size),
        measure: "own".to_owned(),
        dimensions: measures.into_iter().map(|(name, range)| Dimension { name, range }).collect(),
        episode_steps,
        step_seconds: 1.0,
        hints: SearchHints { threshold_min, ..SearchHints::default() },
    };
    let world = OwnWorld { world: world.clone_ref(py), observation_size, action_size, fault: fault.clone() };
    magpie_envs::Environment::from_simulator(description, world).map(Arc::new).map_err(invalid)
}

/// Makes a vector environment in Python for each chunk.
struct OwnWorld {
    world: Py<PyAny>,
    observation_size: usize,
    action_size: usize,
    fault: Fault,
}

impl Simulator for OwnWorld {
    fn simulate(&self, groups: usize, _isa: Isa) -> Box<dyn Simulation> {
        let envs = self.fault.or_leave(Python::attach(|py| {
            py.check_signals()?;
            self.world.call_method1(py, "worlds", (groups * LANES,))
        }));
        Box::new(OwnWorlds {
            envs,
            width: self.observation_size,
            act: self.action_size,
            place: (0..groups * LANES).collect(),
            rows: vec![0.0; groups * LANES * self.action_size],
            fault: self.fault.clone(),
        })
    }

    fn state_size(&self) -> usize {
        1
    }
}

impl Drop for OwnWorlds {
    /// Others may use the environments now.
    fn drop(&mut self) {
        let released = Python::attach(|py| self.envs.call_method0(py, "release").map(drop));
        if let Err(reason) = released {
            self.fault.set(reason);
        }
    }
}

/// A vector environment in Python. Its environments stay where they are: what moves is which lane each of them is.
struct OwnWorlds {
    envs: Py<PyAny>,
    width: usize,
    act: usize,
    /// The environment of each lane.
    place: Vec<usize>,
    /// Actions, a row for each environment.
    rows: Vec<f32>,
    fault: Fault,
}

impl OwnWorlds {
    fn observe(&self, observations: &[f32], lane: usize, out: &mut [Group]) {
        let row = &observations[self.place[lane] * self.width..][..self.width];
        let group = &mut out[lane / LANES];
        group.observation.iter_mut().zip(row).for_each(|(pack, &value)| pack.0[lane % LANES] = value);
    }
}

impl Simulation for OwnWorlds {
    fn reset(&mut self, lanes: &[LaneSet], draws: ResetDraws, out: &mut [Group]) {
        let count = self.place.len();
        let mut seeds: Vec<Option<u32>> = vec![None; count];
        let mut chosen = Vec::new();
        for (group, &set) in lanes.iter().enumerate() {
            for lane in members(set) {
                let place = group * LANES + lane;
                // Gymnasium's seeds are whole numbers below 2³¹ with some environments.
                seeds[self.place[place]] = Some(draws.of(group, lane).bits() >> 1);
                chosen.push(place);
            }
        }
        if chosen.is_empty() {
            return;
        }
        let observations = self.fault.or_leave(Python::attach(|py| {
            py.check_signals()?;
            let returned = self.envs.call_method1(py, "reset", (seeds,))?;
            let array: PyReadonlyArray2<'_, f32> = returned.extract(py)?;
            table("observations", &array, self.width)
        }));
        chosen.into_iter().for_each(|lane| self.observe(&observations, lane, out));
    }

    fn step(&mut self, actions: &[Pack], out: &mut [Group]) {
        let lanes = out.len() * LANES;
        for lane in 0..lanes {
            let packs = &actions[lane / LANES * self.act..][..self.act];
            let row = &mut self.rows[self.place[lane] * self.act..][..self.act];
            row.iter_mut().zip(packs).for_each(|(value, pack)| *value = pack.0[lane % LANES]);
        }
        type Returned<'py> = (
            PyReadonlyArray2<'py, f32>,
            PyReadonlyArray1<'py, f32>,
            PyReadonlyArray2<'py, f32>,
            PyReadonlyArray1<'py, bool>,
        );
        let (count, dims) = (self.place.len(), out[0].measure.len());
        let (observations, reward, measure, terminated) = self.fault.or_leave(Python::attach(|py| {
            py.check_signals()?;
            let actions = array(py, &self.rows, count)?;
            let returned = self.envs.call_method1(py, "step", (actions,))?;
            let (observations, reward, measure, terminated): Returned<'_> = returned.extract(py)?;
            PyResult::Ok((
                table("observations", &observations, self.width)?,
                reward.as_array().to_vec(),
                table("measures", &measure, dims)?,
                terminated.as_array().to_vec(),
            ))
        }));
        for lane in 0..lanes {
            self.observe(&observations, lane, out);
            let (env, group, lane) = (self.place[lane], &mut out[lane / LANES], lane % LANES);
            group.reward.0[lane] = reward[env];
            for (pack, &value) in group.measure.iter_mut().zip(&measure[env * dims..]) {
                pack.0[lane] = value;
            }
            if lane == 0 {
                group.terminated = 0;
            }
            group.terminated |= u32::from(terminated[env]) << lane;
        }
    }

    fn save(&self, (group, lane): (usize, usize), state: &mut Vec<f32>) {
        state.push(self.place[group * LANES + lane] as f32);
    }

    fn restore(&mut self, (group, lane): (usize, usize), state: &[f32]) {
        let (here, env) = (group * LANES + lane, state[0] as usize);
        let there = self.place.iter().position(|&place| place == env).unwrap_or(here);
        self.place.swap(here, there);
    }
}
