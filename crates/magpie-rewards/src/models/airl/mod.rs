//! Adversarial inverse reinforcement learning (Fu et al., 2018).
//!
//! ```text
//! f        g(s, a) + γ h(s') - h(s)       h(s') is 0 after a termination
//! D        eᶠ / (eᶠ + π(a|s)),  its logit is f - log π
//! loss     cross-entropy of D + w mean (‖∇ f(x̂)‖ - 1)²,  x̂ an interpolation of rows (s, a, s')
//! reward   log D - log(1 - D) = f - log π, or f, or g, or softplus(f - mean log π)
//! ```

mod config;
mod learning;
#[cfg(test)]
mod tests;

use magpie_demos::Sizes;
use magpie_nn::normaliser::Frozen;
use magpie_nn::parts::{BLOCK_PANELS, Pool};
use magpie_nn::{Network, Trace, init};
use magpie_random::Draws;
use magpie_simd::{Isa, LANES, Pack};

use crate::adversarial::{Batches, softplus};
use crate::blocks;
use crate::error::RewardError;
use crate::health::Health;
use crate::model::RewardModel;
use crate::models::ModelName;
use crate::panels::{copy_rows, normalised};
use crate::record::Record;
use crate::shape::scalar_shape;
use crate::trained::Trained;
use crate::transitions::{Needs, Transitions};
pub use config::{AirlConfig, AirlInputs, AirlReward};
use learning::{Pass, Triple};

const NAME: &str = ModelName::Airl.name();

/// The model. Its parameters are those of g, followed by those of h.
#[derive(Debug)]
pub(crate) struct Airl {
    config: AirlConfig,
    /// γ.
    gamma: f32,
    sizes: Sizes,
    /// What g sees: without actions, their size is 0.
    seen: Sizes,
    isa: Isa,
    state: Trained,
    networks: Networks,
    pool: Pool<Scratch>,
}

/// g and h.
#[derive(Debug)]
struct Networks {
    g: Network,
    h: Network,
}

impl Networks {
    fn load(&mut self, parameters: &[f32]) {
        let (g, h) = parameters.split_at(self.g.shape().parameters());
        self.g.load(g);
        self.h.load(h);
    }

    fn parameters(&self) -> usize {
        self.g.shape().parameters() + self.h.shape().parameters()
    }
}

#[derive(Debug)]
struct Scratch {
    index: Vec<u32>,
    raw: Vec<Pack>,
    triple: Triple,
    traces: [Trace; 2],
    rewards: Vec<Pack>,
}

impl Airl {
    /// An untrained discriminator.
    pub fn from_config(
        config: &AirlConfig,
        sizes: Sizes,
        gamma: f32,
        isa: Isa,
        draws: &mut Draws,
    ) -> Result<Airl, RewardError> {
        let seen = match config.inputs {
            AirlInputs::StateAction => sizes,
            AirlInputs::State => Sizes { action: 0, ..sizes },
        };
        let g = scalar_shape("airl.hidden", seen.observation + seen.action, &config.hidden)?;
        let h = scalar_shape("airl.hidden", sizes.observation, &config.hidden)?;
        let mut first = init::xavier(&g, draws);
        first.extend(init::xavier(&h, draws));
        let networks = Networks { g: Network::new(&g, isa, true), h: Network::new(&h, isa, true) };
        let state = Trained::new(first);
        let mut model =
            Airl { config: config.clone(), gamma, sizes, seen, isa, state, networks, pool: Pool::new() };
        model.networks.load(&model.state.parameters);
        Ok(model)
    }

    /// Gathers rows as panels.
    fn fill(
        &self,
        transitions: &Transitions,
        normaliser: &Frozen,
        index: &[u32],
        raw: &mut Vec<Pack>,
        triple: &mut Triple,
    ) {
        let Sizes { observation, action } = self.seen;
        triple.resize(self.seen, index.len());
        for (panel, rows) in index.chunks(LANES).enumerate() {
            let pair = &mut triple.pair[panel * (observation + action)..][..observation + action];
            let (before, actions) = pair.split_at_mut(observation);
            normalised(self.isa, transitions.observations, rows, normaliser, raw, before);
            if action > 0 {
                magpie_nn::rows::gather(self.isa, transitions.actions, action, rows, actions);
            }
            triple.before[panel * observation..][..observation].copy_from_slice(before);
            let after = &mut triple.after[panel * observation..][..observation];
            normalised(self.isa, transitions.next_observations, rows, normaliser, raw, after);
            for lane in 0..LANES {
                let row = rows.get(lane).map(|&row| row as usize);
                let ended = row.is_some_and(|row| transitions.terminated[row]) && self.config.mask_terminal;
                triple.discount[panel].0[lane] = if ended { 0.0 } else { self.gamma };
                triple.opponent[panel].0[lane] = row.map_or(0.0, |row| transitions.log_probs[row]);
            }
        }
    }

