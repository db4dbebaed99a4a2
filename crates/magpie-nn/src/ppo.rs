//! One minibatch step of proximal policy optimisation, fused.
//!
//! Each block of rows is gathered and passes through the actor forwards and backwards, with losses and their
//! derivatives in between, and then through the critic, while all of its data stays in the second-level cache. Loss,
//! divergences and gradients are sums over blocks in fixed order (see [`parts`](crate::parts)). Finally the gradients
//! of actor and critic are clipped separately, and Adam takes a step.
//!
//! ```text
//! loss = mean policy term + value_weight · mean value term - entropy_weight · H
//! ```
//!
//! Advantages are normalised over the minibatch: (A - mean)/(std + 1e-8), the std with n - 1.

use magpie_settings::{above, settings};
use magpie_simd::{Isa, LANES, Lanes, Number, Pack, Simd, SimdTask};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::adam::{Adam, AdamConfig};
use crate::gaussian::Gaussian;
use crate::gradient::Gradient;
use crate::kernel::Kernel;
use crate::network::{Network, Trace};
use crate::norm::clip_norm;
use crate::parts::{BLOCK_PANELS, Cut, Pool};
use crate::ppo_loss::{policy_term, value_term};
use crate::rows::{gather, gather_column};
use crate::shape::Shape;

settings! {
    /// Hyperparameters of the PPO loss and of the update. The defaults are the paper's.
    #[derive(Copy)]
    pub struct PpoConfig {
        /// Clipping range of the probability ratio (ε).
        clip: f32 = 0.2, in above(0.0);
        /// Clipping range of the value function, as a change from the old value.
        value_clip: f32 = 0.2, in above(0.0), unit "standard deviations of the returns";
        /// Weight of the value loss (the mean squared error, without the usual ½).
        value_weight: f32 = 2.0, in 0.0..;
        /// Weight of the entropy bonus, summed over action dimensions. Raise it if the action noise collapses too
        /// early.
        entropy_weight: f32 = 0.0, in 0.0..;
        /// Maximum norm of the gradient, for actor and critic separately.
        gradient_norm: f32 = 1.0, in above(0.0);
        /// The optimiser.
        adam: AdamConfig;
    }
}

/// The parameters of actor and critic, with their optimiser state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ActorCritic {
    /// The actor's parameters, followed by log σ.
    pub policy: Vec<f32>,
    /// The critic's parameters.
    pub critic: Vec<f32>,
    /// Optimiser state of the policy.
    pub policy_adam: Adam,
    /// Optimiser state of the critic.
    pub critic_adam: Adam,
}

impl ActorCritic {
    /// Uses these parameters; Adam starts from its initial state.
    pub fn new(policy: Vec<f32>, critic: Vec<f32>) -> ActorCritic {
        let (policy_adam, critic_adam) = (Adam::new(policy.len()), Adam::new(critic.len()));
        ActorCritic { policy, critic, policy_adam, critic_adam }
    }
}

/// A minibatch: rows of tables that have one row per step.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    /// The rows, in order.
    pub rows: &'a [u32],
    /// Normalised observations.
    pub observations: &'a [f32],
    /// Actions as sampled, before the environment clipped them.
    pub actions: &'a [f32],
    /// log π of the actions when they were sampled.
    pub log_probs: &'a [f32],
    /// Advantages, not yet normalised.
    pub advantages: &'a [f32],
    /// Value targets.
    pub returns: &'a [f32],
    /// Values predicted when the steps were taken.
    pub values: &'a [f32],
}

/// Means over a minibatch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PpoStats {
    /// The total loss.
    pub loss: f64,
    /// Mean policy term.
    pub policy_loss: f64,
    /// Mean value term.
    pub value_loss: f64,
    /// Entropy, summed over action dimensions.
    pub entropy: f64,
    /// Mean of ρ - 1 - log ρ; if it exceeds the target, the update ends.
    pub approx_kl: f64,
    /// Mean of -log ρ.
    pub old_approx_kl: f64,
    /// Share of rows with |ρ - 1| > ε.
    pub clip_fraction: f64,
    /// Norm of the policy's gradient before clipping.
    pub policy_norm: f32,
    /// Norm of the critic's gradient before clipping.
    pub critic_norm: f32,
}

