//! Reading a task: from text, from a file, or a built-in one.

use std::path::Path;

use magpie_physics::robot::{BUILTIN as ROBOTS, Robot};
use magpie_settings::{DataFault, Row, above, above_to, parse_data_file, read_data_file, within};

use super::file::{DimensionEntry, HealthyEntry, MeasureEntry, TaskFile};
use super::{Healthy, Reward, SearchHints, Task, TaskRobot};
use crate::environment::MOST_MEASURES;
use crate::measure::{Measure, MeasurePart};
use crate::rigid_bodies::EnvironmentError;

/// Names of the built-in tasks.
pub const TASKS: [&str; 5] = {
    let mut names = [""; 5];
    let mut i = 0;
    while i < BUILTIN.len() {
        names[i] = BUILTIN[i].0;
        i += 1;
    }
    names
};

const BUILTIN: [(&str, &str); 5] = [
    ("halfcheetah", include_str!("../../tasks/halfcheetah.toml")),
    ("walker2d", include_str!("../../tasks/walker2d.toml")),
    ("hopper", include_str!("../../tasks/hopper.toml")),
    ("ant", include_str!("../../tasks/ant.toml")),
    ("humanoid", include_str!("../../tasks/humanoid.toml")),
];

/// The kind of file, for messages.
const KIND: &str = "task file";

/// Episodes with more steps than this are certainly a mistake.
const MOST_STEPS: i64 = 1_000_000;

impl Task {
    /// Reads a task from the text of a task file. `origin` names the source of the text in error messages; a robot file
    /// that the text names is looked for in `folder`.
    ///
    /// # Errors
    /// If the text is not TOML, has unknown or missing keys, or does not describe a task.
    ///
    /// ```
    /// use std::path::Path;
    /// use magpie_envs::Task;
    ///
    /// let stand = r#"
    ///     name = "stand"
    ///     robot = "humanoid"
    ///     episode_steps = 500
    ///     observation = ["height", "rotation", "joint_angles", "velocity", "angular_velocity", "joint_rates"]
    ///     reward = { alive = 1.0, control_cost = 0.1 }
    ///     healthy = { height = [1.0, 2.1] }
    ///
    ///     [[measure]]
    ///     name = "posture"
    ///     dimensions = [{ of = "height", range = [1.0, 1.6] }, { of = "foot_contacts" }]
    /// "#;
    /// let task = Task::from_toml(stand, "stand.toml", Path::new(""))?;
    /// assert_eq!((task.name.as_str(), task.measures.len()), ("stand", 1));
    ///
    /// let wrong = stand.replace("height = [1.0, 2.1]", "height = [2.1, 1.0]");
    /// let error = Task::from_toml(&wrong, "stand.toml", Path::new("")).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "stand.toml: healthy.height: found [2.1, 1.0]; the lower end must come first, and be smaller"
    /// );
    /// # Ok::<(), magpie_envs::EnvironmentError>(())
    /// ```
    pub fn from_toml(text: &str, origin: &str, folder: &Path) -> Result<Task, EnvironmentError> {
        let file: TaskFile = parse_data_file(text, origin, KIND)?;
        Ok(build(file, Some(folder)).map_err(|fault| fault.within(origin))?)
    }

    /// Reads a task file. A robot file that it names is looked for in the same directory.
    ///
    /// # Errors
    /// If the file cannot be read, or for the reasons of [`Task::from_toml`].
    pub fn load(path: &Path) -> Result<Task, EnvironmentError> {
        let text = read_data_file(path, KIND)?;
        Task::from_toml(&text, &path.display().to_string(), &path.with_file_name(""))
    }

    /// The built-in task called `name`.
    ///
    /// # Errors
    /// If there is no built-in task of that name.
    pub fn named(name: &str) -> Result<Task, EnvironmentError> {
        match BUILTIN.iter().find(|(known, _)| *known == name) {
            Some((_, text)) => {
                let origin = format!("built-in task {name:?}");
                let file: TaskFile = parse_data_file(text, &origin, KIND)?;
                Ok(build(file, None).map_err(|fault| fault.within(&origin))?)
            }
            None => Err(EnvironmentError::UnknownTask {
                asked: name.to_owned(),
                remedy: magpie_settings::remedy(name, TASKS),
            }),
        }
    }
}

