//! Loss and gradient of AIRL's discriminator.
//!
//! Because f is a sum of three networks, g(s, a) - h(s) + γ h(s'), its derivatives are the weighted derivatives of the
//! three: the input gradient is (∇ₛ g - ∇ h(s), ∇ₐ g, γ ∇ h(s')), and its derivative along v is J_g (vₛ, vₐ) - J_h vₛ +
//! γ J_h vₛ'.

use magpie_demos::Sizes;
use magpie_nn::{Gradient, Network, Tangent, Trace};
use magpie_simd::{LANES, Pack};

use super::{AirlConfig, AirlReward, Networks};
use crate::adversarial::{Penalty, Side, Slopes, cross_entropy, softplus};
use crate::health::Health;
use crate::panels::mean;

/// The networks' inputs: panels `[panel][entry]`.
#[derive(Debug, Default)]
pub(super) struct Triple {
    pub count: usize,
    /// (s, a).
    pub pair: Vec<Pack>,
    /// s.
    pub before: Vec<Pack>,
    /// s'.
    pub after: Vec<Pack>,
    /// γ, or 0 after a termination.
    pub discount: Vec<Pack>,
    /// The log-probability that is subtracted from f.
    pub opponent: Vec<Pack>,
}

impl Triple {
    pub fn resize(&mut self, sizes: Sizes, count: usize) {
        let panels = count.div_ceil(LANES);
        self.count = count;
        self.pair.resize(panels * (sizes.observation + sizes.action), Pack::default());
        self.before.resize(panels * sizes.observation, Pack::default());
        self.after.resize(panels * sizes.observation, Pack::default());
        self.discount.resize(panels, Pack::default());
        self.opponent.resize(panels, Pack::default());
    }

    fn panels(&self) -> usize {
        self.discount.len()
    }
}

/// Scratch memory for a step.
#[derive(Debug)]
pub(super) struct Pass {
    pub expert: Triple,
    pub policy: Triple,
    pub mixed: Triple,
    /// The gradient of the last loss: of g, then of h.
    pub row: Vec<f32>,
    pair: NetworkPass,
    before: NetworkPass,
    after: NetworkPass,
    gradients: [Gradient; 2],
    logits: Vec<Pack>,
    lengths: Slopes,
}

/// Forward and backward pass of one of the three networks.
#[derive(Debug)]
struct NetworkPass {
    trace: Trace,
    tangent: Tangent,
    slopes: Vec<Pack>,
    /// Derivatives with respect to the output.
    weights: Vec<Pack>,
}

impl NetworkPass {
    fn new(network: &Network, panels: usize) -> NetworkPass {
        NetworkPass {
            trace: Trace::new(network.shape(), panels),
            tangent: Tangent::new(network.shape(), panels),
            slopes: Vec::new(),
            weights: Vec::new(),
        }
    }

    /// The gradient of the output with respect to the input, times `weight`.
    fn slope(&mut self, network: &Network, input: &[Pack], panels: usize, weight: f32) {
        self.weights.clear();
        self.weights.resize(panels, Pack([weight; LANES]));
        self.slopes.resize(input.len(), Pack::default());
        network.forward(input, &mut self.trace);
        network.backward(input, &mut self.trace, &self.weights, None, Some(&mut self.slopes));
    }

    /// Adds the parameter gradient of the weighted directional derivative along `slopes`.
    fn along(&mut self, network: &Network, input: &[Pack], gradient: &mut Gradient) {
        let NetworkPass { trace, tangent, slopes, weights } = self;
        network.tangent(trace, slopes, tangent);
        let zeros = vec![Pack::default(); weights.len()];
        network.backward_tangent(input, trace, slopes, tangent, &zeros, weights, gradient, None);
    }
}

impl Pass {
    pub fn new(networks: &Networks, panels: usize) -> Pass {
        let Networks { g, h } = networks;
        Pass {
            expert: Triple::default(),
            policy: Triple::default(),
            mixed: Triple::default(),
            row: vec![0.0; networks.parameters()],
            pair: NetworkPass::new(g, panels),
            before: NetworkPass::new(h, panels),
            after: NetworkPass::new(h, panels),
            gradients: [g, h].map(|network| Gradient::new(network.shape())),
            logits: Vec::new(),
            lengths: Slopes::default(),
        }
    }

    /// Interpolates whole rows, with one weight each.
    pub fn mix(&mut self, mut share: impl FnMut() -> f32) {
        let Pass { expert, policy, mixed, .. } = self;
        let shares: Vec<Pack> =
            (0..expert.panels()).map(|_| Pack(std::array::from_fn(|_| share()))).collect();
        mixed.count = expert.count;
        for (mixed, expert, policy) in [
            (&mut mixed.pair, &expert.pair, &policy.pair),
            (&mut mixed.before, &expert.before, &policy.before),
            (&mut mixed.after, &expert.after, &policy.after),
        ] {
            let width = expert.len() / shares.len().max(1);
            mixed.clear();
            mixed.extend(expert.iter().zip(policy).enumerate().map(|(at, (e, p))| {
                let share = &shares[at / width].0;
                Pack(std::array::from_fn(|l| share[l] * e.0[l] + (1.0 - share[l]) * p.0[l]))
            }));
        }
        mixed.discount.resize(shares.len(), Pack::default());
    }

