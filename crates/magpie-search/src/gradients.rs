//! The gradient of the objective and of each measure: where a few PPO iterations lead.

use std::ops::Range;

use magpie_learn::{Agent, Policy};
use magpie_qd::ArchivePair;

use crate::blend::Blend;
use crate::config::SearchConfig;
use crate::error::Trouble;
use crate::objective::Objective;
use crate::phase::{Course, Gym, Phase};
use crate::search::Critic;

/// Keeps the direction of a policy that has not moved from being divided by zero.
const NORM_EPSILON: f64 = 1e-8;

/// Directions of unit length in the space of the actor's weights: of the objective, then of each measure.
pub(crate) struct Gradients {
    directions: Vec<Vec<f32>>,
    /// What the copies were after each window, if asked for.
    pub waypoints: Vec<Policy>,
    pub course: Course,
}

/// Environments of copy `i` of `copies`, as evenly as it goes.
fn share(environments: u32, i: usize, copies: usize) -> Range<u32> {
    let bound = |i: usize| (u64::from(environments) * i as u64 / copies as u64) as u32;
    bound(i)..bound(i + 1)
}

impl Gradients {
    /// Trains one copy of the search policy for each of the critics, which learn on the way.
    ///
    /// The copies keep the eyes of the search policy: a direction is to be added to its weights, and weights that were
    /// learnt behind other normalisers would mean something else there.
    pub fn estimate(
        gym: &Gym,
        config: &SearchConfig,
        search: &Agent,
        critics: &mut [Critic],
        archives: &ArchivePair,
        objective: &mut Objective,
    ) -> Result<Gradients, Trouble> {
        let copies = critics.len();
        let ids = |i| share(config.environments, i, copies);
        let trainers = critics.iter().enumerate().map(|(i, critic)| {
            let mut trainer = gym.trainer(critic.with_policy_of(search), ids(i));
            trainer.track_observations = false;
            trainer
        });
        let blends = (0..copies).map(|i| {
            let unit = (0..copies).map(|j| f32::from(u8::from(i == j))).collect();
            Blend::new(unit, ids(i).len(), config.curiosity, archives)
        });
        let mut phase = Phase::new(trainers.collect(), blends.collect());
        if config.waypoints {
            phase.leave_trail();
        }
        let course = phase.train(gym, config.gradient_iterations, objective)?;
        let (agents, waypoints) = phase.finish();
        let weights = gym.networks.actor.parameters();
        let mut directions = Vec::with_capacity(copies);
        for (critic, agent) in critics.iter_mut().zip(agents) {
            directions.push(direction(&search.learner.policy[..weights], &agent.learner.policy[..weights]));
            *critic = Critic::of(agent);
        }
        Ok(Gradients { directions, waypoints, course })
    }

    /// Adds the mixture given by `coefficients` to the front of `policy`, leaving log σ behind it alone.
    pub fn branch(&self, policy: &mut [f32], coefficients: &[f64]) {
        for (direction, &c) in self.directions.iter().zip(coefficients) {
            policy.iter_mut().zip(direction).for_each(|(p, d)| *p += c as f32 * d);
        }
    }
}

fn direction(from: &[f32], to: &[f32]) -> Vec<f32> {
    let norm = from.iter().zip(to).map(|(a, b)| f64::from(b - a).powi(2)).sum::<f64>().sqrt();
    let scale = (1.0 / (norm + NORM_EPSILON)) as f32;
    from.iter().zip(to).map(|(a, b)| (b - a) * scale).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_have_unit_length_and_standing_still_has_none() {
        assert_eq!(direction(&[1.0, 1.0], &[4.0, 5.0]), [0.6, 0.8]);
        assert_eq!(direction(&[1.0, 1.0], &[1.0, 1.0]), [0.0, 0.0]);
    }

    #[test]
    fn environments_are_shared_out_without_rest() {
        let shares: Vec<_> = (0..3).map(|i| share(10, i, 3)).collect();
        assert_eq!(shares, [0..3, 3..6, 6..10]);
    }
}
