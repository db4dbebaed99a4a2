//! Deep maximum-entropy inverse reinforcement learning (Wulfmeier et al., 2015).
//!
//! ```text
//! loss     -(mean r(expert) - mean r(policy)) + ½ reward_l2 (mean r(expert)² + mean r(policy)²)
//! reward   r, or log(1 + eʳ)
//! ```
//!
//! With the plain reward, steps that are unlike the expert's cost something, so that a policy which does badly is paid for
//! falling: in the first iterations it learns to end its episodes. softplus keeps the order of rows and is never
//! negative. Unlike a shift, it needs no bound on r, and unlike a cut at 0 it still tells apart rows that are all unlike
//! the expert's; unlike an absorbing state, it has nothing to learn.
//!
//! The policy is trained on r while r is trained against the policy, so that the policy's own rows estimate the
//! expectation under the current reward. The objective is linear in r and has no maximum without an L2 term. An L2 term
//! on weights works badly: a small one lets rewards grow into the hundreds, a large one pulls them to zero, and there
//! is little between. An L2 term on rewards limits them to ±1/`reward_l2`, which rows that are clearly the expert's or
//! the policy's reach.

mod config;
mod learning;
#[cfg(test)]
mod tests;

use magpie_demos::Sizes;
use magpie_nn::{Network, Shape, Trace, init};
use magpie_random::Draws;
use magpie_simd::{Isa, Pack};

use crate::adversarial::{Adversarial, BatchSpec, Discriminator, Inputs, Mix, RewardForm, Rows};
use crate::error::RewardError;
use crate::health::Health;
use crate::models::ModelName;
use crate::record::Record;
use crate::shape::scalar_shape;
use crate::trained::Trained;
pub use config::{MaxentConfig, MaxentReward};
use learning::MaxentWork;

/// The model.
pub(crate) type Maxent = Adversarial<MaxentDiscriminator>;

impl Maxent {
    /// An untrained reward network.
    pub fn from_config(
        config: &MaxentConfig,
        sizes: Sizes,
        gamma: f32,
        isa: Isa,
        draws: &mut Draws,
    ) -> Result<Maxent, RewardError> {
        let MaxentConfig { batch_size, absorbing, .. } = *config;
        let (inputs, mix) = (Inputs::StateAction, Mix::Row);
        let spec = BatchSpec { batch_size, passes: 1, inputs, mix, absorbing, gamma };
        Adversarial::new(sizes, isa, spec, |width| {
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

    /// Replaces each output by its reward.
    fn pay(&self, outputs: &mut [Pack]) {
        match self.config.reward {
            MaxentReward::Plain => {}
            MaxentReward::Softplus => RewardForm::Softplus.apply(self.isa, outputs),
        }
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
        self.pay(out);
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