    fn scratch(&self) -> Scratch {
        Scratch {
            index: Vec::new(),
            raw: Vec::new(),
            triple: Triple::default(),
            traces: [&self.networks.g, &self.networks.h].map(|n| Trace::new(n.shape(), BLOCK_PANELS)),
            rewards: Vec::new(),
        }
    }

    /// Rewards of the rows of a triple.
    fn rewards(&self, triple: &Triple, [g, h]: &mut [Trace; 2], out: &mut Vec<Pack>) {
        out.clear();
        out.extend_from_slice(self.networks.g.forward(&triple.pair, g));
        if self.config.reward == AirlReward::Reward {
            return;
        }
        let add = |out: &mut [Pack], values: &[Pack], weight: &dyn Fn(usize, usize) -> f32| {
            for (at, (out, value)) in out.iter_mut().zip(values).enumerate() {
                for lane in 0..LANES {
                    out.0[lane] += weight(at, lane) * value.0[lane];
                }
            }
        };
        add(out, self.networks.h.forward(&triple.before, h), &|_, _| -1.0);
        add(out, self.networks.h.forward(&triple.after, h), &|at, lane| triple.discount[at].0[lane]);
        if self.config.reward == AirlReward::LogOdds {
            add(out, &triple.opponent, &|_, _| -1.0);
        }
    }
}

/// Replaces each f by log(1 + e^(f - mean log π)).
fn softplus_above(log_probs: &[f32], f: &mut [f32]) {
    let sum: f64 = log_probs.iter().map(|&p| f64::from(p)).sum();
    let typical = sum / log_probs.len().max(1) as f64;
    f.iter_mut().for_each(|f| *f = softplus(f64::from(*f) - typical) as f32);
}

impl RewardModel for Airl {
    fn name(&self) -> &'static str {
        NAME
    }

    fn needs(&self) -> Needs {
        Needs { next_observations: true, log_probs: true, ..Needs::default() }
    }

    fn reward(
        &self,
        transitions: &Transitions,
        normaliser: &Frozen,
        out: &mut [f32],
    ) -> Result<(), RewardError> {
        blocks::rows_for(transitions, self.sizes, self.needs(), out)?;
        blocks::fill(
            out,
            &self.pool,
            || self.scratch(),
            |scratch, rows, out| {
                let Scratch { index, raw, triple, traces, rewards } = scratch;
                blocks::index_of(rows, index);
                self.fill(transitions, normaliser, index, raw, triple);
                self.rewards(triple, traces, rewards);
                copy_rows(rewards, out);
            },
        );
        if self.config.reward == AirlReward::Softplus {
            softplus_above(transitions.log_probs, out);
        }
        blocks::finite(NAME, out)
    }

    fn update(
        &mut self,
        expert: &Transitions,
        policy: &Transitions,
        normaliser: &Frozen,
        draws: &mut Draws,
    ) -> Result<Health, RewardError> {
        let size = self.config.batch_size;
        let batches = Batches::draw(self.sizes, self.needs(), expert, policy, size, draws)?;
        let mut pass = Pass::new(&self.networks, batches.largest().div_ceil(LANES));
        let (mut raw, mut health) = (Vec::new(), Health::default());
        for (expert_index, policy_index) in batches.iter() {
            self.fill(expert, normaliser, expert_index, &mut raw, &mut pass.expert);
            self.fill(policy, normaliser, policy_index, &mut raw, &mut pass.policy);
            pass.mix(|| draws.unit());
            let batch = pass.loss(&self.networks, &self.config, self.gamma);
            let rate = self.config.learning_rate;
            self.state.step(self.isa, NAME, rate, batch.loss(), &pass.row)?;
            self.networks.load(&self.state.parameters);
            health.add(expert_index.len(), &batch);
        }
        Ok(health)
    }

    fn save(&self) -> Result<Record, RewardError> {
        Record::new(NAME, &self.state)
    }

    fn restore(&mut self, record: &Record) -> Result<(), RewardError> {
        let state: Trained = record.state(NAME)?;
        state.fits(self.networks.parameters())?;
        self.networks.load(&state.parameters);
        self.state = state;
        Ok(())
    }
}
