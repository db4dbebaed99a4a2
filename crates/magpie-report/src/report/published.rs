//! Which of the paper's numbers stand beside a method: those of the same experiment, and no others.
//!
//! The same task, measure, reward model, curiosity (weight and kind), emitters, cells and world, which the registry of
//! settings says ([`Settings::departures`](crate::runs::Settings::departures)); and demonstrations that come with magpie or
//! from the paper, as many of them as the paper's table is about. How much was spent may differ: the page says what the
//! paper spent.

use magpie_rewards::ModelName;
use magpie_run::count;

use crate::runs::{Departure, Learned, Method, Metric, Origin, Scene};
use crate::statistics::paper;
use crate::statistics::table::{Cell, ResultsTable};

/// Numbers of the paper.
#[derive(Debug, Clone)]
pub(super) struct Published {
    /// The method as the paper has it.
    pub(super) name: String,
    table: ResultsTable,
    task: String,
    family: String,
}

/// What the paper has for a method.
#[derive(Debug)]
pub(super) enum Found {
    /// The numbers of the same experiment.
    Same(Published),
    /// Numbers of another experiment with this task, measure and reward model, and what is other about it.
    Other(String),
    /// None.
    Nothing,
}

impl Published {
    /// A number, if the paper has it.
    pub(super) fn get(&self, metric: Metric) -> Option<Cell> {
        self.table.get(&self.family, &self.task, metric.name())
    }
}

/// Of the demonstrations in the main table.
const USUAL_DEMONSTRATIONS: usize = 4;

/// What the paper has for a method in a scene.
pub(super) fn find(scene: &Scene, method: &Method) -> Found {
    let Some(usual) = usual(scene, &method.family) else { return Found::Nothing };
    let settings = &method.runs[0].settings;
    let departures = settings.departures();
    if !departures.is_empty() {
        return Found::Other(in_words(&departures));
    }
    if settings.model == ModelName::True {
        return Found::Same(usual);
    }
    let Some(learned) = method.runs.iter().find_map(|run| run.learned.as_ref()) else {
        return Found::Other("its demonstrations cannot be read".to_owned());
    };
    let Learned { origin, episodes, .. } = learned;
    match (origin, episodes.len()) {
        (Origin::Other, _) => Found::Other(
            "its demonstrations are neither those that come with magpie nor the paper’s own".to_owned(),
        ),
        (_, USUAL_DEMONSTRATIONS) => Found::Same(usual),
        (_, number) => of_so_many(scene, &method.family, number).map_or_else(
            || {
                let learned = count(number, "demonstration");
                Found::Other(format!(
                    "it learns from {learned}, and the paper’s numbers are for {USUAL_DEMONSTRATIONS}"
                ))
            },
            Found::Same,
        ),
    }
}

/// The main table and the study of other measures.
fn usual(scene: &Scene, family: &str) -> Option<Published> {
    let of = |table: ResultsTable, task: String| {
        table.get(family, &task, paper::QD_SCORE)?;
        Some(Published { name: family.to_owned(), table, task, family: family.to_owned() })
    };
    if scene.measure == "feet_contact"
        && let Some(found) = of(paper::results(), scene.task.clone())
    {
        return Some(found);
    }
    let study = paper::measures_study();
    let setting = format!("{} {} (", scene.task, scene.measure);
    let setting = study.tasks().iter().find(|name| name.starts_with(&setting))?.clone();
    of(study, setting)
}

/// The study of the number of demonstrations.
fn of_so_many(scene: &Scene, family: &str, number: usize) -> Option<Published> {
    if (scene.task.as_str(), scene.measure.as_str()) != ("humanoid", "feet_contact") {
        return None;
    }
    let task = if number == 1 { "1 demo".to_owned() } else { format!("{number} demos") };
    let table = paper::demonstrations_study();
    table.get(family, &task, paper::QD_SCORE)?;
    Some(Published { name: format!("{family}, {task}"), table, task, family: family.to_owned() })
}

/// What is other about an experiment.
fn in_words(departures: &[Departure]) -> String {
    const AT_MOST: usize = 4;
    let paper = |departure: &Departure| departure.paper.clone().unwrap_or_else(|| "not set".to_owned());
    let said =
        departures.iter().take(AT_MOST).map(|d| format!("`{}` is {} and there {}", d.key, d.here, paper(d)));
    let mut said: Vec<String> = said.collect();
    if departures.len() > AT_MOST {
        said.push(format!("and {} more", departures.len() - AT_MOST));
    }
    said.join(", ")
}

/// Why numbers of the paper do not stand beside methods of this task, in sentences.
pub(super) fn left_out(scene: &Scene) -> Vec<String> {
    let why = |method: &Method| match find(scene, method) {
        Found::Other(why) => Some(format!(
            "The paper’s {} is another experiment than {}, so that its numbers do not stand beside it: {why}.",
            method.family, method.name
        )),
        Found::Same(_) | Found::Nothing => None,
    };
    scene.methods.iter().filter_map(why).collect()
}
