//! A phase of training: several agents, each with its own environments and its own mixture of rewards.

use std::ops::Range;
use std::sync::Arc;

use magpie_envs::Environment;
use magpie_learn::{
    Agent, Iteration, LearnerFactory, Networks, Policy, RolloutBuffer, TrainConfig, Trainer, iterate_all,
};
use magpie_nn::adam::Adam;
use magpie_qd::ArchivePair;
use magpie_random::Stream;
use magpie_rewards::Health;

use crate::error::TrainingError;
use crate::reward_mixer::RewardMixer;
use crate::rewards::Rewards;

/// Creates the trainers of a phase.
pub(crate) struct TrainerFactory {
    pub env: Arc<Environment>,
    pub networks: Networks,
    pub config: TrainConfig,
    /// Creates learners in place of the configured one.
    pub learner: Option<LearnerFactory>,
    /// Seed of this phase.
    pub seed: u64,
}

/// Agents in training. Environments are reset when the phase begins; later rollouts continue their episodes.
pub(crate) struct Phase {
    trainers: Vec<Trainer>,
    mixers: Vec<RewardMixer>,
    /// The agents' policies after each rollout, if these are to be kept.
    intermediate: Option<Vec<Policy>>,
}

/// The result of a phase.
pub(crate) struct PhaseOutput {
    /// The trained agents.
    pub agents: Vec<Agent>,
    /// Their intermediate policies, rollout by rollout.
    pub intermediate: Vec<Policy>,
    pub stats: PhaseStats,
}

/// Statistics of a phase.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PhaseStats {
    /// Environment steps of all agents.
    pub steps: u64,
    /// Rows in all their minibatches, which determine the cost of updates.
    pub update_rows: u64,
    /// The last rollout of the first agent, which is trained on the objective.
    pub last: Iteration,
    /// Mean novelty of its steps; with novelty by empty cells, the share of steps in them.
    pub curious_share: f64,
    /// Health of the reward model in its last update, if it learns.
    pub health: Option<Health>,
}

impl TrainerFactory {
    /// A trainer for `agent` in environments `ids`. The policy's Adam state is reset; the critic's is kept.
    pub fn trainer(&self, mut agent: Agent, ids: Range<u32>) -> Trainer {
        agent.weights.policy_adam = Adam::new(agent.weights.policy.len());
        let TrainerFactory { env, networks, config, learner, seed } = self;
        let trainer = Trainer::new(Arc::clone(env), ids, networks.clone(), agent, config.clone(), *seed);
        match learner {
            Some(make) => trainer.with_learner(make(config, networks)),
            None => trainer,
        }
    }
}

impl Phase {
    pub fn new(trainers: Vec<Trainer>, mixers: Vec<RewardMixer>, keep_intermediate: bool) -> Phase {
        Phase { trainers, mixers, intermediate: keep_intermediate.then(Vec::new) }
    }

    /// Trains all agents for `iterations` rollouts. After each one, the reward model and the bonus learn from the first
    /// agent's rollout.
    pub fn train(
        mut self,
        factory: &TrainerFactory,
        iterations: u32,
        rewards: &mut Rewards,
        archives: &ArchivePair,
    ) -> Result<PhaseOutput, TrainingError> {
        rewards.begin_phase(archives);
        if let (Some(next), Some(first)) = (rewards.objective.keeps(), self.trainers.first_mut()) {
            first.keep_transitions(next);
        }
        let (mut last, mut health, mut update_rows) = (None, None, 0);
        for iteration in 0..iterations {
            let rollouts = self.iterate(&factory.networks, rewards)?;
            update_rows += rollouts.iter().map(|rollout| rollout.update.rows as u64).sum::<u64>();
            last = rollouts.into_iter().next();
            if let Some(intermediate) = &mut self.intermediate {
                intermediate.extend(self.trainers.iter().map(|trainer| trainer.agent.policy()));
            }
            if let (Some(first), Some(mixer)) = (self.trainers.first(), self.mixers.first()) {
                let mut draws = Stream::new(factory.seed, "reward model").draws(0, iteration.into());
                let (rollout, agent) = (first.rollout(), &first.agent);
                health = rewards.learn(rollout, agent, &factory.networks, mixer.episodes(), &mut draws)?;
            }
        }
        let per_iteration: usize = self.trainers.iter().map(Trainer::steps_per_iteration).sum();
        let stats = PhaseStats {
            steps: per_iteration as u64 * u64::from(iterations),
            update_rows,
            last: last.unwrap_or_default(),
            curious_share: self.mixers.first().map_or(0.0, RewardMixer::curious_share),
            health,
        };
        Ok(PhaseOutput {
            agents: self.trainers.into_iter().map(|trainer| trainer.agent).collect(),
            intermediate: self.intermediate.unwrap_or_default(),
            stats,
        })
    }

    fn iterate(&mut self, networks: &Networks, rewards: &Rewards) -> Result<Vec<Iteration>, TrainingError> {
        let mut paid: Vec<Result<(), TrainingError>> = vec![Ok(()); self.mixers.len()];
        let mut rewrites: Vec<_> = self
            .mixers
            .iter_mut()
            .zip(&mut paid)
            .map(|(mixer, paid)| {
                move |rollout: &mut RolloutBuffer, agent: &Agent| {
                    *paid = mixer.apply(rollout, agent, networks, rewards)
                }
            })
            .collect();
        let iterations = iterate_all(&mut self.trainers, &mut rewrites);
        drop(rewrites);
        // If the reward model failed, rewards are meaningless, so report its error first.
        paid.into_iter().collect::<Result<(), _>>()?;
        Ok(iterations?)
    }
}