/// Larger numbers in a task are certainly a mistake.
const LARGEST: f64 = 1e12;

/// The longest name of a task, in letters.
const LONGEST_NAME: usize = 60;

/// Checks the file and builds the task. A built-in task has no folder.
fn build(file: TaskFile, folder: Option<&Path>) -> Result<Task, DataFault> {
    let fault = |field: &str, found: String, remedy: &str| Err(DataFault::new(field, found, remedy));
    let plain = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    if !file.name.chars().all(plain) || !file.name.starts_with(char::is_alphanumeric) {
        // Run directories are named after it.
        let found = format!("found {:?}", file.name);
        return fault(
            "name",
            found,
            "use only letters, digits, `-`, `_` and `.`, starting with a letter or digit",
        );
    }
    if file.name.chars().count() > LONGEST_NAME {
        let found = format!("found {} letters", file.name.chars().count());
        return fault("name", found, "use at most 60, because run directories are named after it");
    }
    if folder.is_some() && TASKS.contains(&file.name.as_str()) {
        let found = format!("{:?} is the name of a built-in task", file.name);
        return fault("name", found, "choose another name, so that results are not confused");
    }
    if !(1..=MOST_STEPS).contains(&file.episode_steps) {
        let found = format!("found {}", file.episode_steps);
        return fault("episode_steps", found, "must be between 1 and 1000000");
    }
    if file.observation.is_empty() {
        return fault(
            "observation",
            "the list is empty".into(),
            "name at least one part, such as \"height\"",
        );
    }
    for (i, part) in file.observation.iter().enumerate() {
        if file.observation[..i].contains(part) {
            return fault(&format!("observation[{i}]"), "it is already listed".into(), "list each part once");
        }
    }
    if let Some(clip) = file.clip
        && !(clip as f32 > 0.0 && (clip as f32).is_finite())
    {
        return fault("clip", format!("found {clip:?}"), "must be a finite number above zero");
    }
    if !(0.0..=std::f64::consts::PI).contains(&file.reset.noise) {
        return fault("reset.noise", format!("found {:?}", file.reset.noise), "must be between 0 and π");
    }
    check_reward(&file.reward)?;
    check_hints(&file.search)?;
    Ok(Task {
        robot: robot(&file.robot, folder.unwrap_or(Path::new("")))?,
        observation: file.observation,
        reward: file.reward,
        healthy: healthy(&file.healthy)?,
        reset_noise: file.reset.noise,
        clip: file.clip.map(|clip| clip as f32),
        episode_steps: file.episode_steps as u32,
        measures: measures(&file.measure)?,
        hints: file.search,
        name: file.name,
    })
}

/// The name of a built-in robot, or a file in the task's directory. Built-in tasks use built-in robots.
fn robot(name: &str, folder: &Path) -> Result<TaskRobot, DataFault> {
    if Path::new(name).extension().is_some_and(|extension| extension == "toml") {
        return Ok(TaskRobot::File(folder.join(name)));
    }
    match Robot::builtin(name) {
        Ok(_) => Ok(TaskRobot::Builtin(name.to_owned())),
        Err(_) => Err(DataFault::new(
            "robot",
            format!("there is no built-in robot {name:?}"),
            format!(
                "{} Write a robot file with its extension, as in \"my-robot.toml\"",
                magpie_settings::remedy(name, ROBOTS.map(|(name, _)| name))
            ),
        )),
    }
}

fn finite(table: &str, values: &[(&str, f64)]) -> Result<(), DataFault> {
    // Rewards are computed in single precision.
    match values.iter().find(|(_, value)| !(*value as f32).is_finite() || value.abs() > LARGEST) {
        Some((key, value)) => Err(DataFault::new(
            format!("{table}.{key}"),
            format!("found {value:?}"),
            format!("write a number from {:?} to {LARGEST:?}", -LARGEST),
        )),
        None => Ok(()),
    }
}

