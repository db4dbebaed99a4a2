//! Episodes of demonstrators, and the demonstrations that their typical ones make.

use std::path::Path;
use std::sync::Arc;

use magpie_demos::{
    About, Columns, DemonstrationError, Demonstrations, Demonstrator, Episode, Problem, Sizes,
};
use magpie_envs::Environment;
use magpie_files::count;
use magpie_learn::{Actions, Networks, Policy, Recording, record};

use super::options::DemonstrateOptions;
use super::result::{Demonstrated, Recorded, Skipped, StoredElite};
use crate::error::RunError;
use crate::operations::typical::FreshEpisodes;

/// Where demonstrators act, and how.
pub(super) struct Stage<'a> {
    pub env: &'a Arc<Environment>,
    pub networks: Networks,
    pub actions: Actions,
    pub options: &'a DemonstrateOptions,
    /// Of a cell.
    pub widths: Vec<f64>,
}

impl Stage<'_> {
    /// Fresh episodes of the demonstrator with this number.
    pub fn episodes(&self, policy: &Policy, number: u32) -> Vec<Recording> {
        let count = self.options.episodes;
        let episodes = number * count..(number + 1) * count;
        record(self.env, &self.networks, policy, episodes, self.actions, self.options.seed)
    }
}

/// Demonstrations as they are made.
#[derive(Default)]
pub(super) struct Takes {
    pub recorded: Vec<Recorded>,
    recordings: Vec<Recording>,
}

impl Takes {
    /// Keeps the typical one of the episodes.
    pub fn add(
        &mut self,
        elite: Option<StoredElite>,
        fresh: FreshEpisodes,
        mut recordings: Vec<Recording>,
        widths: &[f64],
    ) {
        let Some(typical) = fresh.typical(&recordings, widths) else { return };
        let recording = recordings.swap_remove(typical);
        self.recorded.push(Recorded {
            elite,
            fresh,
            true_return: recording.true_return(),
            measures: recording.mean_measures(),
            length: recording.length(),
            terminated: recording.terminated,
        });
        self.recordings.push(recording);
    }

    pub fn finish(
        self,
        path: &Path,
        task: &str,
        who: String,
        stage: &Stage<'_>,
        skipped: Vec<Skipped>,
    ) -> Result<Demonstrated, RunError> {
        let no_demonstrations = |problem: Problem| DemonstrationError::Content {
            path: path.to_owned(),
            problem: Problem(format!("the episodes make no demonstrations: {problem}")),
        };
        let columns = self.columns(task, who, stage);
        let all = Demonstrations::new(columns).map_err(no_demonstrations)?;
        let demonstrations = all.sparse(stage.options.every).map_err(no_demonstrations)?;
        let falls = self.recorded.iter().filter(|recorded| recorded.terminated).count();
        let mut warnings = Vec::new();
        if falls > 0 {
            warnings.push(format!(
                "{falls} of {} ended before the time limit, as with a fall, because their demonstrators usually \
                 do; policies that imitate them learn to",
                count(self.recorded.len(), "demonstration")
            ));
        }
        Ok(Demonstrated {
            demonstrations,
            actions: stage.actions,
            recorded: self.recorded,
            skipped,
            warnings,
        })
    }

    fn columns(&self, task: &str, who: String, stage: &Stage<'_>) -> Columns {
        let (env, episodes) = (stage.env, stage.options.episodes);
        let manner = match stage.actions {
            Actions::Mean => "mean actions",
            Actions::Sampled => "drawn actions",
        };
        let about = About {
            task: task.to_owned(),
            robot: env.robot().to_owned(),
            measure: env.measure().to_owned(),
            horizon: env.episode_steps(),
            source: format!("{who}, {manner}, each the typical one of {}", count(episodes, "episode")),
            ..About::default()
        };
        let episode = |recorded: &Recorded| Episode {
            length: recorded.length,
            terminated: recorded.terminated,
            true_return: Some(recorded.true_return),
            measures: Vec::new(),
            demonstrator: recorded
                .elite
                .as_ref()
                .map(|elite| Demonstrator { objective: elite.objective, measures: elite.measures.clone() }),
        };
        let column =
            |select: fn(&Recording) -> &Vec<f32>| self.recordings.iter().flat_map(select).copied().collect();
        Columns {
            about,
            sizes: Sizes { observation: env.observation_size(), action: env.action_size() },
            episodes: self.recorded.iter().map(episode).collect(),
            observations: column(|r| &r.observations),
            actions: column(|r| &r.actions),
            final_observations: column(|r| &r.final_observation),
            next_observations: Vec::new(),
            rewards: column(|r| &r.rewards),
            measures: column(|r| &r.measures),
        }
    }
}
