//! The objective's reward of a step: from the environment, or from a model trained on demonstrations.

use magpie_learn::{Agent, End, Networks, RolloutBuffer};
use magpie_random::Draws;
use magpie_rewards::{Health, Needs, Pairs, Record, RewardError, RewardModel, Transitions};

/// Rewards steps.
pub enum Objective {
    /// The environment's own reward.
    True,
    /// A learned reward.
    Learned(LearnedReward),
}

/// A reward model and its demonstrations.
pub struct LearnedReward {
    model: Box<dyn RewardModel>,
    expert: Pairs,
    scaled: bool,
    /// Steps per episode.
    horizon: u32,
}

/// Columns derived from a rollout for the reward model.
struct Derived {
    actions: Vec<f32>,
    log_probs: Vec<f32>,
    terminated: Vec<bool>,
    lost: Vec<u32>,
}

impl Derived {
    /// The columns that a model `needs`; likelihoods are computed with `agent`.
    fn of(
        rollout: &RolloutBuffer,
        needs: Needs,
        agent: &Agent,
        networks: &Networks,
        horizon: u32,
    ) -> Derived {
        let ended = |row: usize| rollout.ends[row] == End::Terminated;
        let (mut terminated, mut lost) = (Vec::new(), Vec::new());
        if needs.next_observations || needs.lost {
            terminated.extend((0..rollout.rows()).map(ended));
        }
        if needs.lost {
            let left = |row: usize| horizon.saturating_sub(rollout.transitions.ages[row]);
            lost.extend((0..rollout.rows()).map(|row| if ended(row) { left(row) } else { 0 }));
        }
        // Actions are clipped, as the environment receives them, and likelihoods are those of the clipped actions, as
        // for the expert's actions. Likelihoods of the actions before clipping would tell expert and policy apart.
        let actions: Vec<f32> = rollout.actions.iter().map(|a| a.clamp(-1.0, 1.0)).collect();
        let log_probs = match needs.log_probs {
            true => agent.policy().log_probs(networks, &rollout.transitions.observations, &actions),
            false => Vec::new(),
        };
        Derived { actions, log_probs, terminated, lost }
    }

    fn transitions<'a>(&'a self, rollout: &'a RolloutBuffer) -> Transitions<'a> {
        Transitions {
            observations: &rollout.transitions.observations,
            actions: &self.actions,
            next_observations: &rollout.transitions.next_observations,
            terminated: &self.terminated,
            log_probs: &self.log_probs,
            rewards: &rollout.rewards,
            lost: &self.lost,
        }
    }
}

impl LearnedReward {
    /// A prepared model with its demonstrations. If `scaled`, rewards are divided by their mean size. Episodes end
    /// after `horizon` steps.
    pub fn new(model: Box<dyn RewardModel>, expert: Pairs, scaled: bool, horizon: u32) -> LearnedReward {
        LearnedReward { model, expert, scaled, horizon }
    }
}

impl Objective {
    /// Whether rollouts must record transitions, and if so, whether next observations too.
    pub(crate) fn keeps(&self) -> Option<bool> {
        match self {
            Objective::True => None,
            Objective::Learned(learned) => Some(learned.model.needs().next_observations),
        }
    }

    /// Whether rewards are divided by their mean size. The environment's rewards keep their own unit.
    pub(crate) fn is_scaled(&self) -> bool {
        matches!(self, Objective::Learned(learned) if learned.scaled)
    }

    /// Replaces the environment's reward of each row by the objective's.
    pub(crate) fn pay(
        &self,
        rollout: &mut RolloutBuffer,
        agent: &Agent,
        networks: &Networks,
    ) -> Result<(), RewardError> {
        let Objective::Learned(LearnedReward { model, horizon, .. }) = self else { return Ok(()) };
        let mut rewards = vec![0.0; rollout.rows()];
        let derived = Derived::of(rollout, model.needs(), agent, networks, *horizon);
        model.reward(&derived.transitions(rollout), &agent.frozen_normaliser(), &mut rewards)?;
        rollout.rewards = rewards;
        Ok(())
    }

    /// Learns from a rollout whose rewards this objective has computed.
    pub(crate) fn learn(
        &mut self,
        rollout: &RolloutBuffer,
        agent: &Agent,
        networks: &Networks,
        draws: &mut Draws,
    ) -> Result<Option<Health>, RewardError> {
        let Objective::Learned(LearnedReward { model, expert, horizon, .. }) = self else { return Ok(None) };
        let needs = model.needs();
        let log_probs = match needs.log_probs {
            true => agent.policy().log_probs(networks, &expert.observations, &expert.actions),
            false => Vec::new(),
        };
        let expert = Transitions { log_probs: &log_probs, ..(&*expert).into() };
        let derived = Derived::of(rollout, needs, agent, networks, *horizon);
        model.update(&expert, &derived.transitions(rollout), &agent.frozen_normaliser(), draws).map(Some)
    }

    /// The state to be saved in a checkpoint.
    pub(crate) fn save(&self) -> Result<Option<Record>, RewardError> {
        match self {
            Objective::True => Ok(None),
            Objective::Learned(learned) => learned.model.save().map(Some),
        }
    }

    /// Restores a state from a checkpoint.
    pub(crate) fn restore(&mut self, record: Option<&Record>) -> Result<(), RewardError> {
        match (self, record) {
            (Objective::Learned(learned), Some(record)) => learned.model.restore(record),
            (Objective::Learned(_), None) => {
                Err(RewardError::Record { problem: "the saved state has none".to_owned() })
            }
            (Objective::True, _) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_step_is_as_likely_whether_the_expert_or_the_policy_made_it() {
        let networks = Networks::paper(3, 2).unwrap();
        let agent = Agent::new(&networks, 1);
        let mut rollout = RolloutBuffer::new(1, 2, 3, 2, 1);
        rollout.keep(false);
        rollout.transitions.observations.copy_from_slice(&[0.3, -0.2, 1.0, 0.0, 0.5, -1.0]);
        rollout.actions.copy_from_slice(&[2.5, -0.1, 0.4, -7.0]);
        // Drawn actions, before the environment clips them.
        rollout.log_probs.copy_from_slice(&[-9.0, -30.0]);
        let needs = Needs { log_probs: true, ..Needs::default() };
        let derived = Derived::of(&rollout, needs, &agent, &networks, 1000);
        let expert = [1.0, -0.1, 0.4, -1.0];
        assert_eq!(derived.actions, expert);
        let likely = agent.policy().log_probs(&networks, &rollout.transitions.observations, &expert);
        assert_eq!(derived.transitions(&rollout).log_probs, likely);
    }
}
