//! Where the objective reward of a step comes from: the environment, or a model that learns from demonstrations.

use magpie_learn::{Agent, End, Networks, RolloutBuffer};
use magpie_random::Draws;
use magpie_rewards::{Health, Needs, Pairs, Record, RewardError, RewardModel, Transitions};

/// Pays for steps.
pub enum Objective {
    /// The environment's own reward.
    True,
    /// A learned one.
    Learned(LearnedReward),
}

/// A reward model and what it learns from.
pub struct LearnedReward {
    model: Box<dyn RewardModel>,
    expert: Pairs,
    scaled: bool,
    /// Steps of an episode.
    horizon: u32,
}

/// Columns of a rollout that its tables do not have as they are needed.
struct Derived {
    actions: Vec<f32>,
    log_probs: Vec<f32>,
    terminated: Vec<bool>,
    lost: Vec<u32>,
}

impl Derived {
    /// What a model `needs` of a rollout, likelihoods being those of `agent`.
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
        // As the environment takes them. Likelihoods too are of what the model sees, as they are for the expert's actions:
        // those of the draws before they were limited would tell the two apart.
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
    /// A model that has been prepared, and its demonstrations; `scaled`, if its rewards are to be counted in units of
    /// their own size. Episodes end after `horizon` steps.
    pub fn new(model: Box<dyn RewardModel>, expert: Pairs, scaled: bool, horizon: u32) -> LearnedReward {
        LearnedReward { model, expert, scaled, horizon }
    }
}

impl Objective {
    /// Whether rollouts must keep transitions, and what was observed after each step with them.
    pub(crate) fn keeps(&self) -> Option<bool> {
        match self {
            Objective::True => None,
            Objective::Learned(learned) => Some(learned.model.needs().next_observations),
        }
    }

    /// Whether rewards are counted in units of their mean size. The environment's have a unit of their own.
    pub(crate) fn is_scaled(&self) -> bool {
        matches!(self, Objective::Learned(learned) if learned.scaled)
    }

    /// Writes the objective reward of each row in place of the environment's.
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

    /// Learns from a rollout of the agent that it has paid for.
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

    /// What a checkpoint keeps.
    pub(crate) fn save(&self) -> Result<Option<Record>, RewardError> {
        match self {
            Objective::True => Ok(None),
            Objective::Learned(learned) => learned.model.save().map(Some),
        }
    }

    /// Goes on from a checkpoint.
    pub(crate) fn restore(&mut self, record: Option<&Record>) -> Result<(), RewardError> {
        match (self, record) {
            (Objective::Learned(learned), Some(record)) => learned.model.restore(record),
            (Objective::Learned(_), None) => {
                Err(RewardError::Record { problem: "there is none in the saved state".to_owned() })
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
        // As draws, before the environment limits them.
        rollout.log_probs.copy_from_slice(&[-9.0, -30.0]);
        let needs = Needs { log_probs: true, ..Needs::default() };
        let derived = Derived::of(&rollout, needs, &agent, &networks, 1000);
        let expert = [1.0, -0.1, 0.4, -1.0];
        assert_eq!(derived.actions, expert);
        let likely = agent.policy().log_probs(&networks, &rollout.transitions.observations, &expert);
        assert_eq!(derived.transitions(&rollout).log_probs, likely);
    }
}
