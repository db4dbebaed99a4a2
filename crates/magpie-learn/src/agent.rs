//! The agent: everything that learning changes.

use magpie_nn::normaliser::{Frozen, RunningMeanStd, VARIANCE_FLOOR};
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

/// A feature that varies less than this share of its new spread told the policy nothing.
const LEAST_SPREAD: f64 = 1e-3;

impl Policy {
    /// The policy that acts alike with other statistics of observations.
    ///
    /// With means μ, μ′ and deviations σ, σ′ the first layer takes (o − μ)/σ = (σ′ x′ + μ′ − μ)/σ, so that its weights become
    /// W σ′/σ and its bias b + W (μ′ − μ)/σ. Features without any spread under the old statistics were always 0 and get
    /// weight 0; where observations were clipped, it acts otherwise.
    pub fn renormalised(&self, actor: &Shape, normaliser: &RunningMeanStd) -> Policy {
        let mut parameters = self.parameters.clone();
        let deviation =
            |statistics: &RunningMeanStd, i: usize| (statistics.variance()[i] + VARIANCE_FLOOR).sqrt();
        if let Some(first) = actor.layers().next() {
            for output in 0..first.outputs {
                let mut shift = 0.0;
                for input in 0..first.inputs {
                    let (old, new) = (deviation(&self.normaliser, input), deviation(normaliser, input));
                    let weight = &mut parameters[first.weight.start + output * first.inputs + input];
                    if old < LEAST_SPREAD * new {
                        *weight = 0.0;
                        continue;
                    }
                    let was = f64::from(*weight);
                    shift += was * (normaliser.mean()[input] - self.normaliser.mean()[input]) / old;
                    *weight = (was * new / old) as f32;
                }
                parameters[first.bias.start + output] += shift as f32;
            }
        }
        Policy { parameters, normaliser: normaliser.clone() }
    }
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

    /// Acts by another policy from now on, of the same networks.
    pub fn set_policy(&mut self, policy: Policy) {
        self.weights.policy = policy.parameters;
        self.observations = policy.normaliser;
    }

    /// The policy.
    pub fn policy(&self) -> Policy {
        Policy { parameters: self.weights.policy.clone(), normaliser: self.observations.clone() }
    }
}

#[cfg(test)]
mod tests {
    use magpie_nn::Network;
    use magpie_nn::Trace;
    use magpie_simd::{Isa, Pack};

    use super::*;

    #[test]
    fn a_policy_acts_alike_under_other_statistics() {
        let actor = Shape::tanh(&[3, 8, 2]).unwrap();
        let mut draws = Stream::new(1, "policy").draws(0, 0);
        let mut parameters: Vec<f32> = (0..actor.parameters()).map(|_| draws.uniform(-0.5, 0.5)).collect();
        parameters.resize(actor.parameters() + 2, 0.0);
        // The last feature never varied.
        let normaliser = RunningMeanStd::from_parts(vec![1.0, -2.0, 5.0], vec![4.0, 0.25, 0.0], 200.0);
        let policy = Policy { parameters, normaliser };
        let wider = RunningMeanStd::from_parts(vec![0.5, -1.0, 4.9], vec![9.0, 1.0, 1.0], 1e5);
        let other = policy.renormalised(&actor, &wider);
        assert_eq!(other.normaliser, wider);
        assert_ne!(other.parameters, policy.parameters);
        let isa = Isa::best();
        let act = |policy: &Policy| {
            let mut network = Network::new(&actor, isa, false);
            network.load(&policy.parameters[..actor.parameters()]);
            let mut trace = Trace::new(&actor, 1);
            let raw: Vec<Pack> = [[0.2_f32, 3.0], [-2.3, -1.4], [5.0, 5.0]]
                .map(|[first, second]| {
                    let mut pack = Pack::default();
                    pack.0[..2].copy_from_slice(&[first, second]);
                    pack
                })
                .to_vec();
            let mut normal = vec![Pack::default(); 3];
            policy.normaliser.freeze(OBSERVATION_LIMIT).panels(isa, &raw, &mut normal);
            let means = network.forward(&normal, &mut trace);
            [means[0].0[0], means[1].0[0], means[0].0[1], means[1].0[1]]
        };
        for (a, b) in act(&policy).into_iter().zip(act(&other)) {
            assert!((a - b).abs() < 1e-5, "{a} {b}");
        }
    }
}
