//! Loss and gradient of GIRIL's autoencoder.

use magpie_demos::Sizes;
use magpie_nn::normaliser::Frozen;
use magpie_nn::rows::gather;
use magpie_nn::{Gradient, Trace};
use magpie_random::Draws;
use magpie_simd::{Isa, LANES, Pack};

use super::{GirilLoss, Networks};
use crate::transitions::Transitions;

/// The demonstrations as rows (s, s') and a, normalised once for all epochs.
pub(super) struct Steps {
    sizes: Sizes,
    both: Vec<f32>,
    actions: Vec<f32>,
}

impl Steps {
    pub fn new(sizes: Sizes, expert: &Transitions, normaliser: &Frozen) -> Steps {
        let width = sizes.observation;
        let row = |values: &[f32]| -> Vec<f32> {
            values.iter().enumerate().map(|(entry, &value)| normaliser.value(entry, value)).collect()
        };
        let rows = expert.observations.chunks_exact(width).zip(expert.next_observations.chunks_exact(width));
        Steps {
            sizes,
            both: rows.flat_map(|(before, after)| [row(before), row(after)].concat()).collect(),
            actions: expert.actions.to_vec(),
        }
    }
}

/// The three terms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Loss {
    pub reconstruction: f64,
    pub kl: f64,
    pub action: f64,
}

impl Loss {
    pub fn total(&self) -> f64 {
        self.reconstruction + self.kl + self.action
    }
}

/// Memory for a step.
pub(super) struct Pass {
    sizes: Sizes,
    pub count: usize,
    /// (s, s').
    pub both: Vec<Pack>,
    pub actions: Vec<Pack>,
    pub noise: Vec<Pack>,
    /// (s, z).
    pair: Vec<Pack>,
    d_after: Vec<Pack>,
    d_pair: Vec<Pack>,
    d_code: Vec<Pack>,
    encoder: (Trace, Gradient),
    decoder: (Trace, Gradient),
    /// The gradient of the last loss: the encoder's, then the decoder's.
    pub row: Vec<f32>,
}

impl Pass {
    pub fn new(networks: &Networks, sizes: Sizes, panels: usize) -> Pass {
        let room = |width: usize| vec![Pack::default(); panels * width];
        let [encoder, decoder] = [&networks.encoder, &networks.decoder].map(|n| n.shape());
        Pass {
            sizes,
            count: 0,
            both: room(2 * sizes.observation),
            actions: room(sizes.action),
            noise: room(sizes.action),
            pair: room(sizes.observation + sizes.action),
            d_after: room(sizes.observation),
            d_pair: room(sizes.observation + sizes.action),
            d_code: room(2 * sizes.action),
            encoder: (Trace::new(encoder, panels), Gradient::new(encoder)),
            decoder: (Trace::new(decoder, panels), Gradient::new(decoder)),
            row: vec![0.0; encoder.parameters() + decoder.parameters()],
        }
    }

    /// Gathers rows and draws their noise.
    pub fn fill(&mut self, isa: Isa, steps: &Steps, rows: &[u32], draws: &mut Draws) {
        let Sizes { observation, action } = steps.sizes;
        let panels = rows.len().div_ceil(LANES);
        self.count = rows.len();
        gather(isa, &steps.both, 2 * observation, rows, &mut self.both[..panels * 2 * observation]);
        gather(isa, &steps.actions, action, rows, &mut self.actions[..panels * action]);
        for pack in &mut self.noise[..panels * action] {
            pack.0.as_chunks_mut::<2>().0.iter_mut().for_each(|pair| *pair = draws.normal_pair());
        }
    }

    /// The loss of the rows at hand; its parameter gradient is left in `row`.
    pub fn loss(&mut self, networks: &Networks, form: GirilLoss) -> Loss {
        let Sizes { observation, action } = self.sizes;
        let (count, panels, width) = (self.count, self.count.div_ceil(LANES), observation + action);
        let n = count as f32;
        // Weights of a squared error of s', of one of a, and of one entry's KL.
        let [of_after, of_action, of_kl] = match form {
            GirilLoss::Row => [1.0 / n; 3],
            GirilLoss::Public => [1.0 / (n * observation as f32), 1.0 / (n * action as f32), 1.0],
        };
        let live = |panel: usize, lane: usize| panel * LANES + lane < count;

        let both = &self.both[..panels * 2 * observation];
        let code = networks.encoder.forward(both, &mut self.encoder.0);
        let pair = &mut self.pair[..panels * width];
        for panel in 0..panels {
            let (before, z) = pair[panel * width..][..width].split_at_mut(observation);
            before.copy_from_slice(&both[panel * 2 * observation..][..observation]);
            for (j, z) in z.iter_mut().enumerate() {
                let (mu, lv) = (&code[panel * 2 * action + j], &code[panel * 2 * action + action + j]);
                let noise = &self.noise[panel * action + j];
                for lane in 0..LANES {
                    z.0[lane] = mu.0[lane] + (0.5 * lv.0[lane]).exp() * noise.0[lane];
                }
            }
        }
        let predicted = networks.decoder.forward(pair, &mut self.decoder.0);
        let mut loss = Loss { reconstruction: 0.0, kl: 0.0, action: 0.0 };
        let d_after = &mut self.d_after[..panels * observation];
        for (at, (d, predicted)) in d_after.iter_mut().zip(predicted).enumerate() {
            let (panel, entry) = (at / observation, at % observation);
            let after = &both[(2 * panel + 1) * observation + entry];
            for lane in 0..LANES {
                let error = if live(panel, lane) { predicted.0[lane] - after.0[lane] } else { 0.0 };
                loss.reconstruction += f64::from(of_after * error * error);
                d.0[lane] = 2.0 * of_after * error;
            }
        }
        self.decoder.1.clear();
        let d_pair = &mut self.d_pair[..panels * width];
        networks.decoder.backward(
            pair,
            &mut self.decoder.0,
            d_after,
            Some(&mut self.decoder.1),
            Some(d_pair),
        );

        let d_code = &mut self.d_code[..panels * 2 * action];
        for panel in 0..panels {
            for j in 0..action {
                let at = panel * 2 * action + j;
                let (mu, lv) = (&code[at], &code[at + action]);
                let noise = &self.noise[panel * action + j];
                let z = &pair[panel * width + observation + j];
                let d_z = &d_pair[panel * width + observation + j];
                for lane in 0..LANES {
                    if !live(panel, lane) {
                        (d_code[at].0[lane], d_code[at + action].0[lane]) = (0.0, 0.0);
                        continue;
                    }
                    let (mu, lv) = (mu.0[lane], lv.0[lane]);
                    let spread = (0.5 * lv).exp();
                    let error = z.0[lane] - self.actions[panel * action + j].0[lane];
                    loss.action += f64::from(of_action * error * error);
                    loss.kl -= f64::from(0.5 * of_kl * (1.0 + lv - mu * mu - spread * spread));
                    let d_z = d_z.0[lane] + 2.0 * of_action * error;
                    d_code[at].0[lane] = d_z + of_kl * mu;
                    d_code[at + action].0[lane] =
                        0.5 * (d_z * spread * noise.0[lane] - of_kl * (1.0 - spread * spread));
                }
            }
        }
        self.encoder.1.clear();
        networks.encoder.backward(both, &mut self.encoder.0, d_code, Some(&mut self.encoder.1), None);
        let (encoder, decoder) = self.row.split_at_mut(networks.encoder.shape().parameters());
        self.encoder.1.write(encoder);
        self.decoder.1.write(decoder);
        loss
    }
}
