//! The likelihood of given actions under a policy.

use magpie_nn::gaussian::Gaussian;
use magpie_nn::rows::gather;
use magpie_nn::{Network, Trace};
use magpie_simd::{Isa, LANES, Lanes, Number, Pack, Simd, SimdTask};

use crate::agent::{Networks, OBSERVATION_LIMIT, Policy};

/// Rows that go through the network together.
const BLOCK: usize = 64;

impl Policy {
    /// log π of actions for raw observations, one row each.
    pub fn log_probs(&self, networks: &Networks, observations: &[f32], actions: &[f32]) -> Vec<f32> {
        let isa = Isa::best();
        let (obs, act) = (networks.actor.inputs(), networks.actor.outputs());
        let (weights, log_std) = self.parameters.split_at(networks.actor.parameters());
        let mut network = Network::new(&networks.actor, isa, false);
        network.load(weights);
        let gaussian = Gaussian::new(log_std);
        let normaliser = self.normaliser.freeze(OBSERVATION_LIMIT);
        let panels = BLOCK / LANES;
        let room = |width: usize| vec![Pack::default(); panels * width];
        let (mut raw, mut normal, mut taken) = (room(obs), room(obs), room(act));
        let mut trace = Trace::new(&networks.actor, panels);
        let rows: Vec<u32> = (0..(actions.len() / act) as u32).collect();
        let mut log_probs = Vec::with_capacity(rows.len());
        for rows in rows.chunks(BLOCK) {
            let panels = rows.len().div_ceil(LANES);
            let (raw, normal) = (&mut raw[..panels * obs], &mut normal[..panels * obs]);
            let taken = &mut taken[..panels * act];
            gather(isa, observations, obs, rows, raw);
            gather(isa, actions, act, rows, taken);
            normaliser.panels(isa, raw, normal);
            let means = network.forward(normal, &mut trace);
            for ((mean, action), rows) in means.chunks(act).zip(taken.chunks(act)).zip(rows.chunks(LANES)) {
                let packed = isa.run(LogProb { gaussian: &gaussian, mean, action });
                log_probs.extend_from_slice(&packed.0[..rows.len()]);
            }
        }
        log_probs
    }
}

struct LogProb<'a> {
    gaussian: &'a Gaussian,
    mean: &'a [Pack],
    action: &'a [Pack],
}

impl SimdTask for LogProb<'_> {
    type Output = Pack;
    #[inline(always)]
    fn run<S: Simd>(self, token: S) -> Pack {
        let mut out = Pack::default();
        self.gaussian.log_prob::<Lanes<S>>(token, self.mean, self.action).store(&mut out);
        out
    }
}
