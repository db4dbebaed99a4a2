//! The reward an agent is trained on: a mixture of the objective, the bonus and the measures.

use magpie_learn::{Agent, Networks, RolloutBuffer};

use crate::bonus::EpisodeAccumulator;
use crate::error::TrainingError;
use crate::measure_shaping::MeasureShaping;
use crate::rewards::Rewards;

/// Rewards a step with c₀·(objective + bonus) + Σ cⱼ·measureⱼ plus the constant of measure shaping; the bonus can also be
/// paid apart from c₀, as it is. Copy i of the
/// gradient phase has cᵢ = 1, or -1 if its measure is to be lowered, and zeros otherwise; the walk has the mean of xNES
/// with |c₀|.
pub(crate) struct RewardMixer {
    coefficients: Vec<f32>,
    /// A constant added to every step's reward.
    shift: f32,
    /// Bounds to which each measure is limited.
    bounds: Vec<[f32; 2]>,
    episodes: EpisodeAccumulator,
    /// Mean novelty of the steps so far, summed over rollouts.
    curious: f64,
    rollouts: u32,
    /// Divisor of a learned reward, known after the first rollout.
    scale: Option<f32>,
    /// Whether the bonus is paid apart from c₀.
    apart: bool,
}

impl RewardMixer {
    pub fn new(coefficients: Vec<f32>, shaping: &MeasureShaping, environments: usize) -> RewardMixer {
        let episodes = EpisodeAccumulator::new(environments, coefficients.len() - 1);
        let (shift, bounds) = (shaping.shift(&coefficients[1..]), shaping.bounds());
        RewardMixer {
            coefficients,
            shift,
            bounds,
            episodes,
            curious: 0.0,
            rollouts: 0,
            scale: None,
            apart: false,
        }
    }

    /// Pays the bonus as it is, not multiplied by c₀.
    pub fn with_bonus_apart(self, apart: bool) -> RewardMixer {
        RewardMixer { apart, ..self }
    }

    /// The unfinished episodes, as seen by the bonus.
    pub fn episodes(&self) -> &EpisodeAccumulator {
        &self.episodes
    }

    /// Mean novelty of the steps; with novelty by empty cells, the share of steps in them; 0 without a bonus.
    pub fn curious_share(&self) -> f64 {
        self.curious / f64::from(self.rollouts.max(1))
    }

    /// Replaces the environment's rewards by the mixture.
    pub fn apply(
        &mut self,
        rollout: &mut RolloutBuffer,
        agent: &Agent,
        networks: &Networks,
        rewards: &Rewards,
    ) -> Result<(), TrainingError> {
        let (weight, measures) = (self.coefficients[0], &self.coefficients[1..]);
        if weight != 0.0 {
            let Rewards { objective, bonus } = rewards;
            objective.pay(rollout, agent, networks)?;
            if objective.is_scaled() {
                // The scale stays the same for the whole phase, so that its rollouts are comparable. Between phases,
                // the normalisation of value targets adapts to a new scale.
                let scale = *self.scale.get_or_insert_with(|| mean_size(&rollout.rewards));
                rollout.rewards.iter_mut().for_each(|reward| *reward /= scale);
            }
            if let Some(bonus) = bonus {
                let objective = (self.apart && !measures.is_empty()).then(|| rollout.rewards.clone());
                self.curious += bonus.pay(rollout, &mut self.episodes)?;
                self.rollouts += 1;
                // Multiplied by c₀ below, the bonus is what it was.
                let alone = rollout.rewards.iter_mut().zip(objective.into_iter().flatten());
                alone.for_each(|(reward, own)| *reward = own + (*reward - own) / weight);
            }
        }
        if measures.is_empty() {
            return Ok(());
        }
        for (reward, row) in rollout.rewards.iter_mut().zip(rollout.measures.chunks_exact(measures.len())) {
            // A zero coefficient would not cancel a reward that is not finite.
            let own = if weight == 0.0 { 0.0 } else { weight * *reward };
            *reward = own + self.shift;
            for ((m, [low, high]), c) in row.iter().zip(&self.bounds).zip(measures) {
                *reward += c * m.clamp(*low, *high);
            }
        }
        Ok(())
    }
}

/// The smallest divisor: rewards that are close to zero at the start of a phase may become a hundred times larger
/// later.
const LEAST_SCALE: f32 = 0.01;

