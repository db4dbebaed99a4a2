//! Loss and gradient of a step of VAIL.

use magpie_nn::{Gradient, Shape, Tangent, Trace};
use magpie_simd::{Isa, LANES, Lanes, Number, Pack, Simd, Task, Transcendental};

use super::VailDiscriminator;
use crate::adversarial::{Penalty, Rows, Side, Slopes, cross_entropy};
use crate::health::{Bottleneck, Health};
use crate::panels::mean;

/// Added to σ² under the logarithm.
const VARIANCE_FLOOR: f32 = 1e-8;

/// Memory for a step.
#[derive(Debug)]
pub(crate) struct VailWork {
    trace: Trace,
    tangent: Tangent,
    gradient: Gradient,
    /// The gradient of the last loss.
    pub row: Vec<f32>,
    /// Of w and b.
    head: Vec<f32>,
    /// σ, for every entry of the code.
    spreads: Vec<Pack>,
    /// Of expert, policy and mixed rows.
    pub noise: [Vec<Pack>; 3],
    logits: Vec<Pack>,
    rewards: Vec<Pack>,
    d_code: Vec<Pack>,
    bend: Vec<Pack>,
    slopes: Vec<Pack>,
    lengths: Slopes,
}

impl VailWork {
    /// `size` entries of the code.
    pub fn new(shape: &Shape, parameters: usize, size: usize, panels: usize) -> VailWork {
        VailWork {
            trace: Trace::new(shape, panels),
            tangent: Tangent::new(shape, panels),
            gradient: Gradient::new(shape),
            row: vec![0.0; parameters],
            head: vec![0.0; size + 1],
            spreads: Vec::new(),
            noise: std::array::from_fn(|_| vec![Pack::default(); panels * size]),
            logits: Vec::new(),
            rewards: Vec::new(),
            d_code: Vec::new(),
            bend: Vec::new(),
            slopes: Vec::new(),
            lengths: Slopes::default(),
        }
    }
}

impl VailDiscriminator {
    /// Losses of the rows with the noise in `work`; their parameter gradient is left in `work.row`.
    pub(super) fn loss(&self, rows: &Rows, work: &mut VailWork) -> Health {
        let mut health = Health::default();
        work.gradient.clear();
        work.head.fill(0.0);
        let mut kl = 0.0;
        for (side, input) in [(Side::Expert, &rows.expert), (Side::Policy, &rows.policy)] {
            kl += self.side_loss(side, input, rows.count, work, &mut health);
        }
        kl /= (2 * rows.count) as f64;
        health.bottleneck = Some(Bottleneck { kl, beta: self.state.beta });
        if self.config.gradient_penalty > 0.0 {
            let penalty = self.penalise(rows, work);
            (health.gradient_penalty, health.slope) = (penalty.value, penalty.slope);
        }
        let (encoder, head) = work.row.split_at_mut(self.encoder.shape().parameters());
        work.gradient.write(encoder);
        head.copy_from_slice(&work.head);
        health
    }

