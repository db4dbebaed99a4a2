//! How a novelty bonus is paid: each step of an episode with mean measures m earns p + q·novelty(m).
//!
//! Because a rollout is shorter than an episode, [`Scope`] defines which steps m is averaged over.

use magpie_learn::{End, RolloutBuffer};

use super::episodes::EpisodeAccumulator;
use crate::config::{BonusScale, Curiosity, Scope};

/// Adds the bonus to the rewards of a rollout. `novelty` maps mean measures to 0…1 and is called once for each episode
/// that ends in the rollout or is cut off by its end. Returns the mean novelty of the steps; with novelty by empty
/// cells this is the share of steps in them.
pub fn pay_episodes(
    config: &Curiosity,
    rollout: &mut RolloutBuffer,
    episodes: &mut EpisodeAccumulator,
    mut novelty: impl FnMut(&[f64]) -> f64,
) -> f64 {
    let environments = rollout.environments();
    let dims = episodes.dims();
    let EpisodeAccumulator { sums, steps, scored, .. } = episodes;
    scored.clear();
    let mut mean = vec![0.0; dims];
    let mut curious = 0.0;
    let mut segment: Vec<usize> = Vec::with_capacity(rollout.steps());
    for environment in 0..environments {
        let sums = &mut sums[environment * dims..][..dims];
        let steps = &mut steps[environment];
        if config.scope != Scope::Episode {
            sums.fill(0.0);
            *steps = 0;
        }
        let mut rows = rollout.rows_of(environment).peekable();
        while let Some(row) = rows.next() {
            for (sum, &m) in sums.iter_mut().zip(&rollout.measures[row * dims..][..dims]) {
                *sum += f64::from(m);
            }
            *steps += 1;
            segment.push(row);
            let ends = config.scope != Scope::Window && rollout.ends[row] != End::Continues;
            if !ends && rows.peek().is_some() {
                continue;
            }
            mean.iter_mut().zip(&*sums).for_each(|(m, s)| *m = s / f64::from(*steps));
            scored.extend_from_slice(&mean);
            // To an untrained policy most novel behaviour is a new way to fall, which it should not learn.
            let fell = ends && rollout.ends[row] == End::Terminated;
            let new = novelty(&mean) * f64::from(u8::from(config.on_termination || !fell));
            curious += new * segment.len() as f64;
            let bonus = config.weight * new;
            for row in segment.drain(..) {
                let reward = &mut rollout.rewards[row];
                let size = match config.scale {
                    BonusScale::Step => 1.0,
                    BonusScale::Reward => f64::from(reward.max(0.0)),
                };
                *reward += (config.base + bonus * size) as f32;
            }
            if ends {
                sums.fill(0.0);
                *steps = 0;
            }
        }
    }
    curious / rollout.rows().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One environment, four steps, one measure; an episode ends after the second step.
    fn rollout(measures: [f32; 4]) -> RolloutBuffer {
        let mut rollout = RolloutBuffer::new(1, 4, 1, 1, 1);
        rollout.measures.copy_from_slice(&measures);
        rollout.ends[1] = End::Terminated;
        rollout
    }

    fn above_half(mean: &[f64]) -> f64 {
        f64::from(u8::from(mean[0] > 0.5))
    }

    fn paid(scope: Scope, memory: &mut EpisodeAccumulator, measures: [f32; 4]) -> (Vec<f32>, f64) {
        let mut rollout = rollout(measures);
        let curiosity = Curiosity { weight: 2.0, base: 0.5, scope, ..Curiosity::default() };
        let share = pay_episodes(&curiosity, &mut rollout, memory, above_half);
        (rollout.rewards, share)
    }

    #[test]
    fn each_episode_is_scored_by_its_own_mean() {
        let (rewards, share) = paid(Scope::Episode, &mut EpisodeAccumulator::new(1, 1), [1.0, 1.0, 0.0, 0.0]);
        assert_eq!((rewards, share), (vec![2.5, 2.5, 0.5, 0.5], 0.5));
    }

    #[test]
    fn an_episode_remembers_its_steps_in_earlier_rollouts() {
        let mut memory = EpisodeAccumulator::new(1, 1);
        paid(Scope::Episode, &mut memory, [0.0, 0.0, 0.0, 0.0]);
        // Two steps at 0 in the last rollout and two at 0.9 make 0.45; the next episode starts at 0.
        let (rewards, _) = paid(Scope::Episode, &mut memory, [0.9, 0.9, 0.6, 0.6]);
        assert_eq!(rewards, [0.5, 0.5, 2.5, 2.5]);
        let (rewards, _) = paid(Scope::Segment, &mut memory, [0.9, 0.9, 0.6, 0.0]);
        assert_eq!(rewards, [2.5, 2.5, 0.5, 0.5]);
    }

    #[test]
    fn a_rollout_ignores_the_ends_of_episodes() {
        let (rewards, share) = paid(Scope::Window, &mut EpisodeAccumulator::new(1, 1), [1.0, 1.0, 1.0, 0.0]);
        assert_eq!((rewards, share), (vec![2.5; 4], 1.0));
    }

    #[test]
    fn a_fall_earns_nothing_where_falls_are_not_paid() {
        let curiosity = Curiosity { weight: 2.0, base: 0.5, on_termination: false, ..Curiosity::default() };
        let mut fallen = rollout([1.0, 1.0, 1.0, 1.0]);
        let mut late = fallen.clone();
        late.ends[1] = End::Truncated;
        let share = |rollout: &mut RolloutBuffer| {
            pay_episodes(&curiosity, rollout, &mut EpisodeAccumulator::new(1, 1), above_half)
        };
        assert_eq!((share(&mut fallen), fallen.rewards), (0.5, vec![0.5, 0.5, 2.5, 2.5]));
        assert_eq!((share(&mut late), late.rewards), (1.0, vec![2.5; 4]));
    }

    #[test]
    fn a_bonus_in_units_of_the_reward_is_nothing_to_who_does_badly() {
        let curiosity =
            Curiosity { weight: 2.0, base: 0.5, scale: BonusScale::Reward, ..Curiosity::default() };
        let mut rollout = rollout([1.0, 1.0, 0.0, 0.0]);
        rollout.rewards.copy_from_slice(&[3.0, -1.0, 3.0, -1.0]);
        pay_episodes(&curiosity, &mut rollout, &mut EpisodeAccumulator::new(1, 1), above_half);
        assert_eq!(rollout.rewards, [9.5, -0.5, 3.5, -0.5]);
    }

    #[test]
    fn every_episode_is_scored_once_and_again_in_the_next_rollout() {
        let mut means = Vec::new();
        let curiosity = Curiosity { weight: 1.0, ..Curiosity::default() };
        let mut memory = EpisodeAccumulator::new(1, 1);
        for _ in 0..2 {
            pay_episodes(&curiosity, &mut rollout([1.0, 0.5, 0.0, 1.0]), &mut memory, |mean| {
                means.push(mean[0]);
                0.0
            });
        }
        // One episode ended; one was cut off at 0.5 after two steps and ends after two more.
        assert_eq!(means, [0.75, 0.5, 0.625, 0.5]);
    }
}
