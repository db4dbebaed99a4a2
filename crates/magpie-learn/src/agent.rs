//! The agent: everything that learning changes.

use magpie_nn::normaliser::{Frozen, RunningMeanStd};
use magpie_nn::ppo::ActorCritic;
use magpie_nn::{Shape, ShapeError, init};
use magpie_random::Stream;
use serde::{Deserialize, Serialize};

/// Normalised observations are clipped to ± this value.
pub(crate) const OBSERVATION_LIMIT: f32 = 10.0;
/// Normalised returns are clipped to ± this value.
pub(crate) const RETURN_LIMIT: f32 = 5.0;

/// The network shapes of actor and critic.
#[derive(Debug, Clone, PartialEq)]
pub struct Networks {
    /// Maps an observation to the mean action.
    pub actor: Shape,
    /// Maps an observation to its value.
    pub critic: Shape,
}

/// Everything needed to act: parameters and the observation normaliser they were trained with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// The actor's parameters, followed by log σ.
    pub parameters: Vec<f32>,
    /// Observation normaliser.
    pub normaliser: RunningMeanStd,
}

/// A policy and a critic in training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Agent {
    /// Parameters of actor and critic, with their optimiser state.
    pub weights: ActorCritic,
    /// Observation normaliser.
    pub observations: RunningMeanStd,
    /// Statistics of returns, by which value targets are normalised.
    pub returns: RunningMeanStd,
}

impl Networks {
    /// The paper's networks: tanh, hidden layers of 128–128 (actor) and 256–256 (critic).
    pub fn paper(observation: usize, action: usize) -> Result<Networks, ShapeError> {
        Networks::new(observation, action, 128, 256)
    }

    /// An actor and a critic with two tanh layers each, of the given widths.
    pub fn new(
        observation: usize,
        action: usize,
        actor: usize,
        critic: usize,
    ) -> Result<Networks, ShapeError> {
        Ok(Networks {
            actor: Shape::tanh(&[observation, actor, actor, action])?,
            critic: Shape::tanh(&[observation, critic, critic, 1])?,
        })
    }

    /// Number of a policy's parameters: the actor's and log σ.
    pub fn policy_len(&self) -> usize {
        self.actor.parameters() + self.actor.outputs()
    }
}

impl Agent {
    /// An untrained agent: orthogonal weights with gain √2, except 0.01 (actor) and 1 (critic) in the last layer;
    /// biases and log σ are zero.
    pub fn new(networks: &Networks, seed: u64) -> Agent {
        let stream = Stream::new(seed, "initial parameters");
        let gain = std::f32::consts::SQRT_2;
        let mut policy = init::orthogonal(&networks.actor, gain, 0.01, &mut stream.draws(0, 0));
        policy.resize(networks.policy_len(), 0.0);
        let critic = init::orthogonal(&networks.critic, gain, 1.0, &mut stream.draws(1, 0));
        Agent {
            weights: ActorCritic::new(policy, critic),
            observations: RunningMeanStd::new(networks.actor.inputs()),
            returns: RunningMeanStd::new(1),
        }
    }

    /// The observation normaliser with its current statistics.
    pub fn frozen_normaliser(&self) -> Frozen {
        self.observations.freeze(OBSERVATION_LIMIT)
    }

    /// The policy.
    pub fn policy(&self) -> Policy {
        Policy { parameters: self.weights.policy.clone(), normaliser: self.observations.clone() }
    }
}