    /// Cross-entropy and bottleneck of one side; gives its sum of KL.
    fn side_loss(
        &self,
        side: Side,
        input: &[Pack],
        count: usize,
        work: &mut VailWork,
        health: &mut Health,
    ) -> f64 {
        let VailWork { trace, gradient, head, spreads, noise, logits, rewards, d_code, .. } = work;
        let noise = &noise[usize::from(side == Side::Policy)];
        let (w, b) = self.head();
        let size = w.len();
        let codes = self.encoder.forward(input, trace);
        spreads_of(self.isa, codes, size, spreads);
        let panels = codes.len() / (2 * size);
        logits.clear();
        logits.resize(panels, Pack([b; LANES]));
        let mut kl = 0.0;
        for (panel, logit) in logits.iter_mut().enumerate() {
            for (j, &w) in w.iter().enumerate() {
                let (mu, s) = (&codes[panel * 2 * size + j], &spreads[panel * size + j]);
                let noise = &noise[panel * size + j];
                for lane in 0..LANES {
                    let (mu, s) = (mu.0[lane], s.0[lane]);
                    logit.0[lane] += w * (mu + s * noise.0[lane]);
                    if panel * LANES + lane < count {
                        let square = s * s;
                        kl += 0.5 * f64::from(mu * mu + square - (square + VARIANCE_FLOOR).ln() - 1.0);
                    }
                }
            }
        }
        rewards.clone_from(logits);
        self.config.reward.apply(self.isa, rewards);
        let reward = mean(rewards, count);
        let (loss, accuracy) = cross_entropy(side, logits, count);
        health.set_side(side, loss, accuracy, reward);

        let price = (self.state.beta / (2 * count) as f64) as f32;
        d_code.resize(codes.len(), Pack::default());
        for (panel, d) in logits.iter().enumerate() {
            for (j, &w) in w.iter().enumerate() {
                let (at, spread) = (panel * 2 * size + j, &spreads[panel * size + j]);
                let noise = &noise[panel * size + j];
                for lane in 0..LANES {
                    let (d, s, noise) = (d.0[lane], spread.0[lane], noise.0[lane]);
                    let mu = codes[at].0[lane];
                    let price = if panel * LANES + lane < count { price } else { 0.0 };
                    head[j] += d * (mu + s * noise);
                    d_code[at].0[lane] = d * w + price * mu;
                    let d_spread = d * w * noise + price * (s - s / (s * s + VARIANCE_FLOOR));
                    d_code[at + size].0[lane] = d_spread * s * (1.0 - s);
                }
            }
            head[size] += d.0.iter().sum::<f32>();
        }
        self.encoder.backward(input, trace, d_code, Some(gradient), None);
        kl
    }

    /// The slope of d is c · J with c = ∂d/∂h, and c depends on h through σ.
    fn penalise(&self, rows: &Rows, work: &mut VailWork) -> Penalty {
        let VailWork {
            trace, tangent, gradient, head, spreads, noise, d_code, bend, slopes, lengths, ..
        } = work;
        let (input, noise) = (&rows.mixed, &noise[2]);
        let (w, _) = self.head();
        let size = w.len();
        let codes = self.encoder.forward(input, trace);
        spreads_of(self.isa, codes, size, spreads);
        let length = codes.len();
        d_code.resize(length, Pack::default());
        bend.clear();
        bend.resize(length, Pack::default());
        for panel in 0..rows.panels() {
            for (j, &w) in w.iter().enumerate() {
                let at = panel * 2 * size + j;
                d_code[at] = Pack([w; LANES]);
                for lane in 0..LANES {
                    let (s, noise) = (spreads[panel * size + j].0[lane], noise[panel * size + j].0[lane]);
                    d_code[at + size].0[lane] = w * noise * s * (1.0 - s);
                }
            }
        }
        slopes.resize(input.len(), Pack::default());
        self.encoder.backward(input, trace, d_code, None, Some(slopes));
        lengths.clear(rows.panels());
        lengths.add(slopes);
        let penalty = lengths.finish(rows.count, self.config.gradient_penalty);
        lengths.turn(slopes);
        let along = self.encoder.tangent(trace, slopes, tangent);
        for panel in 0..rows.panels() {
            for (j, &w) in w.iter().enumerate() {
                let at = panel * 2 * size + j;
                for lane in 0..LANES {
                    let (s, noise) = (spreads[panel * size + j].0[lane], noise[panel * size + j].0[lane]);
                    let slope = s * (1.0 - s);
                    head[j] += along[at].0[lane] + noise * slope * along[at + size].0[lane];
                    bend[at + size].0[lane] = w * noise * slope * (1.0 - 2.0 * s) * along[at + size].0[lane];
                }
            }
        }
        self.encoder.backward_tangent(input, trace, slopes, tangent, bend, d_code, gradient, None);
        penalty
    }
}

/// σ = sigmoid of the second half of each code.
fn spreads_of(isa: Isa, codes: &[Pack], size: usize, spreads: &mut Vec<Pack>) {
    spreads.resize(codes.len() / 2, Pack::default());
    isa.run(Spreads { codes, size, spreads });
}

struct Spreads<'a> {
    codes: &'a [Pack],
    size: usize,
    spreads: &'a mut [Pack],
}

impl Task for Spreads<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, token: S) {
        let panels = self.codes.chunks_exact(2 * self.size).zip(self.spreads.chunks_exact_mut(self.size));
        for (code, spread) in panels {
            for (h, s) in code[self.size..].iter().zip(spread) {
                Lanes::load(token, h).sigmoid().store(s);
            }
        }
    }
}
