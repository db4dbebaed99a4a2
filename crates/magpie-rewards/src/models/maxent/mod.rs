//! Deep maximum-entropy inverse reinforcement learning (Wulfmeier et al., 2015).
//!
//! ```text
//! loss     -(mean r(expert) - mean r(policy)) + ½ reward_l2 (mean r(expert)² + mean r(policy)²)
//! reward   r
//! ```
//!
//! The policy is trained on r while r is trained against the policy, so the policy's own rows stand for the expectation
//! under the current reward. The objective is linear in r and has no maximum without an L2 term. On weights it is a
//! poor one: a small weight lets rewards grow into the hundreds, a larger one pulls them to zero, with little
//! between. On rewards it bounds them, to ±1/`reward_l2`, where a row is surely the expert's or the policy's.

mod config;
mod learning;
#[cfg(test)]
mod tests;

use magpie_demos::Sizes;
use magpie_nn::{Network, Shape, Trace, init};
use magpie_random::Draws;
use magpie_simd::{Isa, Pack};

use crate::adversarial::{Adversarial, BatchSpec, Discriminator, Mix, Rows};
use crate::error::RewardError;
use crate::health::Health;
use crate::models::ModelName;
use crate::record::Record;
use crate::shape::scalar_shape;
use crate::trained::Trained;
pub use config::MaxentConfig;
use learning::MaxentWork;

/// The model.
pub(crate) type Maxent = Adversarial<MaxentDiscriminator>;

impl Maxent {
    /// A reward that has learned nothing yet.
    pub fn from_config(
        config: &MaxentConfig,
        sizes: Sizes,
        gamma: f32,
        isa: Isa,
        draws: &mut Draws,
    ) -> Result<Maxent, RewardError> {
        let MaxentConfig { batch_size, absorbing, .. } = *config;
        let batches = BatchSpec { batch_size, mix: Mix::Row, absorbing, gamma };
        Adversarial::new(sizes, isa, batches, |width| {
            let shape = scalar_shape("maxent.hidden", width, &config.hidden)?;
            Ok(MaxentDiscriminator::new(config, shape, isa, |shape| init::xavier(shape, draws)))
        })
    }
}

/// The reward network.
#[derive(Debug)]
pub(crate) struct MaxentDiscriminator {
    config: MaxentConfig,
    isa: Isa,
    state: Trained,
    network: Network,
}

impl MaxentDiscriminator {
    fn new(
        config: &MaxentConfig,
        shape: Shape,
        isa: Isa,
        first: impl FnOnce(&Shape) -> Vec<f32>,
    ) -> MaxentDiscriminator {
        let mut network = Network::new(&shape, isa, false);
        let state = Trained::new(first(&shape));
        network.load(&state.parameters);
        MaxentDiscriminator { config: config.clone(), isa, state, network }
    }
}

impl Discriminator for MaxentDiscriminator {
    const NAME: &'static str = ModelName::Maxent.name();
    type Scratch = Trace;
    type Work = MaxentWork;

    fn scratch(&self, panels: usize) -> Trace {
        Trace::new(self.network.shape(), panels)
    }

    fn rewards(&self, block: &[Pack], trace: &mut Trace, out: &mut [Pack]) {
        out.copy_from_slice(self.network.forward(block, trace));
    }

    fn work(&self, panels: usize) -> MaxentWork {
        MaxentWork::new(self.network.shape(), panels)
    }

    fn learn(&mut self, rows: &Rows, work: &mut MaxentWork, _: &mut Draws) -> Result<Health, RewardError> {
        let health = self.loss(rows, work);
        self.state.step(self.isa, Self::NAME, self.config.learning_rate, health.loss(), &work.row)?;
        self.network.load(&self.state.parameters);
        Ok(health)
    }

    fn save(&self) -> Result<Record, RewardError> {
        Record::new(Self::NAME, &self.state)
    }

    fn restore(&mut self, record: &Record) -> Result<(), RewardError> {
        let state: Trained = record.state(Self::NAME)?;
        state.fits(self.network.shape().parameters())?;
        self.network.load(&state.parameters);
        self.state = state;
        Ok(())
    }
}