/// Everything a minibatch step needs, for one pair of shapes; several learners can share it in turn.
#[derive(Debug)]
pub struct Ppo {
    kernel: Kernel,
    actor: Network,
    critic: Network,
    gaussian: Gaussian,
    parts: Vec<Part>,
    actor_parts: Vec<Gradient>,
    critic_parts: Vec<Gradient>,
    actor_total: Gradient,
    critic_total: Gradient,
    policy_gradient: Vec<f32>,
    critic_gradient: Vec<f32>,
    pool: Pool<Scratch>,
}

/// Sums over the rows of one part, except for the networks' gradients.
#[derive(Debug, Clone)]
struct Part {
    sums: [f64; TERMS],
    d_log_std: Vec<Pack>,
}

/// Policy loss, value loss, both divergences, clipped rows.
const TERMS: usize = 5;

#[derive(Debug)]
struct Scratch {
    actor: Trace,
    critic: Trace,
    observations: Vec<Pack>,
    actions: Vec<Pack>,
    d_mean: Vec<Pack>,
    d_value: Vec<Pack>,
    columns: [Vec<Pack>; 4],
}

impl Scratch {
    fn new(actor: &Shape, critic: &Shape) -> Scratch {
        let room = |width: usize| vec![Pack::default(); BLOCK_PANELS * width];
        Scratch {
            actor: Trace::new(actor, BLOCK_PANELS),
            critic: Trace::new(critic, BLOCK_PANELS),
            observations: room(actor.inputs()),
            actions: room(actor.outputs()),
            d_mean: room(actor.outputs()),
            d_value: room(1),
            columns: std::array::from_fn(|_| room(1)),
        }
    }
}

/// The normalisation of advantages.
#[derive(Debug, Clone, Copy)]
struct Standard {
    mean: f32,
    scale: f32,
}

