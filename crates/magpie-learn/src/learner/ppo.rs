//! Proximal policy optimisation: advantages, then epochs of shuffled minibatches.

use magpie_nn::Kernel;
use magpie_nn::normaliser::Moments;
use magpie_nn::ppo::{Batch, Ppo};
use magpie_random::Draws;

use super::gae::{self, Step};
use super::{Learner, UpdateError, UpdateStats};
use crate::agent::{Agent, Networks, RETURN_LIMIT};
use crate::config::{StopAfter, TrainConfig};
use crate::rollout_buffer::{End, RolloutBuffer};

/// PPO with the clipped objective, value clipping, and updates that end once the policy has moved by `target_kl`.
#[derive(Debug)]
pub(crate) struct PpoLearner {
    config: TrainConfig,
    ppo: Ppo,
}

impl PpoLearner {
    pub fn new(config: &TrainConfig, networks: &Networks, kernel: Kernel) -> PpoLearner {
        PpoLearner { config: config.clone(), ppo: Ppo::new(&networks.actor, &networks.critic, kernel) }
    }
}

impl Learner for PpoLearner {
    fn learn(
        &mut self,
        agent: &mut Agent,
        rollout: &mut RolloutBuffer,
        draws: &mut Draws,
    ) -> Result<UpdateStats, UpdateError> {
        let explained_variance = estimate(agent, rollout, &self.config)?;
        let stats = update(&mut self.ppo, agent, rollout, &self.config, draws)?;
        Ok(UpdateStats { explained_variance, ..stats })
    }
}

/// Writes advantages and value targets into the rollout: converts values to the scale of rewards, computes advantages,
/// updates the agent's return statistics, and normalises the targets with them. Returns the share of the returns'
/// variance that the critic explained.
fn estimate(
    agent: &mut Agent,
    rollout: &mut RolloutBuffer,
    config: &TrainConfig,
) -> Result<f64, UpdateError> {
    if let Some(row) = rollout.rewards.iter().position(|r| !r.is_finite()) {
        return Err(UpdateError::Reward { row });
    }
    let units = agent.returns.freeze(RETURN_LIMIT);
    let mut moments = Moments::new(1);
    let mut surprise = Moments::new(1);
    for environment in 0..rollout.environments() {
        let rows: Vec<usize> = rollout.rows_of(environment).collect();
        let steps: Vec<Step> = rows
            .iter()
            .map(|&row| Step {
                reward: rollout.rewards[row],
                value: units.raw(0, rollout.values[row]),
                done: rollout.ends[row] != End::Continues,
                bootstrap: match rollout.ends[row] {
                    End::Terminated => 0.0,
                    End::Continues | End::Truncated => units.raw(0, rollout.bootstrap[row]),
                },
            })
            .collect();
        gae::advantages(steps.iter().copied(), config.gamma, config.gae_lambda, |t, advantage, value| {
            rollout.advantages[rows[t]] = advantage;
            rollout.returns[rows[t]] = value;
        });
        let returns: Vec<f32> = rows.iter().map(|&row| rollout.returns[row]).collect();
        let misses: Vec<f32> = rows.iter().map(|&row| rollout.advantages[row]).collect();
        moments.add_rows(&returns);
        surprise.add_rows(&misses);
    }
    let explained = 1.0 - surprise.squares()[0] / moments.squares()[0].max(1e-12);
    agent.returns.update(&moments);
    let units = agent.returns.freeze(RETURN_LIMIT);
    for value in &mut rollout.returns {
        *value = units.value(0, *value);
    }
    Ok(explained)
}

/// Runs epochs of shuffled minibatches until the policy has moved far enough.
fn update(
    ppo: &mut Ppo,
    agent: &mut Agent,
    rollout: &RolloutBuffer,
    config: &TrainConfig,
    draws: &mut Draws,
) -> Result<UpdateStats, UpdateError> {
    let mut order: Vec<u32> = (0..rollout.rows() as u32).collect();
    let mut stats = UpdateStats::default();
    let mut too_far = false;
    for epoch in 0..config.epochs {
        draws.shuffle(&mut order);
        let size = order.len().div_ceil(config.minibatches.max(1));
        for (minibatch, rows) in order.chunks(size.max(1)).enumerate() {
            let batch = Batch {
                rows,
                observations: &rollout.observations,
                actions: &rollout.actions,
                log_probs: &rollout.log_probs,
                advantages: &rollout.advantages,
                returns: &rollout.returns,
                values: &rollout.values,
            };
            let step = ppo.step(&config.ppo, &mut agent.weights, &batch);
            if !(step.loss.is_finite() && step.policy_norm.is_finite() && step.critic_norm.is_finite()) {
                return Err(UpdateError::Loss { epoch, minibatch });
            }
            stats.add(&step, rows.len());
            too_far = step.approx_kl > config.target_kl;
            if too_far && config.stop_after == StopAfter::Minibatch {
                break;
            }
        }
        if too_far {
            break;
        }
    }
    stats.finish();
    Ok(stats)
}
