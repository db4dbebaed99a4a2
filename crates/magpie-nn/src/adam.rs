//! Adam, as PyTorch computes it.
//!
//! ```text
//! m ← β₁ m + (1 - β₁) g,  v ← β₂ v + (1 - β₂) g²,  p ← p - lr/(1 - β₁ᵗ) · m / (√v / √(1 - β₂ᵗ) + ε)
//! ```

use magpie_settings::{above, settings};
use magpie_simd::{Isa, LANES, Lanes, Number, Pack, Simd, SimdTask};
use serde::{Deserialize, Serialize};

settings! {
    /// Hyperparameters of Adam.
    #[derive(Copy)]
    pub struct AdamConfig {
        /// Learning rate of Adam. Lower it if a run stops because a loss is not finite.
        learning_rate: f64 = 1e-3, by [Task], in above(0.0);
        /// Decay rate of the mean gradient (β₁).
        beta1: f64 = 0.9, in 0.0..1.0;
        /// Decay rate of the mean squared gradient (β₂).
        beta2: f64 = 0.999, in 0.0..1.0;
        /// Constant added to the denominator for numerical stability (ε).
        epsilon: f64 = 1e-5, in above(0.0);
    }
}

/// Adam's state for one row of parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Adam {
    steps: u64,
    m: Vec<f32>,
    v: Vec<f32>,
}

impl Adam {
    /// The initial state, for a row of `parameters`.
    pub fn new(parameters: usize) -> Adam {
        Adam { steps: 0, m: vec![0.0; parameters], v: vec![0.0; parameters] }
    }

    /// Takes one step along `gradient`. The configuration may change from step to step.
    pub fn step(&mut self, isa: Isa, config: &AdamConfig, parameters: &mut [f32], gradient: &[f32]) {
        assert!(
            parameters.len() == self.m.len() && gradient.len() == self.m.len(),
            "parameters, gradient and state differ in length"
        );
        self.steps += 1;
        // In f64, as in PyTorch: in f32, 1 - 0.999ᵗ would lose three digits.
        let t = self.steps as f64;
        let correction1 = 1.0 - config.beta1.powf(t);
        let correction2 = (1.0 - config.beta2.powf(t)).sqrt();
        isa.run(Step {
            betas: [config.beta1, config.beta2],
            rate: (config.learning_rate / correction1) as f32,
            root_scale: (1.0 / correction2) as f32,
            epsilon: config.epsilon as f32,
            m: &mut self.m,
            v: &mut self.v,
            parameters,
            gradient,
        });
    }

    /// The number of steps taken.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// First and second moments, m and v.
    pub fn moments(&self) -> (&[f32], &[f32]) {
        (&self.m, &self.v)
    }
}

struct Step<'a> {
    betas: [f64; 2],
    rate: f32,
    root_scale: f32,
    epsilon: f32,
    m: &'a mut [f32],
    v: &'a mut [f32],
    parameters: &'a mut [f32],
    gradient: &'a [f32],
}

impl SimdTask for Step<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, token: S) {
        let constant = |value| Lanes::splat(token, value);
        let [beta1, beta2] = self.betas.map(|beta| constant(beta as f32));
        let [rest1, rest2] = self.betas.map(|beta| constant((1.0 - beta) as f32));
        let (rate, root_scale, epsilon) =
            (constant(-self.rate), constant(self.root_scale), constant(self.epsilon));

        let moments = self.m.chunks_mut(LANES).zip(self.v.chunks_mut(LANES));
        let rows = self.parameters.chunks_mut(LANES).zip(self.gradient.chunks(LANES));
        for ((m_row, v_row), (p_row, g_row)) in moments.zip(rows) {
            let load = |row: &[f32]| match row.first_chunk() {
                Some(whole) => Lanes::load(token, &Pack(*whole)),
                None => {
                    let mut pack = Pack::default();
                    pack.0[..row.len()].copy_from_slice(row);
                    Lanes::load(token, &pack)
                }
            };
            let g = load(g_row);
            let m = beta1.mul_add(load(m_row), rest1 * g);
            let v = beta2.mul_add(load(v_row), rest2 * g * g);
            let p = (rate * m / v.sqrt().mul_add(root_scale, epsilon)) + load(p_row);
            for (row, value) in [(m_row, m), (v_row, v), (p_row, p)] {
                let mut pack = Pack::default();
                value.store(&mut pack);
                row.copy_from_slice(&pack.0[..row.len()]);
            }
        }
    }
}
