//! What is likely to be wrong with demonstrations that can be read and whose sizes fit.
//!
//! Sizes fit by chance: Gymnasium's Walker2d-v5 has 17 and 6 entries, as magpie's walker2d has. A file of another program
//! does not say what its entries mean, so their ranges are compared with what the task can show.

use magpie_demos::{Clipped, Demonstrations};
use magpie_envs::{Entry, Environment};
use magpie_physics::robot::Robot;

use super::config::Config;
use crate::error::RunError;

/// A few steps of a recording may be odd, where something hit something.
const ODD_STEPS: f64 = 0.01;
/// More entries than this are not listed one by one.
const MOST_LISTED: usize = 3;

/// Warnings, in sentences, about learning from these demonstrations in this environment.
pub(crate) fn doubts(demonstrations: &Demonstrations, env: &Environment) -> Vec<String> {
    let about = &demonstrations.columns().about;
    let (task, sizes) = (env.task(), (env.observation_size(), env.action_size()));
    let mut doubts = Vec::new();
    match &about.foreign {
        Some(foreign) if foreign.simulator.is_empty() => doubts.push(format!(
            "only the sizes {sizes:?} were checked. This file does not name its simulator; entries must be in the order of \
             magpie's {task}."
        )),
        Some(foreign) => doubts.push(format!(
            "this file is of {}, and not of magpie's {task}: the sizes {sizes:?} fit, but the order of entries, their units \
             and the physics may be others.",
            foreign.simulator
        )),
        None => {
            for (what, theirs, ours) in
                [("task", &about.task, env.task()), ("robot", &about.robot, env.robot())]
            {
                if !theirs.is_empty() && theirs != ours {
                    doubts.push(format!(
                        "these are demonstrations of the {what} {theirs:?}, and this {what} is {ours:?}; only the sizes \
                         {sizes:?} fit."
                    ));
                }
            }
        }
    }
    if let Some(clipped) = about.foreign.as_ref().and_then(|foreign| foreign.clipped) {
        doubts.push(about_clipped(clipped, env.action_entries()));
    }
    doubts.extend(out_of_range(demonstrations, env));
    doubts
}

fn about_clipped(clipped: Clipped, entries: &[Entry]) -> String {
    let Clipped { outside, of, largest, entry } = clipped;
    let name = entries.get(entry).map_or("?", |entry| entry.meaning.as_str());
    format!(
        "{outside} of {of} entries of actions ({:.1} %) were outside -1 to 1 and were clipped; the largest was {largest:.3} \
         (action {entry}, {name}). Actions are shares of the strength of an actuator: if the file's are not, divide them by \
         their largest value and import again.",
        100.0 * outside as f64 / of as f64
    )
}

/// Entries of observations that leave what the task can show while an episode goes on.
fn out_of_range(demonstrations: &Demonstrations, env: &Environment) -> Vec<String> {
    let entries = env.observation_entries();
    let rows = || demonstrations.columns().observations.chunks_exact(entries.len());
    if demonstrations.sizes().observation != entries.len() {
        return Vec::new();
    }
    let mut found: Vec<String> = Vec::new();
    for (index, Entry { meaning, unit, range }) in entries.iter().enumerate() {
        let &Some([low, high]) = range else { continue };
        // Files hold single precision.
        let slack = 1e-3 * (high - low);
        let values = || rows().map(|row| f64::from(row[index]));
        let (least, most) = values().fold((f64::MAX, f64::MIN), |(l, m), v| (l.min(v), m.max(v)));
        let outside = values().filter(|&v| v < low - slack || v > high + slack).count();
        let far = least < low - (high - low) || most > high + (high - low);
        if far || outside as f64 > ODD_STEPS * demonstrations.steps() as f64 {
            let unit = if unit == "1" { String::new() } else { format!(" {unit}") };
            found.push(format!(
                "observation {index} ({meaning}) goes from {least:.3} to {most:.3}{unit}, where {} shows {low:.3} to \
                 {high:.3}",
                env.task()
            ));
        }
    }
    let more = found.len().saturating_sub(MOST_LISTED);
    found.truncate(MOST_LISTED);
    if more > 0 {
        found.push(format!("{more} more entries of observations leave their range"));
    }
    if let Some(last) = found.last_mut() {
        last.push_str(&format!("; entries must be in the order and the units of magpie's {}.", env.task()));
    }
    found
}

impl Config {
    /// Warnings about the demonstrations of a run, in sentences. What cannot be read is an error elsewhere.
    pub(crate) fn doubts(&self) -> Vec<String> {
        let found = || -> Result<Vec<String>, RunError> {
            let env = self.world.environment(&self.task, Some(&self.measure))?;
            let Some(found) = self.demos.find(&self.reward, &env)? else { return Ok(Vec::new()) };
            let mut doubts = doubts(&found, &env);
            doubts.extend(self.other_robot(&found)?);
            Ok(doubts)
        };
        found().unwrap_or_default()
    }

