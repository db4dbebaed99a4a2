//! Adversarial inverse reinforcement learning (Fu et al., 2018).
//!
//! ```text
//! f        g(s, a) + γ h(s') - h(s)       h(s') counts as 0 where the episode ended by itself
//! D        eᶠ / (eᶠ + π(a|s)),  its logit is f - log π
//! loss     cross-entropy of D + w mean (‖∇ f(x̂)‖ - 1)²,  x̂ a mix of whole rows (s, a, s')
//! reward   log D - log(1 - D) = f - log π
//! ```

mod learning;

use magpie_nn::normaliser::Frozen;
use magpie_nn::parts::{BLOCK_PANELS, Pool};
use magpie_nn::{Network, Trace, init};
use magpie_random::Draws;
use magpie_simd::{Isa, LANES, Pack};
use serde::{Deserialize, Serialize};

use crate::batches::Batches;
use crate::blocks;
use crate::config::{require, require_learning};
use crate::error::RewardError;
use crate::form::copy_rows;
use crate::gail::scalar_shape;
use crate::health::Health;
use crate::input::normalised;
use crate::model::{RewardModel, rows_for};
use crate::trained::{Record, Trained};
use crate::transitions::{Needs, Sizes, Transitions};
use learning::{Pass, Triple};

const NAME: &str = "airl";

/// What stands against eᶠ in D.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Opponent {
    /// π(a|s): D = eᶠ / (eᶠ + π). As published. Needs log π of the current policy, for demonstrations too.
    #[default]
    Policy,
    /// 1: D = σ(f).
    One,
}

/// What a row is worth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AirlReward {
    /// log D - log(1 - D). Paper.
    #[default]
    LogOdds,
    /// f: without the share of the policy.
    Advantage,
    /// g: without shaping too.
    Reward,
}

/// How AIRL learns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AirlConfig {
    /// Widths of the hidden layers of g and of h. Paper: 100, 100.
    pub hidden: Vec<usize>,
    /// γ. Paper: 0.99.
    pub gamma: f32,
    /// What stands against eᶠ in D.
    pub opponent: Opponent,
    /// What a row is worth. Paper: log odds.
    pub reward: AirlReward,
    /// Count h(s') as 0 where the episode ended by itself. Public code: no.
    pub mask_terminal: bool,
    /// Learning rate of Adam. Paper: 3e-4.
    pub learning_rate: f64,
    /// Expert rows of a step, and as many policy rows. Not in the paper.
    pub batch_size: usize,
    /// Weight of the penalty on slopes. Public code: 10.
    pub gradient_penalty: f32,
}

impl Default for AirlConfig {
    fn default() -> AirlConfig {
        AirlConfig {
            hidden: vec![100, 100],
            gamma: 0.99,
            opponent: Opponent::default(),
            reward: AirlReward::default(),
            mask_terminal: true,
            learning_rate: 3e-4,
            batch_size: 128,
            gradient_penalty: 10.0,
        }
    }
}

impl AirlConfig {
    fn check(&self) -> Result<(), RewardError> {
        let fields = ["airl.hidden", "airl.learning_rate", "airl.batch_size"];
        require_learning(fields, &self.hidden, self.learning_rate, self.batch_size)?;
        require((0.0..=1.0).contains(&self.gamma), "airl.gamma", self.gamma, "from 0 to 1")?;
        let weight = self.gradient_penalty;
        require(weight >= 0.0 && weight.is_finite(), "airl.gradient_penalty", weight, "0 or more")
    }
}

/// The model. Parameters are those of g, then those of h.
#[derive(Debug)]
pub struct Airl {
    config: AirlConfig,
    sizes: Sizes,
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
    /// A discriminator that has learnt nothing yet.
    pub fn from_config(
        config: &AirlConfig,
        sizes: Sizes,
        isa: Isa,
        draws: &mut Draws,
    ) -> Result<Airl, RewardError> {
        config.check()?;
        let g = scalar_shape("airl.hidden", sizes.observation + sizes.action, &config.hidden)?;
        let h = scalar_shape("airl.hidden", sizes.observation, &config.hidden)?;
        let mut first = init::xavier(&g, draws);
        first.extend(init::xavier(&h, draws));
        let networks = Networks { g: Network::new(&g, isa, true), h: Network::new(&h, isa, true) };
        let state = Trained::new(first);
        let mut model = Airl { config: config.clone(), sizes, isa, state, networks, pool: Pool::new() };
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
        let Sizes { observation, action } = self.sizes;
        triple.resize(self.sizes, index.len());
        for (panel, rows) in index.chunks(LANES).enumerate() {
            let pair = &mut triple.pair[panel * (observation + action)..][..observation + action];
            let (before, actions) = pair.split_at_mut(observation);
            normalised(self.isa, transitions.observations, rows, normaliser, raw, before);
            magpie_nn::rows::gather(self.isa, transitions.actions, action, rows, actions);
            triple.before[panel * observation..][..observation].copy_from_slice(before);
            let after = &mut triple.after[panel * observation..][..observation];
            normalised(self.isa, transitions.next_observations, rows, normaliser, raw, after);
            for lane in 0..LANES {
                let row = rows.get(lane).map(|&row| row as usize);
                let ended = row.is_some_and(|row| transitions.terminated[row]) && self.config.mask_terminal;
                triple.discount[panel].0[lane] = if ended { 0.0 } else { self.config.gamma };
                triple.opponent[panel].0[lane] = match self.config.opponent {
                    Opponent::Policy => row.map_or(0.0, |row| transitions.log_probs[row]),
                    Opponent::One => 0.0,
                };
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

impl RewardModel for Airl {
    fn name(&self) -> &'static str {
        NAME
    }

    fn needs(&self) -> Needs {
        Needs {
            next_observations: true,
            log_probs: self.config.opponent == Opponent::Policy,
            ..Needs::default()
        }
    }

    fn reward(
        &self,
        transitions: &Transitions,
        normaliser: &Frozen,
        out: &mut [f32],
    ) -> Result<(), RewardError> {
        rows_for(transitions, self.sizes, self.needs(), out)?;
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
            let batch = pass.loss(&self.networks, &self.config);
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
