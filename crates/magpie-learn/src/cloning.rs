//! Behaviour cloning: a policy learns to act as demonstrators did, by regression of their actions on observations.
//!
//! ```text
//! mean action   minimises  E = mean over rows and dimensions of (μ(o) − a)²,  with Adam on shuffled minibatches
//! log σ         ½ log of the mean of (μ(o) − a)² over the held-out rows, one a dimension
//! ```
//!
//! For a given mean this σ maximises the Gaussian likelihood of the held-out actions. Observations are normalised by the
//! statistics of the training rows. After each epoch E is measured on the held-out rows; the policy with the lowest one is
//! the result, and [`Cloning::is_finished`] once it has not fallen for some epochs (early stopping).

use magpie_nn::adam::{Adam, AdamConfig};
use magpie_nn::normaliser::{Frozen, Moments, RunningMeanStd};
use magpie_nn::parts::{BLOCK_PANELS, BLOCK_ROWS};
use magpie_nn::rows::gather;
use magpie_nn::{Gradient, Network, Shape, Trace, init};
use magpie_random::Stream;
use magpie_settings::settings;
use magpie_simd::{Isa, LANES, Pack};
use serde::{Deserialize, Serialize};

use crate::agent::{OBSERVATION_LIMIT, Policy};

settings! {
    /// How a policy is cloned from demonstrations.
    pub struct CloningConfig {
        /// Passes over the training rows, if the validation error goes on falling.
        epochs: u64 = 500, in 1..=1_000_000_000;
        /// Rows of a minibatch.
        batch: usize = 64, in 1..=1_000_000, unit "rows";
        /// Epochs without a lower validation error after which learning stops.
        patience: u64 = 30, in 1..=1_000_000_000, unit "epochs";
        /// Share of each demonstration that is held out for validation: its last steps, because neighbouring steps are too much alike
        /// to be told apart.
        validation: f64 = 0.2, in 0.01..=0.9;
        /// The optimiser.
        adam: AdamConfig;
    }
}

/// Less spread than this is not believed: a demonstrator that acts by its mean would be copied without any.
const LEAST_STD: f64 = 0.01;

/// Rows of raw observations and of the actions that were taken on them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Examples {
    /// Observations, one row after the other.
    pub observations: Vec<f32>,
    /// Actions, likewise.
    pub actions: Vec<f32>,
}

/// What a policy is cloned from; neither part may be empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CloningData {
    /// To learn from.
    pub training: Examples,
    /// Held out.
    pub validation: Examples,
}

/// What an epoch gave. Errors are mean squares, over rows and dimensions of the action.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CloningReport {
    /// Epochs made.
    pub epoch: u64,
    /// Error on the training rows, each before the minibatch that it belongs to is learned from.
    pub training_error: f64,
    /// Error on the held-out rows.
    pub validation_error: f64,
    /// The lowest one so far.
    pub best_error: f64,
    /// The epoch that had it.
    pub best_epoch: u64,
    /// Share of the variance of the held-out actions that the best policy explains; NaN if they do not vary.
    pub explained_variance: f64,
}

/// Why cloning cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CloningError {
    /// A value that is not finite.
    #[error("the error of the actions is not finite; a smaller learning rate helps")]
    NotFinite,
    /// A state of something else.
    #[error("the saved state is that of another network")]
    Foreign,
}

/// All that changes: a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CloningState {
    epoch: u64,
    /// The actor's parameters.
    weights: Vec<f32>,
    adam: Adam,
    /// The policy of the epoch with the lowest validation error, with log σ.
    best: Vec<f32>,
    best_error: f64,
    best_epoch: u64,
}

impl CloningState {
    /// Epochs made.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }
}

/// A policy that is being cloned.
pub struct Cloning {
    config: CloningConfig,
    data: CloningData,
    seed: u64,
    normaliser: RunningMeanStd,
    /// Variance of the held-out actions, mean over dimensions.
    variance: f64,
    state: CloningState,
    regression: Regression,
    gradient: Gradient,
    /// The gradient as a row.
    row: Vec<f32>,
}