    /// Computes the losses; leaves their parameter gradient in `row`.
    pub fn loss(&mut self, networks: &Networks, config: &AirlConfig, gamma: f32) -> Health {
        let mut health = Health::default();
        self.gradients.iter_mut().for_each(Gradient::clear);
        let typical = mean(&self.policy.opponent, self.policy.count);
        for side in [Side::Expert, Side::Policy] {
            let Pass { expert, policy, pair, before, after, gradients, logits, .. } = &mut *self;
            let triple = if side == Side::Expert { expert } else { policy };
            let Networks { g, h } = networks;
            let g_out = g.forward(&triple.pair, &mut pair.trace);
            let h_before = h.forward(&triple.before, &mut before.trace);
            let h_after = h.forward(&triple.after, &mut after.trace);
            logits.clear();
            logits.extend((0..triple.panels()).map(|panel| {
                Pack(std::array::from_fn(|lane| {
                    let f = g_out[panel].0[lane] - h_before[panel].0[lane]
                        + triple.discount[panel].0[lane] * h_after[panel].0[lane];
                    f - triple.opponent[panel].0[lane]
                }))
            }));
            let reward = match config.reward {
                AirlReward::LogOdds => mean(logits, triple.count),
                AirlReward::Advantage => mean(logits, triple.count) + mean(&triple.opponent, triple.count),
                AirlReward::Reward => mean(g_out, triple.count),
                AirlReward::Softplus => {
                    let rows =
                        logits.iter().zip(&triple.opponent).flat_map(|(d, o)| d.0.into_iter().zip(o.0));
                    let worth =
                        |(logit, opponent): (f32, f32)| softplus(f64::from(logit + opponent) - typical);
                    rows.take(triple.count).map(worth).sum::<f64>() / triple.count.max(1) as f64
                }
            };
            let (loss, accuracy) = cross_entropy(side, logits, triple.count);
            health.set_side(side, loss, accuracy, reward);
            let times = |factor: &dyn Fn(usize, usize) -> f32| -> Vec<Pack> {
                let panels = logits.iter().enumerate();
                panels.map(|(at, d)| Pack(std::array::from_fn(|lane| factor(at, lane) * d.0[lane]))).collect()
            };
            let [g_gradient, h_gradient] = gradients;
            g.backward(&triple.pair, &mut pair.trace, logits, Some(g_gradient), None);
            let d_before = times(&|_, _| -1.0);
            h.backward(&triple.before, &mut before.trace, &d_before, Some(h_gradient), None);
            let d_after = times(&|at, lane| triple.discount[at].0[lane]);
            h.backward(&triple.after, &mut after.trace, &d_after, Some(h_gradient), None);
        }
        if config.gradient_penalty > 0.0 {
            let penalty = self.penalise(networks, config, gamma);
            (health.gradient_penalty, health.slope) = (penalty.value, penalty.slope);
        }
        let (g, h) = self.row.split_at_mut(networks.g.shape().parameters());
        self.gradients[0].write(g);
        self.gradients[1].write(h);
        health
    }

    fn penalise(&mut self, networks: &Networks, config: &AirlConfig, gamma: f32) -> Penalty {
        let Pass { mixed, pair, before, after, gradients, lengths, .. } = self;
        let Networks { g, h } = networks;
        let panels = mixed.panels();
        pair.slope(g, &mixed.pair, panels, 1.0);
        before.slope(h, &mixed.before, panels, -1.0);
        after.slope(h, &mixed.after, panels, gamma);
        // s enters f through both g and h.
        let (wide, narrow) = (mixed.pair.len() / panels.max(1), mixed.before.len() / panels.max(1));
        for (pair, before) in pair.slopes.chunks_exact_mut(wide).zip(before.slopes.chunks_exact_mut(narrow)) {
            for (pair, before) in pair.iter_mut().zip(before) {
                for lane in 0..LANES {
                    pair.0[lane] += before.0[lane];
                }
                *before = *pair;
            }
        }
        lengths.clear(panels);
        lengths.add(&pair.slopes);
        lengths.add(&after.slopes);
        let penalty = lengths.finish(mixed.count, config.gradient_penalty);
        let [g_gradient, h_gradient] = gradients;
        for (way, network, input, gradient) in
            [(pair, g, &mixed.pair, g_gradient), (before, h, &mixed.before, &mut *h_gradient)]
        {
            lengths.turn(&mut way.slopes);
            way.along(network, input, gradient);
        }
        lengths.turn(&mut after.slopes);
        after.along(h, &mixed.after, h_gradient);
        penalty
    }
}
