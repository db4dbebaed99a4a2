//! Parameters with their optimiser state.

use magpie_nn::adam::{Adam, AdamConfig};
use magpie_simd::Isa;
use serde::{Deserialize, Serialize};

use crate::error::RewardError;

/// The parameters of a network with Adam's state, as saved in a checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Trained {
    pub parameters: Vec<f32>,
    adam: Adam,
}

impl Trained {
    pub fn new(parameters: Vec<f32>) -> Trained {
        let adam = Adam::new(parameters.len());
        Trained { parameters, adam }
    }

    /// Takes one step against `gradient`, unless the loss or the gradient is not finite.
    pub fn step(
        &mut self,
        isa: Isa,
        model: &'static str,
        learning_rate: f64,
        loss: f64,
        gradient: &[f32],
    ) -> Result<(), RewardError> {
        let problem = match (loss.is_finite(), gradient.iter().all(|g| g.is_finite())) {
            (false, _) => "the loss",
            (true, false) => "a gradient",
            (true, true) => {
                let config = AdamConfig { learning_rate, epsilon: 1e-8, ..AdamConfig::default() };
                self.adam.step(isa, &config, &mut self.parameters, gradient);
                return Ok(());
            }
        };
        Err(RewardError::NotFinite { model, what: problem.to_owned() })
    }

    /// The number of steps taken.
    pub fn steps(&self) -> u64 {
        self.adam.steps()
    }

    /// Whether a saved state has the size of this model.
    pub fn fits(&self, parameters: usize) -> Result<(), RewardError> {
        let (m, v) = self.adam.moments();
        for (what, found) in
            [("parameters", self.parameters.len()), ("moments", m.len()), ("squared moments", v.len())]
        {
            if found != parameters {
                return Err(RewardError::Record {
                    problem: format!("it has {found} {what}, but this configuration has {parameters}"),
                });
            }
        }
        match self.parameters.iter().chain(m).chain(v).all(|p| p.is_finite()) {
            true => Ok(()),
            false => {
                Err(RewardError::Record { problem: "it contains values that are not finite".to_owned() })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_or_gradient_that_is_not_finite_changes_nothing() {
        let mut trained = Trained::new(vec![1.0, 2.0]);
        let before = trained.clone();
        let isa = Isa::best();
        for (loss, gradient, what) in
            [(f64::NAN, [0.0; 2], "the loss"), (1.0, [0.0, f32::INFINITY], "a gradient")]
        {
            let error = trained.step(isa, "x", 0.1, loss, &gradient).unwrap_err();
            assert_eq!(error, RewardError::NotFinite { model: "x", what: what.to_owned() });
            assert_eq!(trained, before);
        }
        trained.step(isa, "x", 0.1, 1.0, &[1.0; 2]).unwrap();
        assert_ne!(trained, before);
    }
}
