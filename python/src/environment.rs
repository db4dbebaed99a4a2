//! A task in its world.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use magpie_envs::{Measure, MeasurePart, Options, Quantity};
use magpie_physics::Hurdles;
use magpie_run::{EnvOverrides, WorldChanges};
use pyo3::prelude::*;

use crate::errors::{failed, invalid};

/// Changes to a world, as Python names them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct World {
    robot: Option<PathBuf>,
    friction: Option<f64>,
    strength: HashMap<String, f64>,
    hurdles: Option<HashMap<String, f64>>,
}

impl World {
    pub fn changes(self) -> PyResult<WorldChanges> {
        let World { robot, friction, strength, hurdles } = self;
        let hurdles = hurdles.map(hurdles_of).transpose()?;
        // A dictionary has no order, and the first factor that is wrong should always be the same one.
        let mut strength: Vec<_> = strength.into_iter().collect();
        strength.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(WorldChanges { robot, friction, strength, hurdles, ..WorldChanges::default() })
    }
}

fn hurdles_of(given: HashMap<String, f64>) -> PyResult<Hurdles> {
    let mut hurdles = Hurdles::default();
    for (name, value) in given {
        match &*name {
            "height" => hurdles.height = value,
            "first" => hurdles.first = value,
            "spacing" => hurdles.spacing = value,
            "thickness" => hurdles.thickness = value,
            "count" if value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value) => {
                hurdles.count = value as u32;
            }
            "count" => return Err(invalid(format_args!("hurdles: count is {value}, but must be whole"))),
            _ => {
                return Err(invalid(format_args!(
                    "hurdles: there is no {name:?}; use height, first, spacing, thickness or count"
                )));
            }
        }
    }
    Ok(hurdles)
}

/// A task in its world: what all environments of a batch share.
#[pyclass(frozen, module = "magpie_qd._magpie")]
pub struct Environment {
    pub env: Arc<magpie_envs::Environment>,
    /// The measures of the task come first, then contacts of feet that are not among them.
    measures: usize,
    /// Columns of contacts.
    contacts: Vec<usize>,
    warnings: Vec<String>,
}

#[pymethods]
impl Environment {
    /// The task called `task`, or in a task file, with changes to its world. `episode_steps` replaces the task's.
    #[new]
    #[pyo3(signature = (task, measure, world, episode_steps))]
    fn new(
        task: &str,
        measure: Option<&str>,
        world: World,
        episode_steps: Option<u32>,
    ) -> PyResult<Environment> {
        let (name, world) = EnvOverrides::find(task, &world.changes()?).map_err(failed)?;
        let warnings = world.examine(&name).map_err(failed)?;
        let mut task = world.task(&name).map_err(failed)?;
        let robot = world.robot(&task).map_err(failed)?;
        let perturbation = world.perturbation(&robot).map_err(failed)?;
        if let Some(steps) = episode_steps {
            task.episode_steps = steps;
        }
        let mut measure = task.measure(measure).map_err(failed)?.clone();
        let feet = robot.feet.iter().map(|&foot| robot.bodies[foot].name.as_str());
        let widths = |measure: &Measure| measure.dimensions(feet.clone()).len();
        let measures = widths(&measure);
        let has_contacts = |part: &MeasurePart| part.quantity == Quantity::FootContacts;
        if !measure.parts.iter().any(has_contacts) && !robot.feet.is_empty() {
            measure.parts.push(MeasurePart { quantity: Quantity::FootContacts, range: [0.0, 1.0] });
        }
        let mut contacts = Vec::new();
        let mut column = 0;
        for part in &measure.parts {
            let width = widths(&Measure { name: String::new(), parts: vec![*part] });
            if has_contacts(part) {
                contacts = (column..column + width).collect();
            }
            column += width;
        }
        let name = measure.name.clone();
        task.measures = vec![measure];
        let options = Options { robot: Some(robot), measure: Some(name), perturbation, ..Options::default() };
        let env = magpie_envs::Environment::of_task(&task, options).map_err(failed)?;
        Ok(Environment { env: Arc::new(env), measures, contacts, warnings })
    }

    #[getter]
    fn task(&self) -> &str {
        self.env.task()
    }

    #[getter]
    fn robot(&self) -> &str {
        self.env.robot()
    }

    #[getter]
    fn measure(&self) -> &str {
        self.env.measure()
    }

    #[getter]
    fn observation_size(&self) -> usize {
        self.env.observation_size()
    }

    #[getter]
    fn action_size(&self) -> usize {
        self.env.action_size()
    }

    #[getter]
    pub fn measure_size(&self) -> usize {
        self.measures
    }

    /// Columns of the measured quantities that are contacts of feet.
    #[getter]
    fn contacts(&self) -> Vec<usize> {
        self.contacts.clone()
    }

    /// Names and ranges of the measures.
    #[getter]
    fn dimensions(&self) -> Vec<(String, [f64; 2])> {
        let all = self.env.measure_dimensions().into_iter();
        all.take(self.measures).map(|dimension| (dimension.name, dimension.range)).collect()
    }

    /// Names of the feet, in the order of the contacts.
    #[getter]
    fn feet(&self) -> Vec<String> {
        let all = self.env.measure_dimensions();
        let name = |&column: &usize| all[column].name.trim_end_matches(" contact").to_owned();
        self.contacts.iter().map(name).collect()
    }

    /// Meaning and unit of each entry of an observation.
    #[getter]
    fn observation_entries(&self) -> Vec<(String, String)> {
        self.env.observation_entries().iter().map(|e| (e.meaning.clone(), e.unit.clone())).collect()
    }

    /// Meaning and unit of each entry of an action.
    #[getter]
    fn action_entries(&self) -> Vec<(String, String)> {
        self.env.action_entries().iter().map(|e| (e.meaning.clone(), e.unit.clone())).collect()
    }

    #[getter]
    fn episode_steps(&self) -> u32 {
        self.env.episode_steps()
    }

    #[getter]
    fn step_seconds(&self) -> f64 {
        self.env.step_seconds()
    }

    /// What is suspicious about the world, in sentences.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }
}
