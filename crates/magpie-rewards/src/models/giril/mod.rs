//! Generative intrinsic reward from demonstrations (Yu et al., "GIRIL", 2020).
//!
//! ```text
//! encoder   (s, s') → μ, log σ²;  z = μ + σ noise, an action
//! decoder   (s, z) → ŝ'
//! loss      ‖ŝ' - s'‖² + KL(N(μ, σ²) ‖ N(0, 1)) + ‖z - a‖²
//! reward    ‖decoder(s, a) - s'‖²
//! ```
//!
//! It learns from the demonstrations alone, before reinforcement learning, and stays as it is. The reward is a
//! *prediction error*: what the demonstrations show is predicted well and earns little, and the policy is drawn
//! to what lies beyond them. Because it stays fixed it keeps a normaliser of its own, that of the demonstrations.

mod config;
mod learning;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

use magpie_demos::Sizes;
use magpie_nn::normaliser::{Frozen, Moments, Running};
use magpie_nn::parts::{BLOCK_PANELS, Pool};
use magpie_nn::rows::gather;
use magpie_nn::{Network, Shape, Trace, init};
use magpie_random::Draws;
use magpie_simd::{Isa, LANES, Pack};
use serde::{Deserialize, Serialize};

use crate::adversarial::Batches;
use crate::blocks;
use crate::error::RewardError;
use crate::health::Health;
use crate::model::{Progress, RewardModel};
use crate::models::ModelName;
use crate::panels::{copy_rows, mean, normalised};
use crate::record::Record;
use crate::shape::bad_widths;
use crate::trained::Trained;
use crate::transitions::{Needs, Transitions};
pub use config::{GirilConfig, GirilLoss, GirilReward};
use learning::{Pass, Steps};

const NAME: &str = ModelName::Giril.name();

/// Normalised observations are limited to this many standard deviations, as a policy's are.
const OBSERVATION_LIMIT: f32 = 10.0;

/// The model. Parameters are those of the encoder, then those of the decoder.
#[derive(Debug)]
pub(crate) struct Giril {
    config: GirilConfig,
    sizes: Sizes,
    isa: Isa,
    state: GirilState,
    networks: Networks,
    normaliser: Frozen,
    pool: Pool<Scratch>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct GirilState {
    trained: Trained,
    /// Of the observations in the demonstrations.
    normaliser: Running,
    prepared: bool,
}

/// Encoder, with μ and log σ² as its outputs, and decoder.
#[derive(Debug)]
struct Networks {
    encoder: Network,
    decoder: Network,
}

impl Networks {
    fn load(&mut self, parameters: &[f32]) {
        let (encoder, decoder) = parameters.split_at(self.encoder.shape().parameters());
        self.encoder.load(encoder);
        self.decoder.load(decoder);
    }
}

#[derive(Debug)]
struct Scratch {
    index: Vec<u32>,
    raw: Vec<Pack>,
    /// (s, a).
    pair: Vec<Pack>,
    after: Vec<Pack>,
    rewards: Vec<Pack>,
    trace: Trace,
}

impl Giril {
    /// A model that has to be prepared.
    pub fn from_config(
        config: &GirilConfig,
        sizes: Sizes,
        _: f32,
        isa: Isa,
        draws: &mut Draws,
    ) -> Result<Giril, RewardError> {
        let Sizes { observation, action } = sizes;
        let shape = |first: usize, last: usize| {
            Shape::tanh(&[&[first][..], &config.hidden, &[last]].concat())
                .map_err(|_| bad_widths("giril.hidden", &config.hidden))
        };
        let (encoder, decoder) =
            (shape(2 * observation, 2 * action)?, shape(observation + action, observation)?);
        let mut first = init::torch_default(&encoder, draws);
        first.extend(init::torch_default(&decoder, draws));
        let mut networks = Networks {
            encoder: Network::new(&encoder, isa, false),
            decoder: Network::new(&decoder, isa, true),
        };
        networks.load(&first);
        let normaliser = Running::new(observation);
        let frozen = normaliser.freeze(OBSERVATION_LIMIT);
        let state = GirilState { trained: Trained::new(first), normaliser, prepared: false };
        Ok(Giril {
            config: config.clone(),
            sizes,
            isa,
            state,
            networks,
            normaliser: frozen,
            pool: Pool::new(),
        })
    }

    fn scratch(&self) -> Scratch {
        Scratch {
            index: Vec::new(),
            raw: Vec::new(),
            pair: Vec::new(),
            after: Vec::new(),
            rewards: Vec::new(),
            trace: Trace::new(self.networks.decoder.shape(), BLOCK_PANELS),
        }
    }