    /// Bundled demonstrations are those of magpie's robot: one of the user's own, even of the same name, moves otherwise.
    fn other_robot(&self, found: &Demonstrations) -> Result<Option<String>, RunError> {
        let theirs = &found.columns().about.robot;
        let robot = self.world.robot(&self.world.task(&self.task)?)?;
        // A robot of another name has been noticed already.
        if self.demos.file.is_some()
            || *theirs != robot.name
            || Robot::builtin(theirs).is_ok_and(|r| r == robot)
        {
            return Ok(None);
        }
        Ok(Some(format!(
            "the reward is learned from the bundled demonstrations of {}, which magpie's own robot {theirs:?} gave; this one \
             has its name but is another. Record demonstrations of it and name their file.",
            self.task
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::Budget;
    use magpie_demos::{About, Columns, Foreign, bundled};
    use magpie_envs::{Options, TASKS};
    use magpie_rewards::ModelName;
    use magpie_settings::Method;

    fn of(task: &str, change: impl FnOnce(&mut Columns)) -> Vec<String> {
        let env = Environment::new(task, Options::default()).unwrap();
        let found = Demonstrations::from_bytes(bundled(task).unwrap()).unwrap();
        let mut columns = found.columns().clone();
        change(&mut columns);
        doubts(&Demonstrations::new(columns).unwrap(), &env)
    }

    #[test]
    fn bundled_demonstrations_leave_no_doubt() {
        for task in TASKS {
            assert_eq!(of(task, |_| ()), [""; 0], "{task}");
        }
    }

    /// The folder with the paper's own files is not part of the repository.
    #[test]
    fn demonstrations_of_the_paper_stay_within_the_ranges() {
        for task in ["halfcheetah", "walker2d", "humanoid"] {
            let path = magpie_golden::directory().join(format!("demos/original/trajs_ppga_{task}.pt"));
            if !path.is_file() {
                eprintln!("skipped: {} is not there", path.display());
                continue;
            }
            let env = Environment::new(task, Options::default()).unwrap();
            let found = magpie_demos::import(&path, &magpie_demos::Given::default()).unwrap();
            assert_eq!(out_of_range(&found, &env), [""; 0], "{task}");
            assert!(doubts(&found, &env)[0].contains("does not name its simulator"), "{task}");
        }
    }

    #[test]
    fn foreign_demonstrations_are_doubted() {
        let foreign = |simulator: &str, clipped| {
            let foreign = Some(Foreign { simulator: simulator.to_owned(), clipped });
            of("walker2d", |columns| columns.about = About { foreign, ..columns.about.clone() })
        };
        assert_eq!(
            foreign("", None),
            [
                "only the sizes (17, 6) were checked. This file does not name its simulator; entries must be in the order of \
              magpie's walker2d."
            ]
        );
        let named = foreign("Walker2d-v5", None);
        assert!(
            named[0].starts_with("this file is of Walker2d-v5, and not of magpie's walker2d"),
            "{named:?}"
        );
        let clipped = foreign("", Some(Clipped { outside: 3, of: 12, largest: 3.0, entry: 1 }));
        let want = "3 of 12 entries of actions (25.0 %) were outside -1 to 1 and were clipped; the largest was 3.000 (action 1, \
                    leg_joint torque)";
        assert!(clipped[1].starts_with(want), "{clipped:?}");
    }

    #[test]
    fn other_robots_and_tasks_are_named() {
        let found = of("walker2d", |columns| columns.about.robot = "dog".to_owned());
        assert_eq!(
            found,
            [
                "these are demonstrations of the robot \"dog\", and this robot is \"walker2d\"; only the sizes (17, 6) fit."
            ]
        );
        let found = of("walker2d", |columns| columns.about.task = "climb".to_owned());
        assert!(found[0].contains("of the task \"climb\", and this task is \"walker2d\""), "{found:?}");
    }

    #[test]
    fn entries_in_another_order_are_found_by_their_ranges() {
        let found = of("walker2d", |columns| {
            columns.observations.chunks_exact_mut(17).for_each(|row| row.swap(0, 2));
        });
        assert!(
            found[0].contains("observation 0 (root height) goes from")
                && found[0].contains("shows 0.700 to 2.000"),
            "{found:?}"
        );
        let found = of("walker2d", |columns| columns.observations.iter_mut().for_each(|v| *v *= 1e3));
        assert!(
            found[3].contains("more entries of observations leave their range; entries must be in"),
            "{found:?}"
        );
    }

    #[test]
    fn a_robot_of_ones_own_does_not_learn_from_another_without_a_word() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("robot.toml");
        let text = include_str!("../../../magpie-physics/robots/hopper.toml");
        let (method, budget) = (Method::Magpie, Budget::Quick);
        let mut config = Config::new("hopper", "feet_contact", ModelName::Gail, method, budget).unwrap();
        config.world.robot = Some(file.clone());
        std::fs::write(&file, text).unwrap();
        assert_eq!(config.doubts(), [""; 0], "magpie's own hopper, in a file");
        let stiff = text.replace("stiffness = 10000", "stiffness = 9000");
        assert_ne!(stiff, text);
        std::fs::write(&file, &stiff).unwrap();
        assert!(
            config.doubts()[0].contains("which magpie's own robot \"hopper\" gave"),
            "{:?}",
            config.doubts()
        );
        std::fs::write(&file, stiff.replacen("name = \"hopper\"", "name = \"dog\"", 1)).unwrap();
        assert!(
            config.doubts()[0].contains("robot \"hopper\", and this robot is \"dog\""),
            "{:?}",
            config.doubts()
        );
    }
}
