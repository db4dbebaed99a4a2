//! What an agent is trained on: a mixture of the objective and the measures.

use magpie_learn::{Agent, Networks, Window};
use magpie_rewards::RewardError;

use crate::curiosity::{Curiosity, Memory};
use crate::novelty::Chart;
use crate::objective::Objective;
use crate::steering::Steering;

/// Pays c₀·(objective + bonus) + Σ cⱼ·measureⱼ for a step, and what the steering adds. Copy i of the gradient phase has
/// cᵢ = 1, or -1 if it is to lower its measure, and the rest 0; the walk has the mean of xNES, with |c₀|.
pub(crate) struct Blend<'a> {
    coefficients: Vec<f32>,
    /// Paid for every step besides.
    shift: f32,
    /// Between which each measure counts.
    bounds: Vec<[f32; 2]>,
    chart: &'a Chart<'a>,
    curiosity: Curiosity,
    memory: Memory,
    /// Cells of the episodes that were judged, if visits are counted.
    visited: Vec<usize>,
    /// How new the steps paid for so far were, summed over windows.
    curious: f64,
    windows: u32,
    /// What a learnt reward is counted in, once the first window is there.
    unit: Option<f32>,
}

impl<'a> Blend<'a> {
    pub fn new(
        coefficients: Vec<f32>,
        steering: &Steering,
        environments: usize,
        curiosity: Curiosity,
        chart: &'a Chart<'a>,
    ) -> Blend<'a> {
        let memory = Memory::new(environments, coefficients.len() - 1);
        let (shift, bounds) = (steering.shift(&coefficients[1..]), steering.bounds());
        Blend {
            coefficients,
            shift,
            bounds,
            chart,
            curiosity,
            memory,
            visited: Vec::new(),
            curious: 0.0,
            windows: 0,
            unit: None,
        }
    }

    /// The cells of the episodes that were judged, if visits are counted.
    pub fn into_visited(self) -> Vec<usize> {
        self.visited
    }

    /// How new the steps were in the mean: with empty cells, their share; 0 without curiosity.
    pub fn curious_share(&self) -> f64 {
        self.curious / f64::from(self.windows.max(1))
    }

    pub fn pay(
        &mut self,
        window: &mut Window,
        agent: &Agent,
        networks: &Networks,
        objective: &Objective,
    ) -> Result<(), RewardError> {
        let (weight, measures) = (self.coefficients[0], &self.coefficients[1..]);
        if weight != 0.0 {
            objective.pay(window, agent, networks)?;
            if objective.is_scaled() {
                // One unit for the whole phase, so that its windows can be compared. From phase to phase the critic's own
                // units follow.
                let unit = *self.unit.get_or_insert_with(|| mean_size(&window.rewards));
                window.rewards.iter_mut().for_each(|reward| *reward /= unit);
            }
            if self.curiosity.is_on() {
                let (chart, visited) = (self.chart, &mut self.visited);
                self.curious += self.curiosity.pay(window, &mut self.memory, |mean| {
                    visited.extend(chart.visited(mean));
                    chart.novelty(mean)
                });
                self.windows += 1;
            }
        }
        if measures.is_empty() {
            return Ok(());
        }
        for (reward, row) in window.rewards.iter_mut().zip(window.measures.chunks_exact(measures.len())) {
            // Zero times a reward that is not finite would not be zero.
            let own = if weight == 0.0 { 0.0 } else { weight * *reward };
            *reward = own + self.shift;
            for ((m, [low, high]), c) in row.iter().zip(&self.bounds).zip(measures) {
                *reward += c * m.clamp(*low, *high);
            }
        }
        Ok(())
    }
}

/// Smaller units are not taken: a model that pays next to nothing as a phase begins may pay a hundred times as much later.
const LEAST_UNIT: f32 = 0.01;

