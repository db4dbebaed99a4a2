//! GAIL with a variational bottleneck (Peng et al., 2019).
//!
//! ```text
//! code     h = encoder(x), μ = first half of h, σ = sigmoid(second half), z = μ + σ noise (or z = μ)
//! logit    d = w · z + b
//! loss     GAIL's, with d(z), + β (mean KL - I_c),  KL = ½ Σ (μ² + σ² - log(σ² + 1e-8) - 1)
//! β        ← max(0, β + step (mean KL - I_c)) after each step
//! reward   from d at z = μ
//! ```
//!
//! The last layer of the encoder is also a tanh layer, as in the published code, so that μ lies within ±1.

mod config;
mod learning;
#[cfg(test)]
mod tests;

use magpie_demos::Sizes;
use magpie_nn::{Activation, Network, Shape, Trace, init};
use magpie_random::Draws;
use magpie_simd::{Isa, Pack};
use serde::{Deserialize, Serialize};

use crate::adversarial::{Adversarial, BatchSpec, Discriminator, Rows};
use crate::error::RewardError;
use crate::health::{Bottleneck, Health};
use crate::models::ModelName;
use crate::record::Record;
use crate::shape::bad_widths;
use crate::trained::Trained;
pub use config::{Code, VailConfig};
use learning::VailWork;

/// The model.
pub(crate) type Vail = Adversarial<VailDiscriminator>;

impl Vail {
    /// An untrained discriminator.
    pub fn from_config(
        config: &VailConfig,
        sizes: Sizes,
        gamma: f32,
        isa: Isa,
        draws: &mut Draws,
    ) -> Result<Vail, RewardError> {
        let VailConfig { batch_size, inputs, mix, absorbing, .. } = *config;
        let spec = BatchSpec { batch_size, passes: 1, inputs, mix, absorbing, gamma };
        Adversarial::new(sizes, isa, spec, |width| {
            let head = Shape::new(&[config.code_size, 1], Activation::Identity, Activation::Identity);
            let head = head.map_err(|_| bad_widths("vail.hidden", &config.hidden))?;
            VailDiscriminator::new(config, width, isa, |encoder| {
                let mut row = init::torch_default(encoder, draws);
                row.extend(init::torch_default(&head, draws));
                row
            })
        })
    }
}

/// Encoder and discriminator. Parameters are those of the encoder, then w, then b.
#[derive(Debug)]
pub(crate) struct VailDiscriminator {
    config: VailConfig,
    isa: Isa,
    state: VailState,
    encoder: Network,
    /// The network from x to d at z = μ: the encoder without its second half, with w and b as the last layer.
    to_mean: Network,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct VailState {
    trained: Trained,
    beta: f64,
}

impl VailDiscriminator {
    fn new(
        config: &VailConfig,
        width: usize,
        isa: Isa,
        first: impl FnOnce(&Shape) -> Vec<f32>,
    ) -> Result<VailDiscriminator, RewardError> {
        let sizes = |last: &[usize]| -> Vec<usize> { [&[width][..], &config.hidden, last].concat() };
        let encoder = Shape::new(&sizes(&[2 * config.code_size]), Activation::Tanh, Activation::Tanh);
        let encoder = encoder.map_err(|_| bad_widths("vail.hidden", &config.hidden))?;
        let to_mean = Shape::tanh(&sizes(&[config.code_size, 1]))
            .map_err(|_| bad_widths("vail.hidden", &config.hidden))?;
        let trained = Trained::new(first(&encoder));
        let mut discriminator = VailDiscriminator {
            config: config.clone(),
            isa,
            state: VailState { trained, beta: config.beta },
            encoder: Network::new(&encoder, isa, true),
            to_mean: Network::new(&to_mean, isa, false),
        };
        discriminator.load();
        Ok(discriminator)
    }

    /// Loads the parameters of the state.
    fn load(&mut self) {
        let parameters = &self.state.trained.parameters;
        let (encoder, head) = parameters.split_at(self.encoder.shape().parameters());
        self.encoder.load(encoder);
        let mut row = Vec::with_capacity(self.to_mean.shape().parameters());
        for layer in self.encoder.shape().layers() {
            let last = layer.bias.end == encoder.len();
            let outputs = if last { self.config.code_size } else { layer.outputs };
            row.extend_from_slice(&encoder[layer.weight][..outputs * layer.inputs]);
            row.extend_from_slice(&encoder[layer.bias][..outputs]);
        }
        row.extend_from_slice(head);
        self.to_mean.load(&row);
    }

    fn head(&self) -> (&[f32], f32) {
        let size = self.config.code_size;
        let head = &self.state.trained.parameters[self.encoder.shape().parameters()..];
        (&head[..size], head[size])
    }

    /// β after a step whose rows had this mean KL divergence.
    fn next_beta(&self, kl: f64) -> f64 {
        (self.state.beta + self.config.beta_step * (kl - self.config.information)).max(0.0)
    }

    /// One step with the noise in `work`.
    fn step(&mut self, rows: &Rows, work: &mut VailWork) -> Result<Health, RewardError> {
        let mut health = self.loss(rows, work);
        let kl = health.bottleneck.map_or(0.0, |bottleneck| bottleneck.kl);
        let loss = health.loss() + self.state.beta * (kl - self.config.information);
        let rate = self.config.learning_rate;
        self.state.trained.step(self.isa, Self::NAME, rate, loss, &work.row)?;
        self.state.beta = self.next_beta(kl);
        health.bottleneck = Some(Bottleneck { kl, beta: self.state.beta });
        self.load();
        Ok(health)
    }
}

impl Discriminator for VailDiscriminator {
    const NAME: &'static str = ModelName::Vail.name();
    type Scratch = Trace;
    type Work = VailWork;

    fn scratch(&self, panels: usize) -> Trace {
        Trace::new(self.to_mean.shape(), panels)
    }

    fn rewards(&self, block: &[Pack], trace: &mut Trace, out: &mut [Pack]) {
        out.copy_from_slice(self.to_mean.forward(block, trace));
        self.config.reward.apply(self.isa, out);
    }

    fn work(&self, panels: usize) -> VailWork {
        let parameters = self.state.trained.parameters.len();
        VailWork::new(self.encoder.shape(), parameters, self.config.code_size, panels)
    }

    fn learn(&mut self, rows: &Rows, work: &mut VailWork, draws: &mut Draws) -> Result<Health, RewardError> {
        if self.config.code == Code::Sampled {
            for pack in work.noise.iter_mut().flatten() {
                for pair in pack.0.as_chunks_mut::<2>().0 {
                    *pair = draws.normal_pair();
                }
            }
        }
        self.step(rows, work)
    }

    fn save(&self) -> Result<Record, RewardError> {
        Record::new(Self::NAME, &self.state)
    }

    fn restore(&mut self, record: &Record) -> Result<(), RewardError> {
        let state: VailState = record.state(Self::NAME)?;
        state.trained.fits(self.state.trained.parameters.len())?;
        if !(state.beta.is_finite() && state.beta >= 0.0) {
            return Err(RewardError::Record { problem: format!("its β is {}", state.beta) });
        }
        self.state = state;
        self.load();
        Ok(())
    }
}
