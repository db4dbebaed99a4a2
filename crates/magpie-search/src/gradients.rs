//! The gradient of the objective and of each measure: where a few PPO iterations lead.

use std::ops::Range;

use magpie_learn::{Agent, Policy};

use crate::blend::Blend;
use crate::config::SearchConfig;
use crate::error::Trouble;
use crate::novelty::Chart;
use crate::objective::Objective;
use crate::phase::{Course, Finish, Gym, Phase};
use crate::search::Critic;
use crate::steering::Steering;

/// Keeps the direction of a policy that has not moved from being divided by zero.
const NORM_EPSILON: f64 = 1e-8;

/// Directions of unit length in the space of the actor's weights: of the objective, then of each measure.
pub(crate) struct Gradients {
    directions: Vec<Vec<f32>>,
    /// What the copies were after each window, if asked for.
    pub waypoints: Vec<Policy>,
    /// The cells in which episodes of the copies have ended, if visits are counted.
    pub visited: Vec<usize>,
    pub course: Course,
}

/// Environments of copy `i` of `copies`, as evenly as it goes.
fn share(environments: u32, i: usize, copies: usize) -> Range<u32> {
    let bound = |i: usize| (u64::from(environments) * i as u64 / copies as u64) as u32;
    bound(i)..bound(i + 1)
}

impl Gradients {
    /// Trains one copy of the search policy, whose behaviour is `measures`, for each of the critics, which learn on the
    /// way.
    ///
    /// The copies keep the eyes of the search policy: a direction is to be added to its weights, and weights that were
    /// learnt behind other normalisers would mean something else there.
    pub fn estimate(
        gym: &Gym,
        config: &SearchConfig,
        search: &Agent,
        measures: &[f64],
        critics: &mut [Critic],
        chart: &Chart<'_>,
        objective: &mut Objective,
    ) -> Result<Gradients, Trouble> {
        let copies = critics.len();
        let steering = Steering::new(&gym.env, config.inward);
        let signs = [vec![1.0], steering.slopes(measures)].concat();
        let ids = |i| share(config.environments, i, copies);
        let trainers = critics.iter().enumerate().map(|(i, critic)| {
            let mut trainer = gym.trainer(critic.with_policy_of(search), ids(i));
            trainer.track_observations = false;
            trainer
        });
        let blends = (0..copies).map(|i| {
            let unit = signs.iter().enumerate().map(|(j, &sign)| if i == j { sign } else { 0.0 }).collect();
            Blend::new(unit, &steering, ids(i).len(), config.curiosity, chart)
        });
        let mut phase = Phase::new(trainers.collect(), blends.collect());
        if config.waypoints {
            phase.leave_trail();
        }
        let course = phase.train(gym, config.gradient_iterations, objective)?;
        let Finish { agents, trail: waypoints, visited } = phase.finish();
        let weights = gym.networks.actor.parameters();
        let mut directions = Vec::with_capacity(copies);
        for ((critic, agent), sign) in critics.iter_mut().zip(agents).zip(signs) {
            let (from, to) = (&search.learner.policy[..weights], &agent.learner.policy[..weights]);
            directions.push(direction(from, to, sign));
            *critic = Critic::of(agent);
        }
        Ok(Gradients { directions, waypoints, visited, course })
    }

    /// Adds the mixture given by `coefficients` to the front of `policy`, leaving log σ behind it alone.
    pub fn branch(&self, policy: &mut [f32], coefficients: &[f64]) {
        for (direction, &c) in self.directions.iter().zip(coefficients) {
            policy.iter_mut().zip(direction).for_each(|(p, d)| *p += c as f32 * d);
        }
    }
}

/// From one policy to another, or away from it: the way in which a measure grows, whichever way its copy was trained.
fn direction(from: &[f32], to: &[f32], sign: f32) -> Vec<f32> {
    let norm = from.iter().zip(to).map(|(a, b)| f64::from(b - a).powi(2)).sum::<f64>().sqrt();
    let scale = sign * (1.0 / (norm + NORM_EPSILON)) as f32;
    from.iter().zip(to).map(|(a, b)| (b - a) * scale).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_have_unit_length_and_standing_still_has_none() {
        assert_eq!(direction(&[1.0, 1.0], &[4.0, 5.0], 1.0), [0.6, 0.8]);
        assert_eq!(direction(&[1.0, 1.0], &[4.0, 5.0], -1.0), [-0.6, -0.8]);
        assert_eq!(direction(&[1.0, 1.0], &[1.0, 1.0], 1.0), [0.0, 0.0]);
    }

    #[test]
    fn environments_are_shared_out_without_rest() {
        let shares: Vec<_> = (0..3).map(|i| share(10, i, 3)).collect();
        assert_eq!(shares, [0..3, 3..6, 6..10]);
    }
}