/// Of rewards.
fn mean_size(rewards: &[f32]) -> f32 {
    let sum: f64 = rewards.iter().map(|&reward| f64::from(reward.abs())).sum();
    ((sum / rewards.len().max(1) as f64) as f32).max(LEAST_UNIT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objective::Learnt;
    use magpie_envs::{Environment, Options};
    use magpie_qd::{Acceptance, ArchivePair, Grid};
    use magpie_rewards::{Pairs, Sizes, True};

    /// One foot, on the ground for a quarter and a half of two steps.
    fn paid(coefficients: &[f32], inward: bool, rewards: [f32; 2]) -> Vec<f32> {
        paid_for([0.25, 0.5], coefficients, inward, rewards)
    }

    fn paid_for(measures: [f32; 2], coefficients: &[f32], inward: bool, rewards: [f32; 2]) -> Vec<f32> {
        let [paid] = paid_by(&Objective::True, measures, coefficients, inward, [rewards]);
        paid
    }

    /// What the windows of a phase with these rewards earn, one after the other.
    fn paid_by<const N: usize>(
        objective: &Objective,
        measures: [f32; 2],
        coefficients: &[f32],
        inward: bool,
        windows: [[f32; 2]; N],
    ) -> [Vec<f32>; N] {
        let steering = Steering::new(&Environment::new("hopper", Options::default()).unwrap(), inward);
        let grid = Grid::new(vec![2], vec![0.0], vec![1.0]).unwrap();
        let rule = Acceptance::Soft { learning_rate: 0.5, threshold_min: 0.0 };
        let archives = ArchivePair::new(grid, rule, 1, 1).unwrap();
        let curiosity = Curiosity { weight: 2.0, ..Curiosity::default() };
        let networks = Networks::paper(1, 1).unwrap();
        let chart = Chart::new(&curiosity, &archives, &[]);
        let mut blend = Blend::new(coefficients.to_vec(), &steering, 1, curiosity, &chart);
        windows.map(|rewards| {
            let mut window = Window::new(1, 2, 1, 1, 1);
            window.keep(false);
            window.rewards.copy_from_slice(&rewards);
            window.measures.copy_from_slice(&measures);
            blend.pay(&mut window, &Agent::new(&networks, 1), &networks, objective).unwrap();
            window.rewards
        })
    }

    #[test]
    fn objective_bonus_and_measures_are_mixed() {
        // The archive is empty, so each step earns the bonus of 2.
        assert_eq!(paid(&[0.5, -2.0], false, [1.0, 3.0]), [0.5 * 3.0 - 0.5, 0.5 * 5.0 - 1.0]);
    }

    #[test]
    fn steered_inward_a_foot_is_paid_for_being_in_the_air() {
        assert_eq!(paid(&[0.5, -2.0], true, [1.0, 3.0]), [0.5 * 3.0 + 1.5, 0.5 * 5.0 + 1.0]);
    }

    #[test]
    fn steered_inward_no_measure_costs_anything_even_beyond_its_range() {
        assert_eq!(paid_for([1.5, -0.5], &[0.0, -2.0], true, [0.0; 2]), [0.0, 2.0]);
        assert_eq!(paid_for([1.5, -0.5], &[0.0, 2.0], true, [0.0; 2]), [2.0, 0.0]);
        assert_eq!(paid_for([1.5, -0.5], &[0.0, -2.0], false, [0.0; 2]), [-3.0, 1.0]);
    }

    #[test]
    fn a_learnt_reward_is_counted_in_its_mean_size_at_the_start_of_the_phase() {
        let sizes = Sizes { observation: 1, action: 1 };
        let learnt =
            |scaled| Objective::Learnt(Learnt::new(Box::new(True { sizes }), Pairs::default(), scaled));
        let windows = [[0.25, -0.75], [2.0, 2.0]];
        // The bonus of 2 keeps its size: it is counted in the same units.
        let paid = paid_by(&learnt(true), [0.25, 0.5], &[1.0, 0.0], false, windows);
        assert_eq!(paid, [[2.5, 0.5], [6.0, 6.0]]);
        let paid = paid_by(&learnt(false), [0.25, 0.5], &[1.0, 0.0], false, windows);
        assert_eq!(paid, [[2.25, 1.25], [4.0, 4.0]]);
    }

    #[test]
    fn next_to_nothing_is_no_unit() {
        assert_eq!((mean_size(&[1e-9, -1e-9]), mean_size(&[])), (LEAST_UNIT, LEAST_UNIT));
    }

    #[test]
    fn who_serves_a_measure_does_not_see_the_objective() {
        assert_eq!(paid(&[0.0, 1.0], false, [f32::NAN, f32::INFINITY]), [0.25, 0.5]);
    }
}
