//! Loss and gradient of a step of DiffAIL.

use magpie_simd::Pack;

use super::DiffailDiscriminator;
use super::config::Output;
use super::predictor::{Diffused, Predictor, PredictorWork};
use crate::adversarial::{Penalty, Rows, Side, Slopes, softplus};
use crate::health::Health;

/// Memory for a step.
#[derive(Debug)]
pub(crate) struct DiffailWork {
    predictor: PredictorWork,
    /// Of expert, policy and mixed rows.
    pub(super) diffused: [Diffused; 3],
    /// The gradient of the last loss.
    pub row: Vec<f32>,
    /// E of each row, then what the loss makes of it.
    errors: Vec<Pack>,
    d_errors: Vec<Pack>,
    lengths: Slopes,
}

impl DiffailWork {
    pub(super) fn new(predictor: &Predictor, parameters: usize, panels: usize) -> DiffailWork {
        DiffailWork {
            predictor: predictor.work(panels),
            diffused: std::array::from_fn(|_| Diffused::default()),
            row: vec![0.0; parameters],
            errors: Vec::new(),
            d_errors: Vec::new(),
            lengths: Slopes::default(),
        }
    }
}

impl DiffailDiscriminator {
    /// Losses of the rows with the t and ε in `work`; their parameter gradient is left in `work.row`.
    pub(super) fn loss(&self, rows: &Rows, work: &mut DiffailWork) -> Health {
        let DiffailWork { predictor, diffused, errors, d_errors, .. } = &mut *work;
        let mut health = Health::default();
        predictor.clear();
        for (side, input, at) in [(Side::Expert, &rows.expert, 0), (Side::Policy, &rows.policy, 1)] {
            self.predictor.forward(input, &diffused[at], predictor, errors);
            d_errors.clear();
            d_errors.resize(errors.len(), Pack::default());
            let (mut loss, mut right, mut reward) = (0.0, 0.0, 0.0);
            let pairs = errors.iter().flat_map(|e| e.0).zip(d_errors.iter_mut().flat_map(|d| d.0.iter_mut()));
            for (error, derivative) in pairs.take(rows.count) {
                let verdict = Verdict::new(side, self.config.discriminator, error.into());
                loss += verdict.loss;
                right += f64::from(u8::from((verdict.d > 0.5) == (side == Side::Expert)));
                reward -= log_of_rest(error.into());
                *derivative = (verdict.derivative / rows.count as f64) as f32;
            }
            let n = rows.count.max(1) as f64;
            health.set_side(side, loss / n, right / n, reward / n);
            self.predictor.backward(d_errors, predictor);
        }
        if self.config.gradient_penalty > 0.0 {
            let penalty = self.penalise(rows, work);
            (health.gradient_penalty, health.slope) = (penalty.value, penalty.slope);
        }
        work.predictor.write(&mut work.row);
        health
    }

    fn penalise(&self, rows: &Rows, work: &mut DiffailWork) -> Penalty {
        let DiffailWork { predictor, diffused, errors, lengths, .. } = work;
        let diffused = &diffused[2];
        self.predictor.forward(&rows.mixed, diffused, predictor, errors);
        let slopes = self.predictor.slopes(errors, diffused, predictor);
        lengths.clear(rows.panels());
        lengths.add(slopes);
        let penalty = lengths.finish(rows.count, self.config.gradient_penalty);
        self.predictor.backward_slopes(errors, lengths.factors(), diffused, predictor);
        penalty
    }
}

/// log(1 - e^-E), with E kept away from 0, where it is infinite.
fn log_of_rest(error: f64) -> f64 {
    (-(-error.max(ERROR_FLOOR)).exp_m1()).ln()
}

/// Public code adds this to 1 - D.
const ERROR_FLOOR: f64 = 1e-8;

/// What the loss makes of one E.
struct Verdict {
    d: f64,
    loss: f64,
    /// With respect to E.
    derivative: f64,
}

impl Verdict {
    fn new(side: Side, output: Output, error: f64) -> Verdict {
        let d = (-error).exp();
        let (loss, derivative) = match (output, side) {
            (Output::Probability, Side::Expert) => (error, 1.0),
            (Output::Probability, Side::Policy) => {
                (-log_of_rest(error), -1.0 / error.max(ERROR_FLOOR).exp_m1())
            }
            (Output::Logit, Side::Expert) => (softplus(-d), (1.0 - sigmoid(d)) * d),
            (Output::Logit, Side::Policy) => (softplus(d), -sigmoid(d) * d),
        };
        Verdict { d, loss, derivative }
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}
