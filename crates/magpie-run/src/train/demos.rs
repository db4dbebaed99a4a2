//! The demonstrations of a run: found, checked against the task, and kept in its folder.

use std::path::{Path, PathBuf};

use magpie_demos::{DemonstrationError, Demonstrations, Given, Sizes, bundled, import, import_bytes};
use magpie_envs::Environment;
use magpie_rewards::{ModelName, RewardConfig};
use magpie_settings::settings;

use crate::directory::{RunDirectory, read};
use crate::error::RunError;

settings! {
    /// Demonstrations for the reward model.
    #[derive(Eq)]
    pub struct Demos {
        /// A demonstration file in any format that `magpie demos import` reads. Defaults to the demonstrations bundled
        /// with magpie; a run directory refers to its own copy.
        file: Option<PathBuf> = None;
        /// Number of episodes to learn from, counted from the first; all by default. `magpie demos make` writes the
        /// best episode first.
        count: Option<usize> = None, in 1..;
    }
}

/// The copy in the folder of a run.
pub(crate) const FILE: &str = "demonstrations.safetensors";

impl Demos {
    /// The demonstrations, if the reward is learned from any.
    pub(super) fn find(
        &self,
        reward: &RewardConfig,
        env: &Environment,
    ) -> Result<Option<Demonstrations>, RunError> {
        match reward.model {
            ModelName::True => Ok(None),
            model => self.required(env, &model.to_string()).map(Some),
        }
    }

    /// The demonstrations for `learner`, which cannot do without.
    pub(crate) fn required(&self, env: &Environment, learner: &str) -> Result<Demonstrations, RunError> {
        let task = env.task();
        let sizes = Sizes { observation: env.observation_size(), action: env.action_size() };
        let mut given = Given {
            task: task.to_owned(),
            robot: env.robot().to_owned(),
            horizon: env.episode_steps(),
            sizes: Some(sizes),
            entries: env.observation_entries().iter().map(|entry| entry.meaning.clone()).collect(),
            ..Given::default()
        };
        let (found, place) = match &self.file {
            Some(file) => {
                given.source = file.display().to_string();
                (import(file, &given)?, given.source)
            }
            None => {
                let bytes = bundled(task).ok_or_else(|| RunError::NoDemonstrations {
                    task: task.to_owned(),
                    learner: learner.to_owned(),
                })?;
                let place = format!("the bundled demonstrations of {task}");
                let demonstrations = import_bytes(bytes, &given)
                    .map_err(|problem| DemonstrationError::Content { path: place.clone().into(), problem })?;
                (demonstrations, place)
            }
        };
        let episodes = found.columns().episodes.len();
        match self.count {
            Some(count) if !(1..=episodes).contains(&count) => Err(RunError::Value {
                field: "demos.count".to_owned(),
                value: count.to_string(),
                range: format!("1 to {episodes}, the episodes of {place}"),
            }),
            _ => Ok(found),
        }
    }

    /// Those to learn from.
    pub(crate) fn chosen(&self, all: Demonstrations) -> Demonstrations {
        match self.count {
            Some(count) => all.subset(count),
            None => all,
        }
    }

    /// Writes a copy into the folder of a run, so that the run does not depend on the original. Returns its checksum.
    pub(crate) fn move_in(
        &mut self,
        demonstrations: &Demonstrations,
        directory: &RunDirectory,
    ) -> Result<u32, RunError> {
        let bytes = demonstrations
            .to_bytes()
            .map_err(|problem| DemonstrationError::Content { path: directory.file(FILE), problem })?;
        directory.write(FILE, &bytes)?;
        self.file = Some(FILE.into());
        Ok(crc32fast::hash(&bytes))
    }

    /// As seen from outside of the folder of a run, if the file is still the one with this checksum.
    pub(crate) fn unchanged(&self, folder: &Path, checksum: Option<u32>) -> Result<Demos, RunError> {
        let file = self.file.as_ref().map(|file| folder.join(file));
        if let (Some(file), Some(checksum)) = (&file, checksum)
            && crc32fast::hash(&read(file)?) != checksum
        {
            return Err(RunError::changed(file));
        }
        Ok(Demos { file, ..self.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use magpie_envs::{Options, TASKS};

    #[test]
    fn only_learnt_rewards_want_demonstrations() {
        let hopper = Environment::new("hopper", Options::default()).unwrap();
        let reward = RewardConfig { model: ModelName::True, ..RewardConfig::default() };
        let missing = Demos { file: Some("nowhere.safetensors".into()), count: None };
        assert_eq!(missing.find(&reward, &hopper).unwrap(), None);
        let error = missing.find(&RewardConfig::default(), &hopper).unwrap_err().to_string();
        assert!(error.starts_with("nowhere.safetensors: opening"), "{error}");
    }

    #[test]
    fn every_task_has_demonstrations_to_learn_from() {
        for task in TASKS {
            let env = Environment::new(task, Options::default()).unwrap();
            let found = Demos::default().find(&RewardConfig::default(), &env).unwrap().unwrap();
            let episodes = &found.columns().episodes;
            assert_eq!(episodes.len(), 4, "{task}");
            // One that falls would teach to fall.
            assert!(episodes.iter().all(|episode| !episode.terminated), "{task}");
        }
    }

    #[test]
    fn a_task_without_bundled_demonstrations_says_what_to_give() {
        let error = RunError::NoDemonstrations { task: "pogo".to_owned(), learner: "gail".to_owned() };
        let error = error.to_string();
        assert!(error.contains("name a file") && error.contains("own reward"), "{error}");
    }
}
