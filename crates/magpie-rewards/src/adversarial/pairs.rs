//! The input of discriminators: what they see of a transition, in one panel.
//!
//! Expert and policy rows are prepared by the same function with the same normaliser. Otherwise, a discriminator could
//! tell them apart by the scale of their observations alone.
//!
//! # Absorbing states
//!
//! A reward that is never negative rewards every step, so that it favours staying alive whether or not the expert did;
//! a reward that is never positive favours ending. The remedy (Kostrikov et al., "Discriminator Actor-Critic", 2019)
//! lets an episode that ends early continue in an absorbing state until the horizon: an additional feature marks the
//! state, all others are zero, and the model computes its reward as for any other row. The last step of such an episode
//! then earns the discounted rewards of the steps that were lost.

use magpie_demos::Sizes;
use magpie_nn::normaliser::Frozen;
use magpie_nn::rows::gather;
use magpie_settings::words;
use magpie_simd::{Isa, LANES, Pack};

use crate::panels::normalised;
use crate::transitions::Transitions;

words! {
    /// What a discriminator sees of a transition.
    pub enum Inputs {
        /// Observation and action, as in the paper. A noisy policy is told from the expert by the noise of its actions alone.
        StateAction = "state_action",
        /// The observation.
        State = "state",
        /// The observation and the next one.
        Transition = "transition",
    }
}

/// The index that stands for the absorbing state.
pub(crate) const ABSORBED: u32 = u32::MAX;

/// The input for a transition: normalised observation, action or next observation and, if requested, the "absorbed"
/// feature.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairInput {
    pub sizes: Sizes,
    pub inputs: Inputs,
    pub absorbing: bool,
    pub isa: Isa,
}

impl PairInput {
    /// Entries of a row.
    pub fn width(&self) -> usize {
        let Sizes { observation, action } = self.sizes;
        let second = match self.inputs {
            Inputs::StateAction => action,
            Inputs::State => 0,
            Inputs::Transition => observation,
        };
        observation + second + usize::from(self.absorbing)
    }

    /// Gathers the rows of `index` into `panels`, [panel][entry].
    pub fn fill(
        &self,
        transitions: &Transitions,
        normaliser: &Frozen,
        index: &[u32],
        scratch: &mut Vec<Pack>,
        panels: &mut [Pack],
    ) {
        let Sizes { observation, action } = self.sizes;
        let width = self.width();
        for (panel, index) in panels.chunks_exact_mut(width).zip(index.chunks(LANES)) {
            // An absorbed lane reads row 0 first and is cleared afterwards.
            let rows: [u32; LANES] =
                std::array::from_fn(|i| index.get(i).map_or(0, |&row| if row == ABSORBED { 0 } else { row }));
            let rows = &rows[..index.len()];
            let (observations, rest) = panel.split_at_mut(observation);
            normalised(self.isa, transitions.observations, rows, normaliser, scratch, observations);
            match self.inputs {
                Inputs::StateAction => {
                    gather(self.isa, transitions.actions, action, rows, &mut rest[..action]);
                }
                Inputs::State => {}
                Inputs::Transition => {
                    let next = &mut rest[..observation];
                    normalised(self.isa, transitions.next_observations, rows, normaliser, scratch, next);
                }
            }
            if self.absorbing {
                let absorbed = |i: usize| index.get(i) == Some(&ABSORBED);
                for lane in (0..LANES).filter(|&i| absorbed(i)) {
                    panel.iter_mut().for_each(|feature| feature.0[lane] = 0.0);
                }
                panel[width - 1] = Pack(std::array::from_fn(|i| f32::from(u8::from(absorbed(i)))));
            }
        }
    }
}

/// Discounted sum of the rewards of the steps lost by ending early: Σ γᵏ r over k = 1…lost.
pub(crate) fn worth_of_lost(reward: f32, gamma: f32, lost: u32) -> f32 {
    if gamma >= 1.0 {
        return reward * lost as f32;
    }
    let gamma = f64::from(gamma);
    (f64::from(reward) * gamma * (1.0 - gamma.powf(f64::from(lost))) / (1.0 - gamma)) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use magpie_nn::normaliser::{Moments, RunningMeanStd};

    #[test]
    fn rows_are_normalised_and_absorbed_ones_are_marked() {
        let sizes = Sizes { observation: 2, action: 1 };
        let mut moments = Moments::new(2);
        let observations: Vec<f32> = (0..40).map(|i| i as f32).collect();
        moments.add_rows(&observations);
        let mut running = RunningMeanStd::new(2);
        running.update(&moments);
        let normaliser = running.freeze(10.0);
        let actions: Vec<f32> = (0..20).map(|i| -i as f32).collect();
        let transitions =
            Transitions { observations: &observations, actions: &actions, ..Transitions::default() };
        let index: Vec<u32> = (0..18).map(|i| if i == 17 { ABSORBED } else { 19 - i }).collect();
        let inputs = Inputs::StateAction;
        let input = PairInput { sizes, inputs, absorbing: true, isa: Isa::best() };
        let mut panels = vec![Pack([7.0; 16]); 2 * input.width()];
        input.fill(&transitions, &normaliser, &index, &mut Vec::new(), &mut panels);
        let row = |i: usize| -> Vec<f32> { (0..4).map(|f| panels[i / 16 * 4 + f].0[i % 16]).collect() };
        let want = |row: usize| {
            let value = |f: usize| normaliser.value(f, observations[2 * row + f]);
            vec![value(0), value(1), -(row as f32), 0.0]
        };
        for (i, &at) in index[..17].iter().enumerate() {
            row(i).iter().zip(want(at as usize)).for_each(|(a, b)| assert!((a - b).abs() < 1e-6));
        }
        assert_eq!(row(17), [0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn a_discriminator_sees_what_it_is_to_see() {
        let sizes = Sizes { observation: 2, action: 1 };
        let (observations, actions, next_observations) = ([1.0, 2.0], [5.0], [3.0, 4.0]);
        let transitions = Transitions {
            observations: &observations,
            actions: &actions,
            next_observations: &next_observations,
            ..Transitions::default()
        };
        // A new normaliser has mean 0 and variance 1, and 1e-8 is added to the variance.
        let normaliser = RunningMeanStd::new(2).freeze(10.0);
        for (inputs, want) in [
            (Inputs::StateAction, &[1.0, 2.0, 5.0][..]),
            (Inputs::State, &[1.0, 2.0]),
            (Inputs::Transition, &[1.0, 2.0, 3.0, 4.0]),
        ] {
            let input = PairInput { sizes, inputs, absorbing: false, isa: Isa::best() };
            let mut panel = vec![Pack([7.0; LANES]); input.width()];
            input.fill(&transitions, &normaliser, &[0], &mut Vec::new(), &mut panel);
            let row: Vec<f32> = panel.iter().map(|entry| entry.0[0]).collect();
            assert!(
                row.len() == want.len() && row.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-5),
                "{row:?}"
            );
        }
    }

    #[test]
    fn lost_steps_are_worth_their_discounted_sum() {
        let sum: f32 = (1..=50).map(|k| 2.0 * 0.9_f32.powi(k)).sum();
        assert!((worth_of_lost(2.0, 0.9, 50) - sum).abs() < 1e-4);
        assert_eq!(worth_of_lost(2.0, 0.9, 0), 0.0);
        assert_eq!(worth_of_lost(2.0, 1.0, 7), 14.0);
    }
}