fn check_reward(reward: &Reward) -> Result<(), DataFault> {
    let Reward { forward, sideways, upward, turning, alive, control_cost, contact_cost, .. } = *reward;
    let terms = [
        ("forward", forward),
        ("sideways", sideways),
        ("upward", upward),
        ("turning", turning),
        ("alive", alive),
        ("control_cost", control_cost),
        ("contact_cost", contact_cost),
    ];
    finite("reward", &terms)?;
    for (key, cost) in &terms[5..] {
        if *cost < 0.0 {
            let remedy = "costs are subtracted, so write it without the minus sign";
            return Err(DataFault::new(format!("reward.{key}"), format!("found {cost:?}"), remedy));
        }
    }
    if terms.iter().all(|(_, weight)| *weight == 0.0) {
        let remedy = "give at least one term, such as `forward = 1.0`";
        return Err(DataFault::new("reward", "every term is zero", remedy));
    }
    Ok(())
}

fn check_hints(hints: &SearchHints) -> Result<(), DataFault> {
    let SearchHints {
        threshold_min,
        qd_offset,
        sigma0,
        archive_learning_rate,
        learning_rate,
        alive_bonus,
        ..
    } = *hints;
    let rate = learning_rate.unwrap_or(1.0);
    finite(
        "search",
        &[
            ("threshold_min", threshold_min),
            ("qd_offset", qd_offset),
            ("sigma0", sigma0),
            ("archive_learning_rate", archive_learning_rate),
            ("learning_rate", rate),
            ("alive_bonus", alive_bonus),
        ],
    )?;
    within("search.sigma0", &sigma0, above(0.0))?;
    within("search.archive_learning_rate", &archive_learning_rate, above_to(0.0, 1.0))?;
    Ok(within("search.learning_rate", &rate, above_to(0.0, 1.0))?)
}

/// A range with its lower end first; ends may be infinite if `open`.
fn range(field: &str, Row([low, high]): Row<f64, 2>, open: bool) -> Result<[f64; 2], DataFault> {
    let found = || format!("found [{low:?}, {high:?}]");
    if low.partial_cmp(&high) != Some(std::cmp::Ordering::Less) {
        return Err(DataFault::new(field, found(), "the lower end must come first, and be smaller"));
    }
    if !(open || low.abs() <= LARGEST && high.abs() <= LARGEST) {
        return Err(DataFault::new(field, found(), format!("both ends must lie within ±{LARGEST:?}")));
    }
    if !open && low as f32 >= high as f32 {
        return Err(DataFault::new(field, found(), "the ends are too close together to be distinguished"));
    }
    Ok([low, high])
}

fn healthy(entry: &HealthyEntry) -> Result<Healthy, DataFault> {
    let read = |field: &str, row: Option<Row<f64, 2>>| row.map(|row| range(field, row, true)).transpose();
    Ok(Healthy { height: read("healthy.height", entry.height)?, pitch: read("healthy.pitch", entry.pitch)? })
}

fn measures(entries: &[MeasureEntry]) -> Result<Vec<Measure>, DataFault> {
    if entries.is_empty() {
        return Err(DataFault::new("measure", "the task has no measure", "add at least one [[measure]]"));
    }
    for (i, entry) in entries.iter().enumerate() {
        if entry.name.is_empty() || entries[..i].iter().any(|other| other.name == entry.name) {
            let found = format!("found {:?}", entry.name);
            return Err(DataFault::new(
                format!("measure[{i}].name"),
                found,
                "give each measure a unique name",
            ));
        }
    }
    entries.iter().map(measure).collect()
}

fn measure(entry: &MeasureEntry) -> Result<Measure, DataFault> {
    let at = format!("measure {:?}", entry.name);
    if !(1..=MOST_MEASURES).contains(&entry.dimensions.len()) {
        let found = format!("found {} dimensions", entry.dimensions.len());
        return Err(DataFault::new(format!("{at}.dimensions"), found, "give between 1 and 16"));
    }
    let part = |(i, dimension): (usize, &DimensionEntry)| {
        let field = format!("{at}.dimensions[{i}].range");
        let given = dimension.range.map(|row| range(&field, row, false)).transpose()?;
        let range = given.or(dimension.of.usual_range()).ok_or_else(|| {
            let remedy = "give the smallest and the largest value that an archive should distinguish";
            DataFault::new(field, "missing", remedy)
        })?;
        Ok(MeasurePart { quantity: dimension.of, range })
    };
    let parts = entry.dimensions.iter().enumerate().map(part).collect::<Result<_, DataFault>>()?;
    Ok(Measure { name: entry.name.clone(), parts })
}
