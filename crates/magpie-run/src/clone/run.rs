//! Cloning one policy, as a run whose iterations are epochs.

use std::path::Path;
use std::sync::Arc;

use magpie_demos::{DemonstrationError, Demonstrations, Problem};
use magpie_envs::Environment;
use magpie_files::count;
use magpie_learn::{Actions, Cloning, CloningData, CloningReport, CloningState, Evaluation, evaluate};
use magpie_nn::Shape;
use magpie_settings::Settings;
use serde::Serialize;

use super::config::Config;
use super::metrics::COLUMNS;
use crate::checkpoint::WriteResults;
use crate::column::Column;
use crate::driver::{self, Kind, Run};
use crate::error::RunError;
use crate::operations::acting;
use crate::policy_file::{PolicyFile, save_policy};
use crate::ppo::POLICY;

/// A cloning run under way.
pub type CloneRun = Run<Cloner>;

/// What an epoch gave, and how far the run is.
pub type Progress = driver::Progress<CloningReport>;

/// One policy that is being cloned.
pub struct Cloner {
    env: Arc<Environment>,
    actor: Shape,
    cloning: Cloning,
    demonstrations: Demonstrations,
}

impl Cloner {
    fn new(config: &Config, env: Environment, demonstrations: Demonstrations) -> Result<Cloner, RunError> {
        let width = config.actor as usize;
        let actor = Shape::tanh(&[env.observation_size(), width, width, env.action_size()])?;
        let data = split(&demonstrations, config.cloning.validation).map_err(|problem| {
            let path = config.demos.file.clone().unwrap_or_else(|| "the bundled demonstrations".into());
            DemonstrationError::Content { path, problem }
        })?;
        let cloning = Cloning::new(&actor, config.cloning.clone(), data, config.seed);
        Ok(Cloner { env: Arc::new(env), actor, cloning, demonstrations })
    }
}

/// Holds out the last steps of each episode.
pub(crate) fn split(demonstrations: &Demonstrations, share: f64) -> Result<CloningData, Problem> {
    let columns = demonstrations.columns();
    let mut data = CloningData::default();
    let mut row = 0;
    for episode in &columns.episodes {
        let rows = episode.length.div_ceil(columns.about.every as usize);
        let held_out = ((share * rows as f64).round() as usize).min(rows.saturating_sub(1));
        for (examples, rows) in [
            (&mut data.training, row..row + rows - held_out),
            (&mut data.validation, row + rows - held_out..row + rows),
        ] {
            let part = |table: &[f32], width: usize| table[rows.start * width..rows.end * width].to_vec();
            examples.observations.extend(part(&columns.observations, columns.sizes.observation));
            examples.actions.extend(part(&columns.actions, columns.sizes.action));
        }
        row += rows;
    }
    match data.validation.actions.is_empty() {
        true => Err(Problem(format!(
            "{}, too short to hold out a share of {share} of each for validation; use longer ones, or hold \
             out a larger share",
            count(columns.episodes.len(), "episode")
        ))),
        false => Ok(data),
    }
}

impl Kind for Cloner {
    type Config = Config;
    type Record = CloningState;
    type Report = CloningReport;

    const COMMAND: &'static str = "clone";
    const CHECKPOINT: &'static str = "checkpoint/cloning";
    const RESULTS: &'static str = POLICY;
    // An epoch that fails has changed the weights by then.
    const KEEPS_STATE: bool = false;

    fn columns() -> &'static [Column<Progress>] {
        COLUMNS
    }

    fn iteration(&self) -> u64 {
        self.cloning.epochs()
    }

    fn made(&self) -> u64 {
        self.cloning.epochs()
    }

    fn stopped_early(&self) -> bool {
        self.cloning.is_finished()
    }

    fn step(&mut self) -> Result<CloningReport, RunError> {
        let epoch = self.cloning.epochs() + 1;
        self.cloning.epoch().map_err(|reason| RunError::Cloning { epoch, reason })
    }

    fn record(&self, _config: &Config) -> Result<impl Serialize + '_, RunError> {
        Ok(self.cloning.state())
    }

    fn results(&self, config: &Config) -> Result<WriteResults, RunError> {
        let file = PolicyFile {
            task: config.task.clone(),
            actor: self.actor.clone(),
            actions: Actions::Mean,
            policy: self.cloning.policy(),
        };
        Ok(Box::new(move |path| save_policy(path, &file)))
    }
}

impl Run<Cloner> {
    /// Starts a run in a new folder.
    pub fn start(config: Config, path: &Path) -> Result<CloneRun, RunError> {
        config.check_ranges()?;
        let env = config.world.environment(&config.task, None)?;
        let all = config.demonstrations_in(&env)?;
        let chosen = config.demos.chosen(all.clone());
        // Before there is a folder.
        let cloner = Cloner::new(&config, env, chosen)?;
        Run::begin(
            config,
            path,
            |config: &mut Config, directory| Ok(Some(config.demos.move_in(&all, directory)?)),
            |_: &Config| Ok(cloner),
        )
    }

    /// Goes on with a run that was stopped, for more epochs than first planned if `epochs` says so.
    pub fn resume(path: &Path, epochs: Option<u64>) -> Result<CloneRun, RunError> {
        Run::go_on(path, epochs, |mut config: Config, kept, state, _| {
            config.check_ranges()?;
            config.demos = config.demos.unchanged(path, kept.demonstrations)?;
            let env = config.world.environment(&config.task, None)?;
            let chosen = config.demos.chosen(config.demonstrations_in(&env)?);
            let mut cloner = Cloner::new(&config, env, chosen)?;
            cloner.cloning.restore(state).map_err(|e| RunError::Damaged {
                path: path.join(Cloner::CHECKPOINT),
                problem: e.to_string(),
            })?;
            Ok(cloner)
        })
    }

    /// Epochs made so far.
    pub fn epochs(&self) -> u64 {
        self.kind.cloning.epochs()
    }

    /// What is cloned.
    pub fn demonstrations(&self) -> &Demonstrations {
        &self.kind.demonstrations
    }

    /// Runs whole episodes with the best policy so far.
    pub fn evaluate(&self, episodes: u32, actions: Actions, seed: u64) -> Result<Evaluation, RunError> {
        let Cloner { env, actor, cloning, .. } = &self.kind;
        Ok(evaluate(env, &acting(actor)?, &[&cloning.policy()], episodes, actions, seed).remove(0))
    }
}