impl Cloning {
    /// A beginner, with the initial weights of PPO's agents.
    pub fn new(actor: &Shape, config: CloningConfig, data: CloningData, seed: u64) -> Cloning {
        let (obs, act) = (actor.inputs(), actor.outputs());
        for Examples { observations, actions } in [&data.training, &data.validation] {
            let rows = actions.len() / act;
            assert!(
                rows > 0 && actions.len() == rows * act && observations.len() == rows * obs,
                "rows that do not fit the actor"
            );
        }
        let mut moments = Moments::new(obs);
        moments.add_rows(&data.training.observations);
        let mut normaliser = RunningMeanStd::new(obs);
        normaliser.update(&moments);
        let mut of_actions = Moments::new(act);
        of_actions.add_rows(&data.validation.actions);
        let variance = of_actions.squares().iter().sum::<f64>() / (of_actions.count() * act as f64);
        let mut draws = Stream::new(seed, "initial parameters").draws(0, 0);
        let weights = init::orthogonal(actor, std::f32::consts::SQRT_2, 0.01, &mut draws);
        let mut best = weights.clone();
        best.resize(actor.parameters() + act, 0.0);
        let adam = Adam::new(weights.len());
        let state = CloningState { epoch: 0, weights, adam, best, best_error: f64::INFINITY, best_epoch: 0 };
        Cloning {
            regression: Regression::new(actor, normaliser.freeze(OBSERVATION_LIMIT)),
            gradient: Gradient::new(actor),
            row: vec![0.0; actor.parameters()],
            config,
            data,
            seed,
            normaliser,
            variance,
            state,
        }
    }

    /// Epochs made.
    pub fn epochs(&self) -> u64 {
        self.state.epoch
    }

    /// Whether all epochs are made, or the validation error has not fallen for long enough.
    pub fn is_finished(&self) -> bool {
        let CloningState { epoch, best_epoch, .. } = self.state;
        epoch >= self.config.epochs || epoch - best_epoch >= self.config.patience
    }

    /// One pass over the training rows.
    pub fn epoch(&mut self) -> Result<CloningReport, CloningError> {
        let Cloning { config, data, seed, state, regression, gradient, row, .. } = self;
        let act = regression.network.shape().outputs();
        let mut order: Vec<u32> = (0..(data.training.actions.len() / act) as u32).collect();
        Stream::new(*seed, "cloning minibatches").draws(0, state.epoch).shuffle(&mut order);
        let mut squares = 0.0;
        for minibatch in order.chunks(config.batch) {
            regression.network.load(&state.weights);
            gradient.clear();
            let scale = 2.0 / (minibatch.len() * act) as f32;
            for rows in minibatch.chunks(BLOCK_ROWS) {
                squares += regression.errors(&data.training, rows).iter().sum::<f64>();
                regression.backward(scale, gradient);
            }
            gradient.write(row);
            state.adam.step(regression.isa, &config.adam, &mut state.weights, row);
        }
        state.epoch += 1;
        let training_error = squares / (order.len() * act) as f64;

        regression.network.load(&state.weights);
        let held_out: Vec<u32> = (0..(data.validation.actions.len() / act) as u32).collect();
        let mut of_dimension = vec![0.0; act];
        for rows in held_out.chunks(BLOCK_ROWS) {
            let errors = regression.errors(&data.validation, rows);
            of_dimension.iter_mut().zip(errors).for_each(|(sum, error)| *sum += error);
        }
        of_dimension.iter_mut().for_each(|sum| *sum /= held_out.len() as f64);
        let validation_error = of_dimension.iter().sum::<f64>() / act as f64;
        if !(training_error.is_finite() && validation_error.is_finite()) {
            return Err(CloningError::NotFinite);
        }
        if validation_error < state.best_error {
            let log_std = of_dimension.iter().map(|square| square.sqrt().max(LEAST_STD).ln() as f32);
            state.best = state.weights.iter().copied().chain(log_std).collect();
            (state.best_error, state.best_epoch) = (validation_error, state.epoch);
        }
        Ok(CloningReport {
            epoch: state.epoch,
            training_error,
            validation_error,
            best_error: state.best_error,
            best_epoch: state.best_epoch,
            explained_variance: match self.variance {
                0.0 => f64::NAN,
                variance => 1.0 - state.best_error / variance,
            },
        })
    }

    /// The policy with the lowest validation error so far.
    pub fn policy(&self) -> Policy {
        Policy { parameters: self.state.best.clone(), normaliser: self.normaliser.clone() }
    }

    /// All that must be kept to go on.
    pub fn state(&self) -> &CloningState {
        &self.state
    }

