//! Generative adversarial imitation learning (Ho and Ermon, 2016), with a gradient penalty.
//!
//! ```text
//! loss     mean softplus(-d(expert)) + mean softplus(d(policy)) + w mean (‖∇ₓ d(x̂)‖ - 1)²
//! x̂        α expert + (1 - α) policy, α uniform
//! reward   -log(1 - σ(d)) = softplus(d)
//! ```
//!
//! d is a network with the input x = (normalised observation, action); [`Inputs`](crate::Inputs) has others.

mod config;
mod learning;
#[cfg(test)]
mod tests;

use magpie_demos::Sizes;
use magpie_nn::{Network, Shape, Trace, init};
use magpie_random::Draws;
use magpie_simd::{Isa, Pack};

use crate::adversarial::{Adversarial, BatchSpec, Discriminator, Rows};
use crate::error::RewardError;
use crate::health::Health;
use crate::models::ModelName;
use crate::record::Record;
use crate::shape::scalar_shape;
use crate::trained::Trained;
pub use config::GailConfig;
use learning::GailWork;

/// The model.
pub(crate) type Gail = Adversarial<GailDiscriminator>;

impl Gail {
    /// An untrained discriminator.
    pub fn from_config(
        config: &GailConfig,
        sizes: Sizes,
        gamma: f32,
        isa: Isa,
        draws: &mut Draws,
    ) -> Result<Gail, RewardError> {
        let GailConfig { batch_size, inputs, mix, absorbing, .. } = *config;
        let spec = BatchSpec { batch_size, passes: 1, inputs, mix, absorbing, gamma };
        Adversarial::new(sizes, isa, spec, |width| {
            let shape = scalar_shape("gail.hidden", width, &config.hidden)?;
            Ok(GailDiscriminator::new(config, shape, isa, |shape| init::xavier(shape, draws)))
        })
    }
}

/// The discriminator.
#[derive(Debug)]
pub(crate) struct GailDiscriminator {
    config: GailConfig,
    isa: Isa,
    state: Trained,
    network: Network,
}

impl GailDiscriminator {
    fn new(
        config: &GailConfig,
        shape: Shape,
        isa: Isa,
        first: impl FnOnce(&Shape) -> Vec<f32>,
    ) -> GailDiscriminator {
        let mut network = Network::new(&shape, isa, true);
        let state = Trained::new(first(&shape));
        network.load(&state.parameters);
        GailDiscriminator { config: config.clone(), isa, state, network }
    }
}

impl Discriminator for GailDiscriminator {
    const NAME: &'static str = ModelName::Gail.name();
    type Scratch = Trace;
    type Work = GailWork;

    fn scratch(&self, panels: usize) -> Trace {
        Trace::new(self.network.shape(), panels)
    }

    fn rewards(&self, block: &[Pack], trace: &mut Trace, out: &mut [Pack]) {
        out.copy_from_slice(self.network.forward(block, trace));
        self.config.reward.apply(self.isa, out);
    }

    fn work(&self, panels: usize) -> GailWork {
        GailWork::new(self.network.shape(), panels)
    }

    fn learn(&mut self, rows: &Rows, work: &mut GailWork, _: &mut Draws) -> Result<Health, RewardError> {
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