/// The mean of the absolute rewards, limited from below.
fn mean_size(rewards: &[f32]) -> f32 {
    let sum: f64 = rewards.iter().map(|&reward| f64::from(reward.abs())).sum();
    ((sum / rewards.len().max(1) as f64) as f32).max(LEAST_SCALE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bonus;
    use crate::config::Curiosity;
    use crate::objective::{LearnedReward, Objective};
    use magpie_envs::{Environment, Options};
    use magpie_qd::{Acceptance, ArchivePair, Grid};
    use magpie_rewards::{Pairs, Sizes, True};

    /// One foot, on the ground for a quarter and a half of two steps.
    fn paid(coefficients: &[f32], measure_shaping: bool, rewards: [f32; 2]) -> Vec<f32> {
        paid_for([0.25, 0.5], coefficients, measure_shaping, rewards)
    }

    fn paid_for(
        measures: [f32; 2],
        coefficients: &[f32],
        measure_shaping: bool,
        rewards: [f32; 2],
    ) -> Vec<f32> {
        let [paid] = paid_by(Objective::True, measures, coefficients, measure_shaping, [rewards], false);
        paid
    }

    /// The rewards of the rollouts of a phase with these rewards, one after the other.
    fn paid_by<const N: usize>(
        objective: Objective,
        measures: [f32; 2],
        coefficients: &[f32],
        measure_shaping: bool,
        rollouts: [[f32; 2]; N],
        bonus_apart: bool,
    ) -> [Vec<f32>; N] {
        let shaping =
            MeasureShaping::new(&Environment::new("hopper", Options::default()).unwrap(), measure_shaping);
        let grid = Grid::new(vec![2], vec![0.0], vec![1.0]).unwrap();
        let rule = Acceptance::Soft { learning_rate: 0.5, threshold_min: 0.0 };
        let archives = ArchivePair::new(grid, rule, 1, 1).unwrap();
        let curiosity = Curiosity { weight: 2.0, ..Curiosity::default() };
        let networks = Networks::paper(1, 1).unwrap();
        let mut payers = Rewards { objective, bonus: bonus::build(&curiosity, archives.cells()) };
        payers.begin_phase(&archives);
        let mut mixer = RewardMixer::new(coefficients.to_vec(), &shaping, 1).with_bonus_apart(bonus_apart);
        rollouts.map(|rewards| {
            let mut rollout = RolloutBuffer::new(1, 2, 1, 1, 1);
            rollout.keep(false);
            rollout.rewards.copy_from_slice(&rewards);
            rollout.measures.copy_from_slice(&measures);
            mixer.apply(&mut rollout, &Agent::new(&networks, 1), &networks, &payers).unwrap();
            rollout.rewards
        })
    }

    #[test]
    fn objective_bonus_and_measures_are_mixed() {
        // The archive is empty, so each step earns the bonus of 2.
        assert_eq!(paid(&[0.5, -2.0], false, [1.0, 3.0]), [0.5 * 3.0 - 0.5, 0.5 * 5.0 - 1.0]);
    }

    #[test]
    fn a_bonus_paid_apart_is_not_weighted() {
        let paid = |weight| {
            let [paid] = paid_by(Objective::True, [0.25, 0.5], &[weight, -2.0], false, [[1.0, 3.0]], true);
            paid
        };
        assert_eq!(paid(0.5), [0.5 * 1.0 + 2.0 - 0.5, 0.5 * 3.0 + 2.0 - 1.0]);
        assert_eq!(paid(1.0), [1.0 + 2.0 - 0.5, 3.0 + 2.0 - 1.0]);
        assert_eq!(paid(0.0), [-0.5, -1.0]);
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
    fn a_learned_reward_is_counted_in_its_mean_size_at_the_start_of_the_phase() {
        let sizes = Sizes { observation: 1, action: 1 };
        let learned = |scaled| {
            Objective::Learned(LearnedReward::new(Box::new(True { sizes }), Pairs::default(), scaled, 1000))
        };
        let rollouts = [[0.25, -0.75], [2.0, 2.0]];
        // The bonus of 2 keeps its size, because it has the same unit.
        let paid = paid_by(learned(true), [0.25, 0.5], &[1.0, 0.0], false, rollouts, false);
        assert_eq!(paid, [[2.5, 0.5], [6.0, 6.0]]);
        let paid = paid_by(learned(false), [0.25, 0.5], &[1.0, 0.0], false, rollouts, false);
        assert_eq!(paid, [[2.25, 1.25], [4.0, 4.0]]);
    }

    #[test]
    fn next_to_nothing_is_no_unit() {
        assert_eq!((mean_size(&[1e-9, -1e-9]), mean_size(&[])), (LEAST_SCALE, LEAST_SCALE));
    }

    #[test]
    fn who_serves_a_measure_does_not_see_the_objective() {
        assert_eq!(paid(&[0.0, 1.0], false, [f32::NAN, f32::INFINITY]), [0.25, 0.5]);
    }
}