impl Standard {
    fn of(advantages: &[f32], rows: &[u32]) -> Standard {
        let values = || rows.iter().map(|&r| f64::from(advantages[r as usize]));
        let n = rows.len() as f64;
        let mean = values().sum::<f64>() / n;
        let variance = values().map(|a| (a - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        Standard { mean: mean as f32, scale: (1.0 / (variance.sqrt() + 1e-8)) as f32 }
    }
}

impl Ppo {
    /// For an actor (observation to mean action) and a critic (observation to value).
    pub fn new(actor: &Shape, critic: &Shape, kernel: impl Into<Kernel>) -> Ppo {
        let kernel = kernel.into();
        assert!(actor.inputs() == critic.inputs() && critic.outputs() == 1, "actor and critic do not fit");
        Ppo {
            kernel,
            actor: Network::new(actor, kernel, false),
            critic: Network::new(critic, kernel, false),
            gaussian: Gaussian::new(&vec![0.0; actor.outputs()]),
            parts: Vec::new(),
            actor_parts: Vec::new(),
            critic_parts: Vec::new(),
            actor_total: Gradient::new(actor),
            critic_total: Gradient::new(critic),
            policy_gradient: vec![0.0; actor.parameters() + actor.outputs()],
            critic_gradient: vec![0.0; critic.parameters()],
            pool: Pool::new(),
        }
    }

    /// Takes one step on a minibatch.
    ///
    /// If a loss or norm is not finite, the weights are not changed; the caller must check the returned statistics.
    pub fn step(&mut self, config: &PpoConfig, weights: &mut ActorCritic, batch: &Batch) -> PpoStats {
        let isa = self.kernel.isa();
        let mut stats = self.gradients(config, &weights.policy, &weights.critic, batch);
        stats.policy_norm = clip_norm(isa, &mut [&mut self.policy_gradient], config.gradient_norm);
        stats.critic_norm = clip_norm(isa, &mut [&mut self.critic_gradient], config.gradient_norm);
        if stats.loss.is_finite() && stats.policy_norm.is_finite() && stats.critic_norm.is_finite() {
            let adam = &config.adam;
            weights.policy_adam.step(isa, adam, &mut weights.policy, &self.policy_gradient);
            weights.critic_adam.step(isa, adam, &mut weights.critic, &self.critic_gradient);
        }
        stats
    }

    /// The gradient of the loss with respect to the policy's row, from [`Ppo::gradients`].
    pub fn policy_gradient(&mut self) -> &mut [f32] {
        &mut self.policy_gradient
    }

    /// The gradient of the loss with respect to the critic's row, from [`Ppo::gradients`].
    pub fn critic_gradient(&mut self) -> &mut [f32] {
        &mut self.critic_gradient
    }

    /// Loss and gradients of a minibatch, without a step; the norms are zero.
    pub fn gradients(
        &mut self,
        config: &PpoConfig,
        policy: &[f32],
        critic: &[f32],
        batch: &Batch,
    ) -> PpoStats {
        let (network, log_std) = policy.split_at(self.actor.shape().parameters());
        self.actor.load(network);
        self.critic.load(critic);
        self.gaussian.set(log_std);
        let cut = Cut::new(batch.rows.len());
        self.reset(cut.parts());

        let work = Work {
            isa: self.kernel.isa(),
            actor: &self.actor,
            critic: &self.critic,
            gaussian: &self.gaussian,
            config,
            batch,
            standard: Standard::of(batch.advantages, batch.rows),
            row_weight: 1.0 / batch.rows.len() as f32,
        };
        let pool = &self.pool;
        let gradients = self.actor_parts.par_iter_mut().zip(self.critic_parts.par_iter_mut());
        self.parts[..cut.parts()].par_iter_mut().zip(gradients).enumerate().for_each(
            |(i, (part, (actor, critic)))| {
                let scratch = || Scratch::new(work.actor.shape(), work.critic.shape());
                pool.with(scratch, |scratch| {
                    actor.clear();
                    critic.clear();
                    for block in cut.blocks(i) {
                        work.block(&batch.rows[block], scratch, part, actor, critic);
                    }
                });
            },
        );
        self.collect(config, cut.parts(), batch.rows.len())
    }

    fn reset(&mut self, parts: usize) {
        let empty = Part { sums: [0.0; TERMS], d_log_std: vec![Pack::default(); self.gaussian.dimensions()] };
        while self.parts.len() < parts {
            self.parts.push(empty.clone());
            self.actor_parts.push(self.actor_total.clone());
            self.critic_parts.push(self.critic_total.clone());
        }
        for part in &mut self.parts {
            part.sums = [0.0; TERMS];
            part.d_log_std.fill(Pack::default());
        }
    }

    /// Adds the parts in order.
    fn collect(&mut self, config: &PpoConfig, parts: usize, rows: usize) -> PpoStats {
        let (network, d_log_std) = self.policy_gradient.split_at_mut(self.actor.shape().parameters());
        let isa = self.kernel.isa();
        self.actor_total.sum_of(isa, &self.actor_parts[..parts], network);
        self.critic_total.sum_of(isa, &self.critic_parts[..parts], &mut self.critic_gradient);
        for (i, total) in d_log_std.iter_mut().enumerate() {
            let lanes = self.parts[..parts].iter().flat_map(|part| part.d_log_std[i].0);
            *total = lanes.map(f64::from).sum::<f64>() as f32 - config.entropy_weight;
        }

        let mut sums = [0.0; TERMS];
        for part in &self.parts[..parts] {
            sums.iter_mut().zip(part.sums).for_each(|(total, sum)| *total += sum);
        }
        let [policy_loss, value_loss, approx_kl, old_approx_kl, clip_fraction] =
            sums.map(|s| s / rows as f64);
        let entropy = self.gaussian.entropy();
        let loss = policy_loss + f64::from(config.value_weight) * value_loss
            - f64::from(config.entropy_weight) * entropy;
        PpoStats {
            loss,
            policy_loss,
            value_loss,
            entropy,
            approx_kl,
            old_approx_kl,
            clip_fraction,
            policy_norm: 0.0,
            critic_norm: 0.0,
        }
    }
}

/// Data that all blocks of a minibatch share.
struct Work<'a> {
    isa: Isa,
    actor: &'a Network,
    critic: &'a Network,
    gaussian: &'a Gaussian,
    config: &'a PpoConfig,
    batch: &'a Batch<'a>,
    standard: Standard,
    /// 1/n.
    row_weight: f32,
}

impl Work<'_> {
    fn block(
        &self,
        rows: &[u32],
        scratch: &mut Scratch,
        part: &mut Part,
        actor_gradient: &mut Gradient,
        critic_gradient: &mut Gradient,
    ) {
        let panels = rows.len().div_ceil(LANES);
        let batch = self.batch;
        let actions = self.gaussian.dimensions();
        let Scratch { columns: [old_log_probs, advantages, targets, old_values], .. } = scratch;
        for (column, packs) in [
            (batch.log_probs, old_log_probs),
            (batch.advantages, advantages),
            (batch.returns, targets),
            (batch.values, old_values),
        ] {
            gather_column(column, rows, &mut packs[..panels]);
        }
        let observations = &mut scratch.observations[..panels * self.actor.shape().inputs()];
        gather(self.isa, batch.observations, self.actor.shape().inputs(), rows, observations);
        gather(self.isa, batch.actions, actions, rows, &mut scratch.actions[..panels * actions]);

        self.actor.forward(observations, &mut scratch.actor);
        self.isa.run(PolicyBlock {
            work: self,
            live: rows.len(),
            mean: scratch.actor.output(),
            actions: &scratch.actions,
            old_log_probs: &scratch.columns[0],
            advantages: &scratch.columns[1],
            d_mean: &mut scratch.d_mean,
            part,
        });
        let d_mean = &scratch.d_mean[..panels * actions];
        self.actor.backward(observations, &mut scratch.actor, d_mean, Some(actor_gradient), None);

        self.critic.forward(observations, &mut scratch.critic);
        self.isa.run(ValueBlock {
            work: self,
            live: rows.len(),
            values: scratch.critic.output(),
            targets: &scratch.columns[2],
            old_values: &scratch.columns[3],
            d_value: &mut scratch.d_value,
            part,
        });
        let d_value = &scratch.d_value[..panels];
        self.critic.backward(observations, &mut scratch.critic, d_value, Some(critic_gradient), None);
    }
}

