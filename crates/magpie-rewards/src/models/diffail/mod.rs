//! GAIL with a diffusion model as discriminator (Wang et al., "DiffAIL", 2024).
//!
//! ```text
//! noisy     x_t = √ᾱ_t x + √(1 - ᾱ_t) ε,  ᾱ_t = Π (1 - β),  β linear from 1e-4 to 2e-2 over T steps
//! error     E = Σ or mean over entries of (ε̂(x_t, t) - ε)²
//! D         exp(-E): rows like those it was trained on are easy to denoise
//! loss      -log D(expert) - log(1 - D(policy)) + w mean (‖∇ₓ D(x̂)‖ - 1)², each row with its own t and ε
//! reward    -log(1 - D), averaged over t
//! ```
//!
//! `predictor.rs` implements ε̂ with its derivatives, `reward.rs` an efficient average over t.

mod config;
mod learning;
mod predictor;
mod reward;
#[cfg(test)]
mod tests;

use magpie_demos::Sizes;
use magpie_random::{Draws, Stream};
use magpie_simd::{Isa, LANES, Pack};
use serde::{Deserialize, Serialize};

use crate::adversarial::{Adversarial, BatchSpec, Discriminator, Mix, Rows};
use crate::error::RewardError;
use crate::health::Health;
use crate::models::ModelName;
use crate::record::Record;
use crate::trained::Trained;
pub use config::{Average, DiffailConfig, Noise, Output, Reduction};
use learning::DiffailWork;
use predictor::Predictor;
use reward::{Averager, AveragerScratch};

/// The model.
pub(crate) type Diffail = Adversarial<DiffailDiscriminator>;

impl Diffail {
    /// An untrained diffusion model.
    pub fn from_config(
        config: &DiffailConfig,
        sizes: Sizes,
        gamma: f32,
        isa: Isa,
        draws: &mut Draws,
    ) -> Result<Diffail, RewardError> {
        let DiffailConfig { batch_size, passes, inputs, absorbing, .. } = *config;
        let spec = BatchSpec { batch_size, passes, inputs, mix: Mix::Row, absorbing, gamma };
        Adversarial::new(sizes, isa, spec, |width| {
            let seed = u64::from(draws.bits()) << 32 | u64::from(draws.bits());
            let predictor = Predictor::new(config, width, isa)?;
            let first = predictor.first_parameters(draws);
            Ok(DiffailDiscriminator::new(config, predictor, isa, seed, first))
        })
    }
}

/// The diffusion model as a discriminator.
#[derive(Debug)]
pub(crate) struct DiffailDiscriminator {
    config: DiffailConfig,
    isa: Isa,
    state: DiffailState,
    predictor: Predictor,
    averager: Averager,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct DiffailState {
    trained: Trained,
    /// Seed of the noise for rewards.
    seed: u64,
}

impl DiffailDiscriminator {
    fn new(
        config: &DiffailConfig,
        predictor: Predictor,
        isa: Isa,
        seed: u64,
        first: Vec<f32>,
    ) -> DiffailDiscriminator {
        let averager = Averager::new(config, &predictor, isa);
        let state = DiffailState { trained: Trained::new(first), seed };
        let mut discriminator =
            DiffailDiscriminator { config: config.clone(), isa, state, predictor, averager };
        discriminator.load();
        discriminator
    }

    /// Loads the parameters of the state, and draws new noise for rewards, so that no policy can learn it by heart.
    fn load(&mut self) {
        self.predictor.load(&self.state.trained.parameters);
        let stream = Stream::new(self.state.seed, "diffail reward noise");
        self.averager.draw(stream, self.state.trained.steps());
        self.averager.load(&self.predictor, &self.state.trained.parameters);
    }

    /// One step with the t and ε in `work`.
    fn step(&mut self, rows: &Rows, work: &mut DiffailWork) -> Result<Health, RewardError> {
        let health = self.loss(rows, work);
        let rate = self.config.learning_rate;
        self.state.trained.step(self.isa, Self::NAME, rate, health.loss(), &work.row)?;
        self.predictor.load(&self.state.trained.parameters);
        Ok(health)
    }
}

impl Discriminator for DiffailDiscriminator {
    const NAME: &'static str = ModelName::Diffail.name();
    type Scratch = AveragerScratch;
    type Work = DiffailWork;

    fn scratch(&self, panels: usize) -> AveragerScratch {
        self.averager.scratch(panels)
    }

    fn rewards(&self, block: &[Pack], scratch: &mut AveragerScratch, out: &mut [Pack]) {
        self.averager.rewards(block, scratch, out);
    }

    fn work(&self, panels: usize) -> DiffailWork {
        DiffailWork::new(&self.predictor, self.state.trained.parameters.len(), panels)
    }

    fn learn(
        &mut self,
        rows: &Rows,
        work: &mut DiffailWork,
        draws: &mut Draws,
    ) -> Result<Health, RewardError> {
        let width = rows.expert.len() / rows.panels();
        for diffused in &mut work.diffused {
            diffused.timesteps.clear();
            let steps = (0..rows.panels() * LANES).map(|_| draws.below(self.config.timesteps as u32));
            diffused.timesteps.extend(steps);
            diffused.noise.resize(rows.panels() * width, Pack::default());
            for pair in diffused.noise.iter_mut().flat_map(|pack| pack.0.as_chunks_mut::<2>().0) {
                *pair = draws.normal_pair();
            }
        }
        self.step(rows, work)
    }

    fn finish(&mut self) {
        self.load();
    }

    fn save(&self) -> Result<Record, RewardError> {
        Record::new(Self::NAME, &self.state)
    }

    fn restore(&mut self, record: &Record) -> Result<(), RewardError> {
        let state: DiffailState = record.state(Self::NAME)?;
        state.trained.fits(self.state.trained.parameters.len())?;
        self.state = state;
        self.load();
        Ok(())
    }
}
