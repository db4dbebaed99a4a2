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
    /// The cells of the objective's episodes that were judged, if visits are counted.
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
        let slopes = [vec![1.0], steering.slopes(measures)].concat();
        let ids = |i| share(config.environments, i, copies);
        let trainers = critics.iter().enumerate().map(|(i, critic)| {
            let mut trainer = gym.trainer(critic.with_policy_of(search), ids(i));
            trainer.track_observations = false;
            trainer
        });
        let blends = (0..copies)
            .map(|i| Blend::new(alone(i, &slopes), &steering, ids(i).len(), config.curiosity, chart));
        let mut phase = Phase::new(trainers.collect(), blends.collect());
        if config.waypoints {
            phase.leave_trail();
        }
        let course = phase.train(gym, config.gradient_iterations, objective)?;
        let Finish { agents, trail: waypoints, visited } = phase.finish();
        let weights = gym.networks.actor.parameters();
        let mut directions = Vec::with_capacity(copies);
        for ((critic, agent), slope) in critics.iter_mut().zip(agents).zip(slopes) {
            let (from, to) = (&search.learner.policy[..weights], &agent.learner.policy[..weights]);
            directions.push(direction(from, to, slope));
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

/// What copy `i` is paid for: its own output, up or down, and nothing else.
fn alone(i: usize, slopes: &[f32]) -> Vec<f32> {
    let mut coefficients = vec![0.0; slopes.len()];
    coefficients[i] = slopes[i];
    coefficients
}

/// The way in which an output grows: from the search policy to its copy, or back if the copy was trained downwards.
fn direction(from: &[f32], to: &[f32], slope: f32) -> Vec<f32> {
    let norm = from.iter().zip(to).map(|(a, b)| f64::from(b - a).powi(2)).sum::<f64>().sqrt();
    let scale = slope * (1.0 / (norm + NORM_EPSILON)) as f32;
    from.iter().zip(to).map(|(a, b)| (b - a) * scale).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use magpie_envs::{Environment, Options};
    use magpie_learn::{Actions, Networks, evaluate};
    use magpie_qd::ArchivePair;

    use super::*;

    #[test]
    fn directions_have_unit_length_and_standing_still_has_none() {
        assert_eq!(direction(&[1.0, 1.0], &[4.0, 5.0], 1.0), [0.6, 0.8]);
        assert_eq!(direction(&[1.0, 1.0], &[4.0, 5.0], -1.0), [-0.6, -0.8]);
        assert_eq!(direction(&[1.0, 1.0], &[1.0, 1.0], 1.0), [0.0, 0.0]);
    }

    #[test]
    fn a_copy_that_is_to_lower_its_measure_is_paid_for_that() {
        assert_eq!(alone(0, &[1.0, -1.0, 1.0]), [1.0, 0.0, 0.0]);
        assert_eq!(alone(1, &[1.0, -1.0, 1.0]), [0.0, -1.0, 0.0]);
    }

    /// A copy trained downwards lowers its measure, and its direction points the other way.
    #[test]
    fn a_direction_raises_its_measure_whichever_way_the_copy_went() {
        let env = Arc::new(Environment::new("hopper", Options::default()).unwrap());
        let mut config =
            SearchConfig { environments: 128, waypoints: true, inward: true, ..SearchConfig::paper(&env) };
        config.train.window = 64;
        let networks = Networks::paper(env.observation_size(), env.action_size()).unwrap();
        let search = Agent::new(&networks, 3);
        let grid = config.grid(&env).unwrap();
        let archives = ArchivePair::new(grid, config.acceptance(), 1, 1).unwrap();
        let chart = Chart::new(&config.curiosity, &archives, &[]);
        let gym =
            Gym { env: Arc::clone(&env), networks: networks.clone(), config: config.train.clone(), seed: 5 };
        let contact = |policy: &Policy| {
            let again = evaluate(&env, &networks, &[policy], 64, Actions::Sampled, 7);
            again[0].mean_measures()[0]
        };
        // Told that the foot is on the ground nearly always, and nearly never.
        let [down, up] = [0.9, 0.1].map(|told| {
            let mut critics: Vec<Critic> = (0..2).map(|who| Critic::new(&networks, 1, who)).collect();
            let gradients = Gradients::estimate(
                &gym,
                &config,
                &search,
                &[told],
                &mut critics,
                &chart,
                &mut Objective::True,
            );
            let gradients = gradients.unwrap();
            let copy = gradients.waypoints.last().unwrap();
            let moved = copy.parameters.iter().zip(&search.learner.policy).map(|(to, from)| to - from);
            let along: f32 = gradients.directions[1].iter().zip(moved).map(|(d, m)| d * m).sum();
            (contact(copy), along)
        });
        assert!(down.0 + 0.05 < up.0 && down.1 < 0.0 && up.1 > 0.0, "{down:?} {up:?}");
    }

    #[test]
    fn environments_are_shared_out_without_rest() {
        let shares: Vec<_> = (0..3).map(|i| share(10, i, 3)).collect();
        assert_eq!(shares, [0..3, 3..6, 6..10]);
    }
}
