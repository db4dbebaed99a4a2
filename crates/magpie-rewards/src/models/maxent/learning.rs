//! Loss and gradient of a step of maximum-entropy IRL.

use magpie_nn::{Gradient, Shape, Trace};
use magpie_simd::Pack;

use super::MaxentDiscriminator;
use crate::adversarial::{Rows, Side};
use crate::health::Health;
use crate::panels::mean;

/// Scratch memory for a step.
#[derive(Debug)]
pub(crate) struct MaxentWork {
    trace: Trace,
    gradient: Gradient,
    /// The gradient of the last loss.
    pub row: Vec<f32>,
    derivatives: Vec<Pack>,
    rewards: [Vec<Pack>; 2],
}

impl MaxentWork {
    pub fn new(shape: &Shape, panels: usize) -> MaxentWork {
        MaxentWork {
            trace: Trace::new(shape, panels),
            gradient: Gradient::new(shape),
            row: vec![0.0; shape.parameters()],
            derivatives: Vec::new(),
            rewards: [Vec::new(), Vec::new()],
        }
    }
}

impl MaxentDiscriminator {
    /// Computes the loss of both sides; leaves its parameter gradient in `work.row`.
    pub(super) fn loss(&self, rows: &Rows, work: &mut MaxentWork) -> Health {
        let MaxentWork { trace, gradient, row, derivatives, rewards } = work;
        let mut health = Health::default();
        gradient.clear();
        let sides = [(Side::Expert, -1.0, &rows.expert), (Side::Policy, 1.0, &rows.policy)];
        for ((side, sign, input), rewards) in sides.into_iter().zip(&mut *rewards) {
            rewards.clear();
            rewards.extend_from_slice(self.network.forward(input, trace));
            derivatives.clear();
            derivatives.resize(rows.panels(), Pack::default());
            let (mut square, n) = (0.0, rows.count as f32);
            let places = derivatives.iter_mut().flat_map(|pack| pack.0.iter_mut());
            for (derivative, reward) in places.zip(rewards.iter().flat_map(|pack| pack.0)).take(rows.count) {
                *derivative = (sign + self.config.reward_l2 * reward) / n;
                square += f64::from(reward * reward) / f64::from(n);
            }
            self.network.backward(input, trace, derivatives, Some(gradient), None);
            let output = mean(rewards, rows.count);
            let loss = f64::from(sign) * output + 0.5 * f64::from(self.config.reward_l2) * square;
            self.pay(rewards);
            health.set_side(side, loss, 0.0, mean(rewards, rows.count));
        }
        // There is no decision boundary between expert and policy; the midpoint of their means serves as one.
        let border = (health.expert_reward + health.policy_reward) / 2.0;
        let share = |rewards: &[Pack], above: bool| {
            let rows = rewards.iter().flat_map(|pack| pack.0).take(rows.count);
            rows.filter(|&r| (f64::from(r) > border) == above).count() as f64
        };
        let n = rows.count.max(1) as f64;
        health.expert_accuracy = share(&rewards[0], true) / n;
        health.policy_accuracy = share(&rewards[1], false) / n;
        gradient.write(row);
        health
    }
}