    /// Goes on from a state of one with the same actor.
    pub fn restore(&mut self, state: CloningState) -> Result<(), CloningError> {
        let lengths = |state: &CloningState| {
            [
                state.weights.len(),
                state.best.len(),
                state.adam.moments().0.len(),
                state.adam.moments().1.len(),
            ]
        };
        if lengths(&state) != lengths(&self.state) || state.best_epoch > state.epoch {
            return Err(CloningError::Foreign);
        }
        self.state = state;
        Ok(())
    }
}

/// The network with room for a block of rows.
struct Regression {
    isa: Isa,
    network: Network,
    normaliser: Frozen,
    trace: Trace,
    raw: Vec<Pack>,
    normal: Vec<Pack>,
    /// Actions, then by how much the network missed them.
    error: Vec<Pack>,
    panels: usize,
}

impl Regression {
    fn new(actor: &Shape, normaliser: Frozen) -> Regression {
        let isa = Isa::best();
        let room = |width: usize| vec![Pack::default(); BLOCK_PANELS * width];
        Regression {
            isa,
            network: Network::new(actor, isa, false),
            normaliser,
            trace: Trace::new(actor, BLOCK_PANELS),
            raw: room(actor.inputs()),
            normal: room(actor.inputs()),
            error: room(actor.outputs()),
            panels: 0,
        }
    }

    /// Sends a block of rows through the network: the sum of squared errors of each dimension of the action.
    fn errors(&mut self, examples: &Examples, rows: &[u32]) -> Vec<f64> {
        let Regression { isa, network, normaliser, trace, raw, normal, error, panels } = self;
        let (obs, act) = (network.shape().inputs(), network.shape().outputs());
        *panels = rows.len().div_ceil(LANES);
        let (raw, normal) = (&mut raw[..*panels * obs], &mut normal[..*panels * obs]);
        let error = &mut error[..*panels * act];
        gather(*isa, &examples.observations, obs, rows, raw);
        gather(*isa, &examples.actions, act, rows, error);
        normaliser.panels(*isa, raw, normal);
        let means = network.forward(normal, trace);
        let mut squares = vec![0.0; act];
        for (panel, (means, error)) in means.chunks(act).zip(error.chunks_mut(act)).enumerate() {
            let live = LANES.min(rows.len() - panel * LANES);
            for ((mean, error), square) in means.iter().zip(error).zip(&mut squares) {
                for (lane, (mean, error)) in mean.0.iter().zip(&mut error.0).enumerate() {
                    // Lanes without a row must not be learned from.
                    *error = if lane < live { mean - *error } else { 0.0 };
                    *square += f64::from(*error).powi(2);
                }
            }
        }
        squares
    }

