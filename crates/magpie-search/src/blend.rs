//! What an agent is trained on: a mixture of the objective and the measures.

use magpie_learn::{Agent, Window};
use magpie_qd::ArchivePair;
use magpie_rewards::RewardError;

use crate::curiosity::{Curiosity, Memory};
use crate::objective::Objective;

/// Pays c₀·(objective + bonus) + Σ cⱼ·measureⱼ for a step. Copy i of the gradient phase has cᵢ = 1 and the rest 0; the
/// walk has the mean of xNES.
pub(crate) struct Blend<'a> {
    coefficients: Vec<f32>,
    archives: &'a ArchivePair,
    curiosity: Curiosity,
    memory: Memory,
    /// Share of the steps paid for so far that fell in empty cells, summed over windows.
    curious: f64,
    windows: u32,
}

impl<'a> Blend<'a> {
    pub fn new(
        coefficients: Vec<f32>,
        environments: usize,
        curiosity: Curiosity,
        archives: &'a ArchivePair,
    ) -> Blend<'a> {
        let memory = Memory::new(environments, coefficients.len() - 1);
        Blend { coefficients, archives, curiosity, memory, curious: 0.0, windows: 0 }
    }

    /// Mean share of steps in empty cells; 0 without curiosity.
    pub fn curious_share(&self) -> f64 {
        self.curious / f64::from(self.windows.max(1))
    }

    pub fn pay(
        &mut self,
        window: &mut Window,
        agent: &Agent,
        objective: &Objective,
    ) -> Result<(), RewardError> {
        let (weight, measures) = (self.coefficients[0], &self.coefficients[1..]);
        if weight != 0.0 {
            objective.pay(window, agent)?;
            if self.curiosity.is_on() {
                let archives = self.archives;
                // A mean measure that is not finite lies in no cell, so in no empty one.
                self.curious += self
                    .curiosity
                    .pay(window, &mut self.memory, |mean| archives.is_empty(mean).unwrap_or(false));
                self.windows += 1;
            }
        }
        if measures.is_empty() {
            return Ok(());
        }
        for (reward, row) in window.rewards.iter_mut().zip(window.measures.chunks_exact(measures.len())) {
            // Zero times a reward that is not finite would not be zero.
            let own = if weight == 0.0 { 0.0 } else { weight * *reward };
            *reward = row.iter().zip(measures).fold(own, |sum, (m, c)| sum + c * m);
        }
        Ok(())
    }
}
