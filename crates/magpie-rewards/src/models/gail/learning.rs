//! Loss and gradient of a step of GAIL.

use magpie_nn::{Gradient, Shape, Tangent, Trace};
use magpie_simd::{LANES, Pack};

use super::GailDiscriminator;
use crate::adversarial::{Penalty, Rows, Side, Slopes, cross_entropy};
use crate::health::Health;
use crate::panels::mean;

/// Memory for a step.
#[derive(Debug)]
pub(crate) struct GailWork {
    trace: Trace,
    tangent: Tangent,
    gradient: Gradient,
    /// The gradient of the last loss.
    pub row: Vec<f32>,
    logits: Vec<Pack>,
    rewards: Vec<Pack>,
    slopes: Vec<Pack>,
    lengths: Slopes,
    ones: Vec<Pack>,
    zeros: Vec<Pack>,
}

impl GailWork {
    pub fn new(shape: &Shape, panels: usize) -> GailWork {
        GailWork {
            trace: Trace::new(shape, panels),
            tangent: Tangent::new(shape, panels),
            gradient: Gradient::new(shape),
            row: vec![0.0; shape.parameters()],
            logits: Vec::new(),
            rewards: Vec::new(),
            slopes: Vec::new(),
            lengths: Slopes::default(),
            ones: vec![Pack([1.0; LANES]); panels],
            zeros: vec![Pack::default(); panels],
        }
    }
}

impl GailDiscriminator {
    /// Losses of the rows; their parameter gradient is left in `work.row`.
    pub(super) fn loss(&self, rows: &Rows, work: &mut GailWork) -> Health {
        let mut health = Health::default();
        work.gradient.clear();
        for (side, input) in [(Side::Expert, &rows.expert), (Side::Policy, &rows.policy)] {
            let GailWork { trace, gradient, logits, rewards, .. } = &mut *work;
            logits.clear();
            logits.extend_from_slice(self.network.forward(input, trace));
            rewards.clone_from(logits);
            self.config.reward.apply(self.isa, rewards);
            let (loss, accuracy) = cross_entropy(side, logits, rows.count);
            self.network.backward(input, trace, logits, Some(gradient), None);
            health.set_side(side, loss, accuracy, mean(rewards, rows.count));
        }
        if self.config.gradient_penalty > 0.0 {
            let penalty = self.penalise(rows, work);
            (health.gradient_penalty, health.slope) = (penalty.value, penalty.slope);
        }
        work.gradient.write(&mut work.row);
        health
    }

    fn penalise(&self, rows: &Rows, work: &mut GailWork) -> Penalty {
        let GailWork { trace, tangent, gradient, slopes, lengths, ones, zeros, .. } = work;
        let (input, panels) = (&rows.mixed, rows.panels());
        let (ones, zeros) = (&ones[..panels], &zeros[..panels]);
        slopes.resize(input.len(), Pack::default());
        self.network.forward(input, trace);
        self.network.backward(input, trace, ones, None, Some(slopes));
        lengths.clear(panels);
        lengths.add(slopes);
        let penalty = lengths.finish(rows.count, self.config.gradient_penalty);
        lengths.turn(slopes);
        self.network.tangent(trace, slopes, tangent);
        self.network.backward_tangent(input, trace, slopes, tangent, zeros, ones, gradient, None);
        penalty
    }
}
