//! Demonstrations from elsewhere.

use std::path::Path;

use magpie_demos::{Demonstrations, Given, Sizes, import};

use crate::error::RunError;
use crate::train::doubts;
use crate::world::{EnvOverrides, WorldChanges};

/// What a file does not say of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportOptions {
    /// The task that is demonstrated: its name, or a task file.
    pub task: String,
    /// What the file's measures are, if it has any.
    pub measure: String,
    /// The robot that demonstrates it, if it is not the task's own.
    pub world: WorldChanges,
}

/// Demonstrations, and what is likely to be wrong with them.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedDemonstrations {
    /// What was read.
    pub demonstrations: Demonstrations,
    /// In sentences.
    pub warnings: Vec<String>,
}

/// Reads a file or folder of any format that is known. Observations and actions are taken to be those of magpie's task, entry
/// by entry: few formats say what they hold, and the same robot in another simulator may have as many. What can be checked
/// is, and becomes a warning.
pub fn import_demonstrations(
    file: &Path,
    options: &ImportOptions,
) -> Result<ImportedDemonstrations, RunError> {
    let ImportOptions { task, measure, world } = options;
    let (task, world) = EnvOverrides::find(task, world)?;
    let env = world.environment(&task, Some(measure))?;
    let name = file.file_name().unwrap_or(file.as_os_str());
    let demonstrations = import(
        file,
        &Given {
            task: task.clone(),
            robot: env.robot().to_owned(),
            measure: measure.clone(),
            horizon: env.episode_steps(),
            source: name.to_string_lossy().into_owned(),
            sizes: Some(Sizes { observation: env.observation_size(), action: env.action_size() }),
            entries: env.observation_entries().iter().map(|entry| entry.meaning.clone()).collect(),
        },
    )?;
    let dimensions = env.measure_dimensions().len();
    match demonstrations.places().into_iter().flatten().find(|place| place.len() != dimensions) {
        None => Ok(ImportedDemonstrations { warnings: doubts(&demonstrations, &env), demonstrations }),
        Some(place) => Err(RunError::OtherMeasures {
            path: file.to_owned(),
            found: place.len(),
            measure: measure.clone(),
            task,
            expected: dimensions,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::tests::{CELLS, demonstrations, hopper};

    fn options(measure: &str) -> ImportOptions {
        let world = WorldChanges::default();
        ImportOptions { task: "hopper".to_owned(), measure: measure.to_owned(), world }
    }

    #[test]
    fn measures_that_are_others_than_said_are_refused() {
        let (folder, open) = hopper(CELLS[0]());
        let path = folder.path().join("demos.safetensors");
        demonstrations(&open, 1).save(&path).unwrap();
        let imported = import_demonstrations(&path, &options("feet_contact")).unwrap();
        assert_eq!(imported.demonstrations.columns().episodes.len(), 1);
        assert_eq!(imported.warnings, [""; 0], "magpie's own");
        let error = import_demonstrations(&path, &options("angle")).unwrap_err().to_string();
        assert!(error.contains("1 in the file, but angle on hopper has 2"), "{error}");
    }

    #[test]
    fn demonstrations_of_a_robot_of_ones_own_are_imported_as_such() {
        let folder = tempfile::tempdir().unwrap();
        let robot = folder.path().join("dog.toml");
        let text = include_str!("../../../magpie-physics/robots/hopper.toml");
        std::fs::write(&robot, text.replacen("name = \"hopper\"", "name = \"dog\"", 1)).unwrap();
        let (_folder, open) = hopper(CELLS[0]());
        let path = folder.path().join("demos.safetensors");
        demonstrations(&open, 1).save(&path).unwrap();
        let world = WorldChanges { robot: Some(robot), ..WorldChanges::default() };
        let imported =
            import_demonstrations(&path, &ImportOptions { world, ..options("feet_contact") }).unwrap();
        let want = "these are demonstrations of the robot \"hopper\", and this robot is \"dog\"";
        assert!(imported.warnings[0].starts_with(want), "{:?}", imported.warnings);
    }
}