/// 1 in the lanes of a panel that are rows, 0 beyond.
fn live_lanes(live: usize, panel: usize) -> Pack {
    Pack(std::array::from_fn(|lane| if panel * LANES + lane < live { 1.0 } else { 0.0 }))
}

struct PolicyBlock<'a> {
    work: &'a Work<'a>,
    live: usize,
    mean: &'a [Pack],
    actions: &'a [Pack],
    old_log_probs: &'a [Pack],
    advantages: &'a [Pack],
    d_mean: &'a mut [Pack],
    part: &'a mut Part,
}

impl SimdTask for PolicyBlock<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, token: S) {
        let Work { gaussian, config, standard, row_weight, .. } = *self.work;
        let constant = |value| Lanes::splat(token, value);
        let width = gaussian.dimensions();
        let mut sums = [constant(0.0); 4];
        for panel in 0..self.live.div_ceil(LANES) {
            let range = panel * width..(panel + 1) * width;
            let (mean, action) = (&self.mean[range.clone()], &self.actions[range.clone()]);
            let live = Lanes::load(token, &live_lanes(self.live, panel));
            let advantage = Lanes::load(token, &self.advantages[panel]) - constant(standard.mean);
            let advantage = advantage * constant(standard.scale);
            let log_prob: Lanes<S> = gaussian.log_prob(token, mean, action);
            let old_log_prob = Lanes::load(token, &self.old_log_probs[panel]);
            let term = policy_term(log_prob, old_log_prob, advantage, constant(config.clip));

            let is_live = live.gt(constant(0.0));
            let weight = (term.d_log_prob * constant(row_weight)).masked(is_live);
            gaussian.backward(mean, action, weight, &mut self.d_mean[range], &mut self.part.d_log_std);
            for (sum, value) in sums.iter_mut().zip([term.loss, term.kl, term.old_kl, term.clipped]) {
                *sum += value.masked(is_live);
            }
        }
        for (slot, sum) in [0, 2, 3, 4].into_iter().zip(sums) {
            self.part.sums[slot] += total(sum);
        }
    }
}

struct ValueBlock<'a> {
    work: &'a Work<'a>,
    live: usize,
    values: &'a [Pack],
    targets: &'a [Pack],
    old_values: &'a [Pack],
    d_value: &'a mut [Pack],
    part: &'a mut Part,
}

impl SimdTask for ValueBlock<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, token: S) {
        let Work { config, row_weight, .. } = *self.work;
        let constant = |value| Lanes::splat(token, value);
        let weight = constant(row_weight * config.value_weight);
        let mut sum = constant(0.0);
        for panel in 0..self.live.div_ceil(LANES) {
            let [value, old_value, target] =
                [self.values, self.old_values, self.targets].map(|packs| Lanes::load(token, &packs[panel]));
            let term = value_term(value, old_value, target, constant(config.value_clip));
            let is_live = Lanes::load(token, &live_lanes(self.live, panel)).gt(constant(0.0));
            (term.d_value * weight).masked(is_live).store(&mut self.d_value[panel]);
            sum += term.loss.masked(is_live);
        }
        self.part.sums[1] += total(sum);
    }
}

/// The sum of all lanes.
#[inline(always)]
fn total<S: Simd>(lanes: Lanes<S>) -> f64 {
    let mut pack = Pack::default();
    lanes.store(&mut pack);
    pack.0.iter().map(|&v| f64::from(v)).sum()
}
