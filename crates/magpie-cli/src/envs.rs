//! `magpie envs`: what there is to choose from.

use std::io::Write;
use std::path::PathBuf;

use magpie_envs::{Dimension, Stage, TASKS};
use magpie_physics::Perturbation;
use magpie_physics::robot::Robot;
use magpie_run::{EnvOverrides, WorldChanges};

use crate::json;
use crate::output::Output;

#[derive(clap::Args)]
pub struct Args {
    /// The task to show: a built-in one, or your own task file (docs/tasks.md). [default: all built-in tasks]
    #[arg(value_name = "TASK")]
    task: Option<String>,
    /// Show the task with your own robot (docs/robots.md describes the file).
    #[arg(long, value_name = "FILE", requires = "task")]
    robot: Option<PathBuf>,
    /// List every entry of an observation and of an action, with its meaning and unit.
    #[arg(long, requires = "task")]
    entries: bool,
}

/// A task with the robot that does it.
struct Entry {
    robot: Robot,
    stage: Stage<f32>,
}

pub fn run(args: &Args, output: Output) -> anyhow::Result<()> {
    let asked: Vec<&str> = match &args.task {
        Some(task) => vec![task],
        None => TASKS.to_vec(),
    };
    let mut entries = Vec::new();
    for task in asked {
        let changes = WorldChanges { robot: args.robot.clone(), ..WorldChanges::default() };
        let (name, world) = EnvOverrides::find(task, &changes)?;
        let task = world.task(&name)?;
        let robot = world.robot(&task)?;
        // Looking costs nothing: what would stop a run is a warning here.
        output.warn_all(&world.examine(&name).unwrap_or_else(|e| vec![e.to_string()]));
        entries.push(Entry { stage: Stage::new(&task, &robot, &Perturbation::default()), robot });
    }
    if output.is_json() {
        return Ok(entries.iter().try_for_each(|entry| output.event(&entry.describe(args.entries)))?);
    }
    let text: String = match args.entries {
        true => entries.iter().map(|entry| table(&entry.listed())).collect(),
        false => {
            let parts = if let [entry] = &entries[..] { entry.parts() } else { String::new() };
            format!("{}\n{}\n{NOTES}{parts}", table(&sizes(&entries)), table(&measures(&entries)))
        }
    };
    crate::screen::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

const NOTES: &str = "Bodies do not count the ground. A measure of an episode is the mean over its steps.\n";

impl Entry {
    /// The measures that make sense for the robot: without feet, only some.
    fn measures(&self) -> impl Iterator<Item = (&str, Vec<Dimension>)> {
        let feet = || self.robot.feet.iter().map(|&foot| self.robot.bodies[foot].name.as_str());
        let task = &self.stage.task;
        let measured =
            task.measures.iter().filter(|measure| !measure.needs_feet() || !self.robot.feet.is_empty());
        measured.map(move |measure| (measure.name.as_str(), measure.dimensions(feet())))
    }

    /// Every entry of an observation and of an action.
    fn listed(&self) -> Vec<Row> {
        let mut rows = vec![["of", "index", "meaning", "unit"].map(str::to_owned).to_vec()];
        for (of, entries) in [
            ("observation", self.stage.observation_entries(&self.robot)),
            ("action", self.stage.action_entries(&self.robot)),
        ] {
            for (index, magpie_envs::Entry { meaning, unit, .. }) in entries.into_iter().enumerate() {
                rows.push(vec![of.to_owned(), index.to_string(), meaning, unit]);
            }
        }
        rows
    }

    /// The names that files and options refer to, in their order.
    fn parts(&self) -> String {
        let bodies = self.robot.bodies.iter().map(|b| b.name.as_str()).chain(["(ground)"]);
        let actuators: Vec<_> = self
            .robot
            .actuators
            .iter()
            .map(|a| match self.robot.joints[a.joint].dof() {
                1 => a.name.clone(),
                dof => format!("{} ({dof} entries)", a.name),
            })
            .collect();
        let bodies = bodies.collect::<Vec<_>>().join(", ");
        format!(
            "\nbodies, in the order of states:     {bodies}\nactuators, in the order of actions: {}\n",
            actuators.join(", ")
        )
    }

    /// The task for programs.
    fn describe(&self, with_entries: bool) -> json::Task {
        let Entry { robot, stage } = self;
        let dimension =
            |d: &Dimension| json::Dimension { name: d.name.clone(), low: d.range[0], high: d.range[1] };
        let measure = |(measure, dimensions): (&str, Vec<Dimension>)| json::Measure {
            measure: measure.to_owned(),
            dimensions: dimensions.iter().map(dimension).collect(),
        };
        let listed = |entries: Vec<magpie_envs::Entry>| -> Vec<json::Entry> {
            entries
                .into_iter()
                .map(|magpie_envs::Entry { meaning, unit, range }| json::Entry { meaning, unit, range })
                .collect()
        };
        json::Task {
            env: stage.task.name.clone(),
            robot: robot.name.clone(),
            observation_size: stage.observation_size(),
            action_size: stage.action_size(),
            bodies: robot.bodies.len(),
            time_step_seconds: as_written(robot.control_dt),
            substeps: robot.substeps,
            episode_steps: stage.task.episode_steps,
            measures: self.measures().map(measure).collect(),
            observation: with_entries.then(|| listed(stage.observation_entries(robot))),
            action: with_entries.then(|| listed(stage.action_entries(robot))),
        }
    }
}

/// A robot's numbers are single-precision constants: 0.05 in the file is 0.05000000074505806 in the robot.
fn as_written(value: f64) -> f64 {
    (value as f32).to_string().parse().unwrap_or(value)
}

/// A line of a table.
type Row = Vec<String>;

fn sizes(entries: &[Entry]) -> Vec<Row> {
    let title =
        ["env", "robot", "observation", "action", "bodies", "step (ms)", "substeps", "episode", "measures"];
    let row = |entry: &Entry| {
        let Entry { robot, stage } = entry;
        let measures: Vec<_> = entry.measures().map(|(m, d)| format!("{m} ({})", d.len())).collect();
        vec![
            stage.task.name.clone(),
            robot.name.clone(),
            stage.observation_size().to_string(),
            stage.action_size().to_string(),
            robot.bodies.len().to_string(),
            (1e3 * robot.control_dt as f32).to_string(),
            robot.substeps.to_string(),
            stage.task.episode_steps.to_string(),
            measures.join(", "),
        ]
    };
    let rows: Vec<Row> =
        [title.map(str::to_owned).to_vec()].into_iter().chain(entries.iter().map(row)).collect();
    // Which robot does a task is worth a column only if it is not the task's own.
    if entries.iter().all(|entry| entry.robot.name == entry.stage.task.name) {
        without_column(rows, 1)
    } else {
        rows
    }
}

fn without_column(mut rows: Vec<Row>, column: usize) -> Vec<Row> {
    for row in &mut rows {
        row.remove(column);
    }
    rows
}

fn measures(entries: &[Entry]) -> Vec<Row> {
    let mut rows = vec![["env", "measure", "dimensions and their ranges"].map(str::to_owned).to_vec()];
    for entry in entries {
        for (measure, dimensions) in entry.measures() {
            let dimensions: Vec<_> =
                dimensions.iter().map(|d| format!("{} {}..{}", d.name, d.range[0], d.range[1])).collect();
            rows.push(vec![entry.stage.task.name.clone(), measure.to_owned(), dimensions.join(", ")]);
        }
    }
    rows
}

/// Columns as wide as they need, two spaces apart; numbers to the right.
fn table(rows: &[Row]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |c: usize| rows.iter().map(|row| row[c].chars().count()).max().unwrap_or(0);
    let numeric = |c: usize| rows.iter().skip(1).all(|row| row[c].parse::<f64>().is_ok());
    let layout: Vec<_> = (0..columns).map(|c| (width(c), numeric(c))).collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<_> = row
            .iter()
            .zip(&layout)
            .map(
                |(cell, &(width, numeric))| {
                    if numeric { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
                },
            )
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}
