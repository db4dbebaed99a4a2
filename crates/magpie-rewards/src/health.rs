//! The health of a reward model, for the metrics.

use serde::{Deserialize, Serialize};

use crate::adversarial::Side;

/// Means over the rows of one update. Quantities that a model does not have are zero or absent.
///
/// The rewards of a discriminator that is always right (accuracies near 1, losses near 0) say nothing about how to
/// improve; one that cannot tell expert from policy (accuracies near ½) has been fooled or has not learned yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Health {
    /// Number of expert rows used.
    pub rows: usize,
    /// Loss on expert rows.
    pub expert_loss: f64,
    /// Loss on policy rows.
    pub policy_loss: f64,
    /// Share of expert rows classified as expert.
    pub expert_accuracy: f64,
    /// Share of policy rows classified as policy.
    pub policy_accuracy: f64,
    /// Weighted gradient penalty.
    pub gradient_penalty: f64,
    /// Mean norm of the gradient at interpolated rows, which the penalty pulls towards 1.
    pub slope: f64,
    /// Mean reward of expert rows before the update.
    pub expert_reward: f64,
    /// Mean reward of policy rows before the update.
    pub policy_reward: f64,
    /// State of the information bottleneck (VAIL only).
    pub bottleneck: Option<Bottleneck>,
}

/// State of an information bottleneck.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Bottleneck {
    /// Mean KL divergence of the codes from a standard normal distribution, in nats.
    pub kl: f64,
    /// Weight β of the KL term after the update.
    pub beta: f64,
}

impl Health {
    /// Names and values, as columns of a metrics table.
    pub fn columns(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let bottleneck = self.bottleneck.map(|b| [("kl", b.kl), ("beta", b.beta)]);
        [
            ("expert_loss", self.expert_loss),
            ("policy_loss", self.policy_loss),
            ("expert_accuracy", self.expert_accuracy),
            ("policy_accuracy", self.policy_accuracy),
            ("gradient_penalty", self.gradient_penalty),
            ("slope", self.slope),
            ("expert_reward", self.expert_reward),
            ("policy_reward", self.policy_reward),
        ]
        .into_iter()
        .chain(bottleneck.into_iter().flatten())
    }

    /// The minimised loss, without the bottleneck's term.
    pub(crate) fn loss(&self) -> f64 {
        self.expert_loss + self.policy_loss + self.gradient_penalty
    }

    pub(crate) fn set_side(&mut self, side: Side, loss: f64, accuracy: f64, reward: f64) {
        let places = match side {
            Side::Expert => (&mut self.expert_loss, &mut self.expert_accuracy, &mut self.expert_reward),
            Side::Policy => (&mut self.policy_loss, &mut self.policy_accuracy, &mut self.policy_reward),
        };
        (*places.0, *places.1, *places.2) = (loss, accuracy, reward);
    }

    /// Adds the means of a batch of `rows` rows, weighted by that number.
    pub(crate) fn add(&mut self, rows: usize, batch: &Health) {
        let total = (self.rows + rows) as f64;
        let share = if total > 0.0 { rows as f64 / total } else { 0.0 };
        let merge = |mean: &mut f64, value: f64| *mean += (value - *mean) * share;
        merge(&mut self.expert_loss, batch.expert_loss);
        merge(&mut self.policy_loss, batch.policy_loss);
        merge(&mut self.expert_accuracy, batch.expert_accuracy);
        merge(&mut self.policy_accuracy, batch.policy_accuracy);
        merge(&mut self.gradient_penalty, batch.gradient_penalty);
        merge(&mut self.slope, batch.slope);
        merge(&mut self.expert_reward, batch.expert_reward);
        merge(&mut self.policy_reward, batch.policy_reward);
        if let Some(other) = batch.bottleneck {
            let bottleneck = self.bottleneck.get_or_insert_with(Bottleneck::default);
            merge(&mut bottleneck.kl, other.kl);
            bottleneck.beta = other.beta;
        }
        self.rows += rows;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_count_by_their_rows() {
        let batch = |loss, kl| Health {
            expert_loss: loss,
            bottleneck: Some(Bottleneck { kl, beta: kl }),
            ..Health::default()
        };
        let mut health = Health::default();
        health.add(3, &batch(1.0, 2.0));
        health.add(1, &batch(5.0, 6.0));
        assert_eq!((health.rows, health.expert_loss), (4, 2.0));
        assert_eq!(health.bottleneck, Some(Bottleneck { kl: 3.0, beta: 6.0 }));
        let columns: Vec<_> = health.columns().collect();
        assert!(columns.contains(&("expert_loss", 2.0)) && columns.contains(&("beta", 6.0)));
    }
}
