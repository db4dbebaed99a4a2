//! Where the objective reward of a step comes from: the environment, or a model that learns from demonstrations.

use magpie_envs::EPISODE_STEPS;
use magpie_learn::{Agent, End, Networks, Window};
use magpie_random::Draws;
use magpie_rewards::{Health, Needs, Pairs, Record, RewardError, RewardModel, Transitions};

/// Pays for steps.
pub enum Objective {
    /// The environment's own reward.
    True,
    /// A learnt one.
    Learnt(Learnt),
}

/// A reward model and what it learns from.
pub struct Learnt {
    model: Box<dyn RewardModel>,
    expert: Pairs,
    scaled: bool,
}

/// Columns of a window that its tables do not have as they are needed.
struct Derived {
    actions: Vec<f32>,
    log_probs: Vec<f32>,
    terminated: Vec<bool>,
    lost: Vec<u32>,
}

impl Derived {
    /// What a model `needs` of a window, likelihoods being those of `agent`.
    fn of(window: &Window, needs: Needs, agent: &Agent, networks: &Networks) -> Derived {
        let ended = |row: usize| window.ends[row] == End::Terminated;
        let (mut terminated, mut lost) = (Vec::new(), Vec::new());
        if needs.next_observations || needs.lost {
            terminated.extend((0..window.rows()).map(ended));
        }
        if needs.lost {
            let left = |row: usize| EPISODE_STEPS.saturating_sub(window.transitions.ages[row]);
            lost.extend((0..window.rows()).map(|row| if ended(row) { left(row) } else { 0 }));
        }
        // As the environment takes them. Likelihoods too are of what the model sees, as they are for the expert's actions:
        // those of the draws before they were limited would tell the two apart.
        let actions: Vec<f32> = window.actions.iter().map(|a| a.clamp(-1.0, 1.0)).collect();
        let log_probs = match needs.log_probs {
            true => agent.policy().log_probs(networks, &window.transitions.observations, &actions),
            false => Vec::new(),
        };
        Derived { actions, log_probs, terminated, lost }
    }

    fn transitions<'a>(&'a self, window: &'a Window) -> Transitions<'a> {
        Transitions {
            observations: &window.transitions.observations,
            actions: &self.actions,
            next_observations: &window.transitions.next_observations,
            terminated: &self.terminated,
            log_probs: &self.log_probs,
            rewards: &window.rewards,
            lost: &self.lost,
        }
    }
}

impl Learnt {
    /// A model that has been prepared, and its demonstrations; `scaled`, if its rewards are to be counted in units of
    /// their own size.
    pub fn new(model: Box<dyn RewardModel>, expert: Pairs, scaled: bool) -> Learnt {
        Learnt { model, expert, scaled }
    }
}

impl Objective {
    /// Whether windows must keep transitions, and what was observed after each step with them.
    pub(crate) fn keeps(&self) -> Option<bool> {
        match self {
            Objective::True => None,
            Objective::Learnt(learnt) => Some(learnt.model.needs().next_observations),
        }
    }

    /// Whether rewards are counted in units of their mean size. The environment's have a unit of their own.
    pub(crate) fn is_scaled(&self) -> bool {
        matches!(self, Objective::Learnt(learnt) if learnt.scaled)
    }

    /// Writes the objective reward of each row in place of the environment's.
    pub(crate) fn pay(
        &self,
        window: &mut Window,
        agent: &Agent,
        networks: &Networks,
    ) -> Result<(), RewardError> {
        let Objective::Learnt(Learnt { model, .. }) = self else { return Ok(()) };
        let mut rewards = vec![0.0; window.rows()];
        let derived = Derived::of(window, model.needs(), agent, networks);
        model.reward(&derived.transitions(window), &agent.eyes(), &mut rewards)?;
        window.rewards = rewards;
        Ok(())
    }

    /// Learns from a window of the agent that it has paid for.
    pub(crate) fn learn(
        &mut self,
        window: &Window,
        agent: &Agent,
        networks: &Networks,
        draws: &mut Draws,
    ) -> Result<Option<Health>, RewardError> {
        let Objective::Learnt(Learnt { model, expert, .. }) = self else { return Ok(None) };
        let needs = model.needs();
        let log_probs = match needs.log_probs {
            true => agent.policy().log_probs(networks, &expert.observations, &expert.actions),
            false => Vec::new(),
        };
        let expert = Transitions { log_probs: &log_probs, ..expert.transitions() };
        let derived = Derived::of(window, needs, agent, networks);
        model.update(&expert, &derived.transitions(window), &agent.eyes(), draws).map(Some)
    }

    /// What a checkpoint keeps.
    pub(crate) fn save(&self) -> Result<Option<Record>, RewardError> {
        match self {
            Objective::True => Ok(None),
            Objective::Learnt(learnt) => learnt.model.save().map(Some),
        }
    }

    /// Goes on from a checkpoint.
    pub(crate) fn restore(&mut self, record: Option<&Record>) -> Result<(), RewardError> {
        match (self, record) {
            (Objective::Learnt(learnt), Some(record)) => learnt.model.restore(record),
            (Objective::Learnt(_), None) => {
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
        let mut window = Window::new(1, 2, 3, 2, 1);
        window.keep(false);
        window.transitions.observations.copy_from_slice(&[0.3, -0.2, 1.0, 0.0, 0.5, -1.0]);
        window.actions.copy_from_slice(&[2.5, -0.1, 0.4, -7.0]);
        // As draws, before the environment limits them.
        window.log_probs.copy_from_slice(&[-9.0, -30.0]);
        let needs = Needs { log_probs: true, ..Needs::default() };
        let derived = Derived::of(&window, needs, &agent, &networks);
        let expert = [1.0, -0.1, 0.4, -1.0];
        assert_eq!(derived.actions, expert);
        let likely = agent.policy().log_probs(&networks, &window.transitions.observations, &expert);
        assert_eq!(derived.transitions(&window).log_probs, likely);
    }
}
