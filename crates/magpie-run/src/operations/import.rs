//! Demonstrations from elsewhere.

use std::path::Path;

use magpie_demos::{Demonstrations, Sizes};
use magpie_demos::{Given, import};
use magpie_envs::{Environment, Options};

use crate::error::RunError;

/// What a file does not say of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportOptions {
    /// The task that is demonstrated.
    pub task: String,
    /// What the file's measures are, if it has any.
    pub measure: String,
}

/// Reads a file of any format that is known. Observations and actions are taken to be those of magpie's task, entry by
/// entry: nothing in the formats says so, and the same robot in another simulator may have as many.
pub fn import_demonstrations(file: &Path, options: &ImportOptions) -> Result<Demonstrations, RunError> {
    let ImportOptions { task, measure } = options;
    let env = Environment::new(task, Options { measure: Some(measure.clone()), ..Options::default() })?;
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
        },
    )?;
    let dimensions = env.measure_dimensions().len();
    match demonstrations.places().into_iter().flatten().find(|place| place.len() != dimensions) {
        None => Ok(demonstrations),
        Some(place) => Err(RunError::OtherMeasures {
            path: file.to_owned(),
            found: place.len(),
            measure: measure.clone(),
            task: task.clone(),
            expected: dimensions,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::tests::{CELLS, demonstrations, hopper};

    #[test]
    fn measures_that_are_others_than_said_are_refused() {
        let (folder, open) = hopper(CELLS[0]());
        let path = folder.path().join("demos.safetensors");
        demonstrations(&open, 1).save(&path).unwrap();
        let import = |measure: &str| {
            import_demonstrations(
                &path,
                &ImportOptions { task: "hopper".to_owned(), measure: measure.to_owned() },
            )
        };
        assert_eq!(import("feet_contact").unwrap().columns().episodes.len(), 1);
        let error = import("angle").unwrap_err().to_string();
        assert!(error.contains("1 measures an episode, but angle of hopper has 2"), "{error}");
    }
}
