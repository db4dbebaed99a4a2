//! What learning changes, as a record.

use magpie_nn::normaliser::{Frozen, Running};
use magpie_nn::ppo::ActorCritic;
use magpie_nn::{Shape, ShapeError, init};
use magpie_random::Stream;
use serde::{Deserialize, Serialize};

/// Normalised observations are limited to plus or minus this.
pub(crate) const OBSERVATION_LIMIT: f32 = 10.0;
/// Normalised returns, likewise.
pub(crate) const RETURN_LIMIT: f32 = 5.0;

/// The shapes of actor and critic.
#[derive(Debug, Clone, PartialEq)]
pub struct Networks {
    /// Observation to mean action.
    pub actor: Shape,
    /// Observation to value.
    pub critic: Shape,
}

/// All that is needed to act: parameters and the normaliser they were learned with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// The actor's parameters, then log σ.
    pub parameters: Vec<f32>,
    /// Of observations.
    pub normaliser: Running,
}

/// A policy and a critic in training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Agent {
    /// Parameters of both, with the memory of their optimisers.
    pub weights: ActorCritic,
    /// Mean and spread of observations.
    pub observations: Running,
    /// Mean and spread of returns: value targets are normalised by these.
    pub returns: Running,
}

impl Networks {
    /// The paper's: actor 128–128, critic 256–256, tanh.
    pub fn paper(observation: usize, action: usize) -> Result<Networks, ShapeError> {
        Networks::new(observation, action, 128, 256)
    }

    /// An actor and a critic with two hidden layers each, of these widths, and tanh.
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

    /// Length of a policy's row: the actor's parameters and log σ.
    pub fn policy_len(&self) -> usize {
        self.actor.parameters() + self.actor.outputs()
    }
}

impl Agent {
    /// A beginner: orthogonal weights of gain √2, the last layer 0.01 (actor) and 1 (critic), biases and log σ zero.
    pub fn new(networks: &Networks, seed: u64) -> Agent {
        let stream = Stream::new(seed, "initial parameters");
        let gain = std::f32::consts::SQRT_2;
        let mut policy = init::orthogonal(&networks.actor, gain, 0.01, &mut stream.draws(0, 0));
        policy.resize(networks.policy_len(), 0.0);
        let critic = init::orthogonal(&networks.critic, gain, 1.0, &mut stream.draws(1, 0));
        Agent {
            weights: ActorCritic::new(policy, critic),
            observations: Running::new(networks.actor.inputs()),
            returns: Running::new(1),
        }
    }

    /// What normalises observations, with the statistics as they are now.
    pub fn frozen_normaliser(&self) -> Frozen {
        self.observations.freeze(OBSERVATION_LIMIT)
    }

    /// The acting half.
    pub fn policy(&self) -> Policy {
        Policy { parameters: self.weights.policy.clone(), normaliser: self.observations.clone() }
    }
}
