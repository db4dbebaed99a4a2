//! Running a policy outside of training.

use magpie_envs::Chunk;
use magpie_nn::gaussian::{Gaussian, normals};
use magpie_nn::normaliser::Frozen;
use magpie_nn::{Network, Trace};
use magpie_random::Stream;
use magpie_settings::words;
use magpie_simd::{Isa, LANES, Pack};

use crate::agent::{Networks, OBSERVATION_LIMIT, Policy};

words! {
    /// How a policy chooses actions during evaluation.
    pub enum Actions {
        /// Sampled from the policy's distribution, as in training.
        Sampled = "drawn",
        /// The mean of the distribution.
        Mean = "mean",
    }
}

/// Runs a policy in one chunk.
///
/// It does not use the fastest kernel: a policy should act identically on all machines, and physics dominates the time.
pub(crate) struct PolicyRunner {
    network: Network,
    gaussian: Gaussian,
    normaliser: Frozen,
    isa: Isa,
    actions: Actions,
    noise: Stream,
    trace: Trace,
    normal: Vec<Pack>,
    chosen: Vec<Pack>,
    drawn: Vec<Pack>,
}

impl PolicyRunner {
    pub fn new(networks: &Networks, policy: &Policy, isa: Isa, actions: Actions, seed: u64) -> PolicyRunner {
        let (weights, log_std) = policy.parameters.split_at(networks.actor.parameters());
        let mut network = Network::new(&networks.actor, isa, false);
        network.load(weights);
        let panels = magpie_envs::CHUNK / LANES;
        let room = |width: usize| vec![Pack::default(); panels * width];
        PolicyRunner {
            network,
            gaussian: Gaussian::new(log_std),
            normaliser: policy.normaliser.freeze(OBSERVATION_LIMIT),
            isa,
            actions,
            noise: Stream::new(seed, "evaluation noise"),
            trace: Trace::new(&networks.actor, panels),
            normal: room(networks.actor.inputs()),
            chosen: room(networks.actor.outputs()),
            drawn: vec![Pack::default(); networks.actor.outputs()],
        }
    }

    /// Actions of the first `groups` groups, before clipping to ±1.
    pub fn act(&mut self, chunk: &Chunk, groups: usize) -> &[Pack] {
        let PolicyRunner { network, gaussian, normaliser, isa, actions, noise, trace, normal, chosen, drawn } =
            self;
        let (obs, act) = (network.shape().inputs(), network.shape().outputs());
        for (group, normal) in chunk.groups()[..groups].iter().zip(normal.chunks_mut(obs)) {
            normaliser.panels(*isa, &group.observation, normal);
        }
        let means = network.forward(&normal[..groups * obs], trace);
        match actions {
            Actions::Mean => chosen[..groups * act].copy_from_slice(means),
            Actions::Sampled => {
                for (i, (mean, action)) in means.chunks(act).zip(chosen.chunks_mut(act)).enumerate() {
                    let who = chunk.first() + (i * LANES) as u32;
                    normals(*isa, *noise, who, chunk.clock(), drawn);
                    gaussian.sample(*isa, mean, drawn, action);
                }
            }
        }
        &chosen[..groups * act]
    }
}
