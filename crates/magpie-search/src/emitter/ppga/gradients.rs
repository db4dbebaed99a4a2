//! The gradients of the objective and of each measure: the directions in which a few rollouts of training move a
//! policy.

use std::ops::Range;

use magpie_learn::{Agent, Policy};

use super::Critic;
use crate::emitter::Turn;
use crate::error::TrainingError;
use crate::measure_shaping::MeasureShaping;
use crate::phase::{Phase, PhaseOutput, PhaseStats, TrainerFactory};
use crate::reward_mixer::RewardMixer;

/// Avoids division by zero if a policy has not moved.
const NORM_EPSILON: f64 = 1e-8;

/// Unit vectors in the space of the actor's weights: for the objective, then for each measure.
pub(super) struct Gradients {
    directions: Vec<Vec<f32>>,
    /// The policies of the copies after each rollout, if requested.
    pub intermediate: Vec<Policy>,
    pub stats: PhaseStats,
}

/// The environments of copy `i` of `copies`, divided as evenly as possible.
fn share(environments: u32, i: usize, copies: usize) -> Range<u32> {
    let bound = |i: usize| (u64::from(environments) * i as u64 / copies as u64) as u32;
    bound(i)..bound(i + 1)
}

impl Gradients {
    /// Trains one copy of the search policy per critic. `measures` are those of the search policy; the critics are
    /// trained along with the copies.
    ///
    /// The copies keep the search policy's normaliser: gradients are added to its weights, and weights trained with
    /// another normaliser would not be compatible with them.
    pub fn estimate(
        factory: &TrainerFactory,
        turn: &mut Turn<'_>,
        search: &Agent,
        measures: &[f64],
        critics: &mut [Critic],
    ) -> Result<Gradients, TrainingError> {
        let config = &turn.setup.config;
        let copies = critics.len();
        let shaping = MeasureShaping::new(&factory.env, config.measure_shaping);
        let slopes = [vec![1.0], shaping.slopes(measures)].concat();
        let ids = |i| share(config.environments, i, copies);
        let trainers = critics.iter().enumerate().map(|(i, critic)| {
            let mut trainer = factory.trainer(critic.with_policy_of(search), ids(i));
            trainer.track_observations = false;
            trainer
        });
        let mixers = (0..copies).map(|i| RewardMixer::new(alone(i, &slopes), &shaping, ids(i).len()));
        let phase = Phase::new(trainers.collect(), mixers.collect(), config.intermediate_policies);
        let PhaseOutput { agents, intermediate, stats } =
            phase.train(factory, config.gradient_iterations, turn.rewards, turn.archives)?;
        let weights = factory.networks.actor.parameters();
        let mut directions = Vec::with_capacity(copies);
        for ((critic, agent), slope) in critics.iter_mut().zip(agents).zip(slopes) {
            let (from, to) = (&search.weights.policy[..weights], &agent.weights.policy[..weights]);
            directions.push(direction(from, to, slope));
            *critic = Critic::of(agent);
        }
        Ok(Gradients { directions, intermediate, stats })
    }

    /// Adds the gradients, weighted by `coefficients`, to the weights of `policy`; log σ is not changed.
    pub fn branch(&self, policy: &mut [f32], coefficients: &[f64]) {
        for (direction, &c) in self.directions.iter().zip(coefficients) {
            policy.iter_mut().zip(direction).for_each(|(p, d)| *p += c as f32 * d);
        }
    }
}

/// Reward coefficients of copy `i`: its own objective or measure, upwards or downwards, and nothing else.
fn alone(i: usize, slopes: &[f32]) -> Vec<f32> {
    let mut coefficients = vec![0.0; slopes.len()];
    coefficients[i] = slopes[i];
    coefficients
}

/// The direction in which the value of a copy grows: from the search policy to its copy, or the reverse if the copy was
/// trained downwards.
fn direction(from: &[f32], to: &[f32], slope: f32) -> Vec<f32> {
    let norm = from.iter().zip(to).map(|(a, b)| f64::from(b - a).powi(2)).sum::<f64>().sqrt();
    let scale = slope * (1.0 / (norm + NORM_EPSILON)) as f32;
    from.iter().zip(to).map(|(a, b)| (b - a) * scale).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use magpie_envs::{Environment, Options};
    use magpie_learn::{Actions, evaluate};
    use magpie_qd::ArchivePair;

    use super::*;
    use crate::config::SearchConfig;
    use crate::emitter::Setup;
    use crate::objective::Objective;
    use crate::rewards::Rewards;

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
        let mut config = SearchConfig {
            environments: 128,
            intermediate_policies: true,
            measure_shaping: true,
            ..SearchConfig::paper(&env)
        };
        config.train.rollout_length = 64;
        let networks = config.networks(&env).unwrap();
        let search = Agent::new(&networks, 3);
        let grid = config.grid(&env).unwrap();
        let archives = ArchivePair::new(grid, config.acceptance(), 1, 1).unwrap();
        let setup = Setup {
            env: Arc::clone(&env),
            networks: networks.clone(),
            config,
            cells: 2500,
            learner: None,
            start: None,
        };
        let factory = TrainerFactory {
            env: Arc::clone(&env),
            networks: networks.clone(),
            config: setup.config.train.clone(),
            learner: None,
            seed: 5,
        };
        let contact = |policy: &Policy| {
            let again = evaluate(&env, &networks, &[policy], 64, Actions::Sampled, 7);
            again[0].mean_measures()[0]
        };
        // Given that the foot is on the ground nearly always, and nearly never.
        let [down, up] = [0.9, 0.1].map(|told| {
            let mut critics: Vec<Critic> = (0..2).map(|who| Critic::new(&networks, 1, who)).collect();
            let mut rewards = Rewards { objective: Objective::True, bonus: None };
            let mut turn = Turn {
                setup: &setup,
                seed: 5,
                iteration: 0,
                archives: &archives,
                rewards: &mut rewards,
                env_steps: &mut 0,
                failures: 0,
            };
            let gradients = Gradients::estimate(&factory, &mut turn, &search, &[told], &mut critics).unwrap();
            let copy = gradients.intermediate.last().unwrap();
            let moved = copy.parameters.iter().zip(&search.weights.policy).map(|(to, from)| to - from);
            let along: f32 = gradients.directions[1].iter().zip(moved).map(|(d, m)| d * m).sum();
            (contact(copy), along)
        });
        assert!(down.0 + 0.02 < up.0 && down.1 < 0.0 && up.1 > 0.0, "{down:?} {up:?}");
    }

    #[test]
    fn environments_are_shared_out_without_rest() {
        let shares: Vec<_> = (0..3).map(|i| share(10, i, 3)).collect();
        assert_eq!(shares, [0..3, 3..6, 6..10]);
    }
}