    /// Rewards of at most a block of rows, in the scratch.
    fn rewards(&self, transitions: &Transitions, scratch: &mut Scratch) {
        let Scratch { index, raw, pair, after, rewards, trace } = scratch;
        let Sizes { observation, action } = self.sizes;
        let (panels, width) = (index.len().div_ceil(LANES), observation + action);
        pair.resize(panels * width, Pack::default());
        after.resize(panels * observation, Pack::default());
        for (panel, rows) in index.chunks(LANES).enumerate() {
            let (before, actions) = pair[panel * width..][..width].split_at_mut(observation);
            normalised(self.isa, transitions.observations, rows, &self.normaliser, raw, before);
            gather(self.isa, transitions.actions, action, rows, actions);
            let after = &mut after[panel * observation..][..observation];
            normalised(self.isa, transitions.next_observations, rows, &self.normaliser, raw, after);
        }
        let predicted = self.networks.decoder.forward(pair, trace);
        rewards.clear();
        rewards.extend(
            predicted
                .chunks_exact(observation)
                .zip(after.chunks_exact(observation))
                .map(|(predicted, after)| self.config.worth(predicted, after)),
        );
    }
}

impl GirilConfig {
    /// What the prediction errors of a panel are worth.
    fn worth(&self, predicted: &[Pack], after: &[Pack]) -> Pack {
        let squash = |x: f32| match self.reward {
            GirilReward::Squashed => (x.clamp(-1.0, 1.0) + 1.0) / (2.0 + 1e-5),
            GirilReward::Norm | GirilReward::Mean => x,
        };
        let mut sum = Pack::default();
        for (predicted, after) in predicted.iter().zip(after) {
            for lane in 0..LANES {
                let error = squash(predicted.0[lane]) - squash(after.0[lane]);
                sum.0[lane] = error.mul_add(error, sum.0[lane]);
            }
        }
        let scale = match self.reward {
            GirilReward::Norm => 1.0,
            GirilReward::Mean | GirilReward::Squashed => 1.0 / after.len() as f32,
        };
        Pack(sum.0.map(|sum| scale * sum))
    }
}

impl RewardModel for Giril {
    fn name(&self) -> &'static str {
        NAME
    }

    fn needs(&self) -> Needs {
        Needs { next_observations: true, ..Needs::default() }
    }

    fn prepare(
        &mut self,
        expert: &Transitions,
        draws: &mut Draws,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(), RewardError> {
        if self.state.prepared {
            return Ok(());
        }
        let rows = expert.rows("expert", self.sizes, self.needs())?;
        if rows == 0 {
            return Err(RewardError::Empty { whose: "expert" });
        }
        let mut moments = Moments::new(self.sizes.observation);
        moments.add_rows(expert.observations);
        let mut normaliser = Running::new(self.sizes.observation);
        normaliser.update(&moments);
        self.normaliser = normaliser.freeze(OBSERVATION_LIMIT);
        self.state.normaliser = normaliser;

        let steps = Steps::new(self.sizes, expert, &self.normaliser);
        let size = self.config.batch_size.min(rows);
        let mut pass = Pass::new(&self.networks, self.sizes, size.div_ceil(LANES));
        let mut order: Vec<u32> = (0..rows as u32).collect();
        for done in 1..=self.config.epochs {
            draws.shuffle(&mut order);
            let mut sum = 0.0;
            for batch in order.chunks(size) {
                pass.fill(self.isa, &steps, batch, draws);
                let loss = pass.loss(&self.networks, self.config.loss);
                let rate = self.config.learning_rate;
                self.state.trained.step(self.isa, NAME, rate, loss.total(), &pass.row)?;
                self.networks.load(&self.state.trained.parameters);
                sum += loss.total() * batch.len() as f64;
            }
            let loss = sum / rows as f64;
            if progress(Progress { done, total: self.config.epochs, loss }).is_break() {
                return Ok(());
            }
        }
        self.state.prepared = true;
        Ok(())
    }

    fn reward(
        &self,
        transitions: &Transitions,
        _normaliser: &Frozen,
        out: &mut [f32],
    ) -> Result<(), RewardError> {
        if !self.state.prepared {
            return Err(RewardError::Unprepared { model: NAME });
        }
        blocks::rows_for(transitions, self.sizes, self.needs(), out)?;
        blocks::fill(
            out,
            &self.pool,
            || self.scratch(),
            |scratch, rows, out| {
                blocks::index_of(rows, &mut scratch.index);
                self.rewards(transitions, scratch);
                copy_rows(&scratch.rewards, out);
            },
        );
        blocks::finite(NAME, out)
    }

    /// Learns nothing; says what expert and policy earn.
    fn update(
        &mut self,
        expert: &Transitions,
        policy: &Transitions,
        _normaliser: &Frozen,
        draws: &mut Draws,
    ) -> Result<Health, RewardError> {
        if !self.state.prepared {
            return Err(RewardError::Unprepared { model: NAME });
        }
        let size = BLOCK_PANELS * LANES;
        let batches = Batches::draw(self.sizes, self.needs(), expert, policy, size, draws)?;
        let (mut scratch, mut health) = (self.scratch(), Health::default());
        for (expert_index, policy_index) in batches.iter() {
            let mut reward = |transitions: &Transitions, index: &[u32]| {
                scratch.index.clear();
                scratch.index.extend_from_slice(index);
                self.rewards(transitions, &mut scratch);
                mean(&scratch.rewards, index.len())
            };
            let batch = Health {
                expert_reward: reward(expert, expert_index),
                policy_reward: reward(policy, policy_index),
                ..Health::default()
            };
            health.add(expert_index.len(), &batch);
        }
        Ok(health)
    }

    fn save(&self) -> Result<Record, RewardError> {
        Record::new(NAME, &self.state)
    }

    fn restore(&mut self, record: &Record) -> Result<(), RewardError> {
        let state: GirilState = record.state(NAME)?;
        state.trained.fits(self.state.trained.parameters.len())?;
        let found = state.normaliser.mean().len();
        if found != self.sizes.observation || state.normaliser.variance().len() != found {
            let wanted = self.sizes.observation;
            let problem = format!("its normaliser is for {found} entries, but observations have {wanted}");
            return Err(RewardError::Record { problem });
        }
        self.networks.load(&state.trained.parameters);
        self.normaliser = state.normaliser.freeze(OBSERVATION_LIMIT);
        self.state = state;
        Ok(())
    }
}