    /// Adds the gradient of `scale`/2 times the squared errors of the block that went through last.
    fn backward(&mut self, scale: f32, gradient: &mut Gradient) {
        let Regression { network, trace, normal, error, panels, .. } = self;
        let (obs, act) = (network.shape().inputs(), network.shape().outputs());
        let error = &mut error[..*panels * act];
        error.iter_mut().flat_map(|pack| &mut pack.0).for_each(|error| *error *= scale);
        network.backward(&normal[..*panels * obs], trace, error, Some(gradient), None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OBS: usize = 5;
    const ACT: usize = 2;

    /// What a linear expert does on observations of unequal size, with noise of this spread.
    fn linear_expert(rows: usize, noise: f32, seed: u64) -> Examples {
        let mut draws = Stream::new(seed, "expert").draws(0, 0);
        let mut examples = Examples::default();
        for _ in 0..rows {
            let o: [f32; OBS] =
                std::array::from_fn(|i| 10_f32.powi(i as i32 - 2) * draws.normal() + i as f32);
            let u: [f32; OBS] = std::array::from_fn(|i| (o[i] - i as f32) / 10_f32.powi(i as i32 - 2));
            let actions = [0.3 * u[0] - 0.2 * u[3], 0.1 + 0.25 * u[4] - 0.1 * u[1]];
            examples.observations.extend(o);
            examples.actions.extend(actions.map(|a| a + noise * draws.normal()));
        }
        examples
    }

    fn cloning(noise: f32, config: CloningConfig, seed: u64) -> Cloning {
        let data =
            CloningData { training: linear_expert(1000, noise, 1), validation: linear_expert(300, noise, 2) };
        Cloning::new(&Shape::tanh(&[OBS, 32, 32, ACT]).unwrap(), config, data, seed)
    }

    fn finished(mut cloning: Cloning) -> (Cloning, CloningReport) {
        let mut last = cloning.epoch().unwrap();
        while !cloning.is_finished() {
            last = cloning.epoch().unwrap();
        }
        (cloning, last)
    }

    #[test]
    fn a_linear_expert_is_cloned() {
        let config = CloningConfig { epochs: 100, ..CloningConfig::default() };
        let (cloning, report) = finished(cloning(0.0, config, 1));
        // Its actions have variances of 0.13 and 0.0725.
        assert!(report.best_error < 1e-3, "{report:?}");
        assert!(report.explained_variance > 0.99, "{report:?}");
        let policy = cloning.policy();
        assert!((policy.normaliser.mean()[4] - 4.0).abs() < 10.0 && policy.normaliser.count() > 999.0);
        assert_eq!(policy.parameters.len(), (OBS + 1) * 32 + 33 * 32 + 33 * ACT + ACT);
    }

    #[test]
    fn the_spread_is_that_of_the_expert() {
        let config = CloningConfig { epochs: 60, ..CloningConfig::default() };
        let (cloning, report) = finished(cloning(0.2, config, 1));
        assert!((0.04..0.055).contains(&report.best_error), "noise of 0.2 cannot be predicted: {report:?}");
        for log_std in &cloning.policy().parameters[cloning.state.weights.len()..] {
            assert!((0.19..0.25).contains(&log_std.exp()), "{log_std}");
        }
    }

    #[test]
    fn learning_stops_once_the_validation_error_no_longer_falls() {
        let config = CloningConfig { epochs: 10_000, patience: 5, ..CloningConfig::default() };
        let (cloning, report) = finished(cloning(0.2, config, 1));
        assert!(report.epoch < 500 && report.epoch == report.best_epoch + 5, "{report:?}");
        assert!(report.validation_error >= report.best_error);
        assert_ne!(cloning.policy().parameters[..cloning.state.weights.len()], cloning.state.weights);
    }

    #[test]
    fn it_goes_on_as_if_it_had_not_stopped() {
        let config = CloningConfig { epochs: 6, batch: 200, ..CloningConfig::default() };
        let (whole, _) = finished(cloning(0.1, config.clone(), 3));
        let mut half = cloning(0.1, config.clone(), 3);
        for _ in 0..3 {
            half.epoch().unwrap();
        }
        let mut rest = cloning(0.1, config.clone(), 3);
        rest.restore(half.state().clone()).unwrap();
        assert_eq!(finished(rest).0.state(), whole.state());
        let (other, _) = finished(cloning(0.1, config, 4));
        assert_ne!(other.policy(), whole.policy());
        let shape = Shape::tanh(&[OBS, 3, ACT]).unwrap();
        let mut foreign = Cloning::new(&shape, CloningConfig::default(), whole.data.clone(), 3);
        assert_eq!(foreign.restore(whole.state().clone()), Err(CloningError::Foreign));
    }

    #[test]
    fn the_gradient_is_that_of_the_error() {
        let mut cloning = cloning(0.1, CloningConfig::default(), 5);
        // A last panel that is not full, and weights that are not close to zero.
        let rows: Vec<u32> = (0..37).collect();
        let mut weights: Vec<f32> = cloning.state.weights.iter().map(|w| w + 0.05).collect();
        let Cloning { regression, gradient, data, row, .. } = &mut cloning;
        let mut error = |weights: &[f32]| {
            regression.network.load(weights);
            regression.errors(&data.training, &rows).iter().sum::<f64>() / 74.0
        };
        let mut slopes = Vec::new();
        for at in [0, 7, 200, 1200, 1280, 1281] {
            let (step, was) = (1e-2, weights[at]);
            weights[at] = was + step;
            let above = error(&weights);
            weights[at] = was - step;
            let below = error(&weights);
            weights[at] = was;
            slopes.push((at, (above - below) / f64::from(2.0 * step)));
        }
        error(&weights);
        gradient.clear();
        regression.backward(2.0 / 74.0, gradient);
        gradient.write(row);
        for (at, slope) in slopes {
            assert!(
                (f64::from(row[at]) - slope).abs() < 2e-3 * (1.0 + slope.abs()),
                "{at}: {} {slope}",
                row[at]
            );
        }
        assert!(row[..160].iter().any(|g| g.abs() > 1e-3), "a gradient of zeros proves nothing");
    }
}
