//! Curiosity: a bonus for episodes whose behaviour falls where the archive is still empty.
//!
//! Each step of an episode with mean measure m earns p + q·[cell(m) is empty]. A window is shorter than an episode, so
//! what m is has to be said: see [`Scope`]. Beyond the paper, something else may count as new ([`Novelty`]), the bonus may
//! be counted in rewards ([`Unit`]), the last steps of an episode may earn more of it than the first, and restarts may
//! lead to the frontier of what is known.

use magpie_learn::{End, Window};
use serde::{Deserialize, Serialize};

use crate::novelty::{Known, Novelty};

/// How large the bonus is, what earns it, and over which steps behaviour is averaged.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curiosity {
    /// q: earned by each step of an episode whose behaviour is new, in [`Unit`]s. Paper: 2 for imitation, 1 with the true
    /// reward.
    pub weight: f64,
    /// p: earned by every step. Paper: 0 for imitation, 0.5 with the true reward.
    pub base: f64,
    /// Which steps make an episode's mean.
    pub scope: Scope,
    /// What counts as new. Paper: an empty cell.
    pub novelty: Novelty,
    /// Which archive a cell has to be filled in to be known, to the bonus and to restarts. Paper: the soft one.
    pub archive: Known,
    /// Whether an episode that ends in a fall earns it too, in its last window. Paper: yes.
    pub falls: bool,
    /// How wide the neighbourhood is in which [`Novelty::Density`] and restarts look for empty cells, in cells.
    pub width: f64,
    /// Whether restarts lead to the frontier of what is known, not to any elite. Paper: no.
    pub frontier: bool,
    /// What a step's bonus is counted in. Paper: a fixed sum.
    pub unit: Unit,
    /// What part of its successor's bonus a step earns; the sum over the steps stays, counted in [`Unit`]s. Paper: 1, all
    /// earn the same.
    pub credit: f64,
}

impl Default for Curiosity {
    /// None at all.
    fn default() -> Curiosity {
        Curiosity {
            weight: 0.0,
            base: 0.0,
            scope: Scope::Episode,
            novelty: Novelty::default(),
            archive: Known::default(),
            falls: true,
            width: 2.0,
            frontier: false,
            unit: Unit::default(),
            credit: 1.0,
        }
    }
}

/// What the bonus of a step is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Each step earns the same. The paper's.
    #[default]
    Step,
    /// Each step earns in proportion to its objective reward, and nothing where that is negative: to be new is worth
    /// nothing to a policy that does badly.
    Reward,
}

/// The steps over which the measure of an episode in a window is averaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// All steps of the episode so far, those in earlier windows included.
    Episode,
    /// The steps of the episode that lie in the window.
    Segment,
    /// All steps of the window, whether they belong to one episode or to several.
    Window,
}

/// What is known of the episodes under way: sums of measures and numbers of steps, carried from window to window.
#[derive(Debug, Clone)]
pub struct Memory {
    sums: Vec<f64>,
    steps: Vec<u32>,
}

impl Memory {
    /// For environments that have just been reset.
    pub fn new(environments: usize, measures: usize) -> Memory {
        Memory::from_parts(vec![0.0; environments * measures], vec![0; environments])
    }

    /// For environments in mid-episode: sums of measures, one row an environment, and numbers of steps.
    pub fn from_parts(sums: Vec<f64>, steps: Vec<u32>) -> Memory {
        Memory { sums, steps }
    }

    /// Sums of measures and numbers of steps.
    pub fn parts(&self) -> (&[f64], &[u32]) {
        (&self.sums, &self.steps)
    }
}

impl Curiosity {
    /// Whether any step earns anything.
    pub fn is_on(&self) -> bool {
        self.weight != 0.0 || self.base != 0.0
    }

    /// What has to be known to pay: nothing but empty cells, if nothing is paid for novelty.
    pub(crate) fn pays_for(&self) -> Novelty {
        if self.weight == 0.0 { Novelty::Empty } else { self.novelty }
    }

    /// Whether restarts lead to the frontier.
    pub(crate) fn seeks_frontier(&self) -> bool {
        self.frontier && self.weight != 0.0
    }

    /// Adds the bonus to the rewards of a window. `judge` says how new a mean measure is, from 0 to 1, and is asked once for
    /// each episode that has ended or is cut off by the end of the window. Returns the mean novelty of the steps: with empty
    /// cells, the share of steps in them.
    pub fn pay(&self, window: &mut Window, memory: &mut Memory, mut judge: impl FnMut(&[f64]) -> f64) -> f64 {
        let environments = window.environments();
        let dims = memory.sums.len() / environments.max(1);
        let mut mean = vec![0.0; dims];
        let mut curious = 0.0;
        let mut segment: Vec<usize> = Vec::with_capacity(window.steps());
        for environment in 0..environments {
            let sums = &mut memory.sums[environment * dims..][..dims];
            let steps = &mut memory.steps[environment];
            if self.scope != Scope::Episode {
                sums.fill(0.0);
                *steps = 0;
            }
            let mut rows = window.rows_of(environment).peekable();
            while let Some(row) = rows.next() {
                for (sum, &m) in sums.iter_mut().zip(&window.measures[row * dims..][..dims]) {
                    *sum += f64::from(m);
                }
                *steps += 1;
                segment.push(row);
                let ends = self.scope != Scope::Window && window.ends[row] != End::Continues;
                if !ends && rows.peek().is_some() {
                    continue;
                }
                mean.iter_mut().zip(&*sums).for_each(|(m, s)| *m = s / f64::from(*steps));
                // Most of what is new to a beginner is a new way to fall, and that should not be worth learning.
                let fell = ends && window.ends[row] == End::Terminated;
                let new = judge(&mean) * f64::from(u8::from(self.falls || !fell));
                curious += new * segment.len() as f64;
                let mut bonus = self.weight * new * self.last_share(segment.len());
                for row in segment.drain(..).rev() {
                    let reward = &mut window.rewards[row];
                    let size = match self.unit {
                        Unit::Step => 1.0,
                        Unit::Reward => f64::from(reward.max(0.0)),
                    };
                    *reward += (self.base + bonus * size) as f32;
                    bonus *= self.credit;
                }
                if ends {
                    sums.fill(0.0);
                    *steps = 0;
                }
            }
        }
        curious / window.rows().max(1) as f64
    }

    /// How many times its even share of the bonus the last of `steps` steps earns.
    fn last_share(&self, steps: usize) -> f64 {
        let mut credits = 0.0;
        (0..steps).for_each(|_| credits = 1.0 + self.credit * credits);
        steps as f64 / credits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One environment, four steps, one measure; an episode ends after the second step.
    fn window(measures: [f32; 4]) -> Window {
        let mut window = Window::new(1, 4, 1, 1, 1);
        window.measures.copy_from_slice(&measures);
        window.ends[1] = End::Terminated;
        window
    }

    fn above_half(mean: &[f64]) -> f64 {
        f64::from(u8::from(mean[0] > 0.5))
    }

    fn paid(scope: Scope, memory: &mut Memory, measures: [f32; 4]) -> (Vec<f32>, f64) {
        let mut window = window(measures);
        let curiosity = Curiosity { weight: 2.0, base: 0.5, scope, ..Curiosity::default() };
        let share = curiosity.pay(&mut window, memory, above_half);
        (window.rewards, share)
    }

    #[test]
    fn each_episode_is_judged_by_its_own_mean() {
        let (rewards, share) = paid(Scope::Episode, &mut Memory::new(1, 1), [1.0, 1.0, 0.0, 0.0]);
        assert_eq!((rewards, share), (vec![2.5, 2.5, 0.5, 0.5], 0.5));
    }

    #[test]
    fn an_episode_remembers_its_steps_in_earlier_windows() {
        let mut memory = Memory::new(1, 1);
        paid(Scope::Episode, &mut memory, [0.0, 0.0, 0.0, 0.0]);
        // Two steps at 0 in the last window and two at 0.9 make 0.45; the next episode starts afresh.
        let (rewards, _) = paid(Scope::Episode, &mut memory, [0.9, 0.9, 0.6, 0.6]);
        assert_eq!(rewards, [0.5, 0.5, 2.5, 2.5]);
        let (rewards, _) = paid(Scope::Segment, &mut memory, [0.9, 0.9, 0.6, 0.0]);
        assert_eq!(rewards, [2.5, 2.5, 0.5, 0.5]);
    }

    #[test]
    fn a_window_ignores_the_ends_of_episodes() {
        let (rewards, share) = paid(Scope::Window, &mut Memory::new(1, 1), [1.0, 1.0, 1.0, 0.0]);
        assert_eq!((rewards, share), (vec![2.5; 4], 1.0));
    }

    #[test]
    fn a_fall_earns_nothing_where_falls_are_not_paid() {
        let curiosity = Curiosity { weight: 2.0, base: 0.5, falls: false, ..Curiosity::default() };
        let mut fallen = window([1.0, 1.0, 1.0, 1.0]);
        let mut late = fallen.clone();
        late.ends[1] = End::Truncated;
        let share = |window: &mut Window| curiosity.pay(window, &mut Memory::new(1, 1), above_half);
        assert_eq!((share(&mut fallen), fallen.rewards), (0.5, vec![0.5, 0.5, 2.5, 2.5]));
        assert_eq!((share(&mut late), late.rewards), (1.0, vec![2.5; 4]));
    }

    #[test]
    fn a_bonus_in_units_of_the_reward_is_nothing_to_who_does_badly() {
        let curiosity = Curiosity { weight: 2.0, base: 0.5, unit: Unit::Reward, ..Curiosity::default() };
        let mut window = window([1.0, 1.0, 0.0, 0.0]);
        window.rewards.copy_from_slice(&[3.0, -1.0, 3.0, -1.0]);
        curiosity.pay(&mut window, &mut Memory::new(1, 1), above_half);
        assert_eq!(window.rewards, [9.5, -0.5, 3.5, -0.5]);
    }

    #[test]
    fn the_last_steps_earn_most_where_credit_decays() {
        let curiosity = Curiosity { weight: 3.0, base: 0.5, credit: 0.5, ..Curiosity::default() };
        let mut window = window([1.0, 1.0, 0.0, 0.0]);
        curiosity.pay(&mut window, &mut Memory::new(1, 1), above_half);
        // 2 and 4 in place of 3 and 3.
        assert_eq!(window.rewards, [2.5, 4.5, 0.5, 0.5]);
    }

    #[test]
    fn every_episode_is_judged_once_and_again_in_the_next_window() {
        let mut means = Vec::new();
        let curiosity = Curiosity { weight: 1.0, ..Curiosity::default() };
        let mut memory = Memory::new(1, 1);
        for _ in 0..2 {
            curiosity.pay(&mut window([1.0, 0.5, 0.0, 1.0]), &mut memory, |mean| {
                means.push(mean[0]);
                0.0
            });
        }
        // One ended, one was cut off at 0.5 after two steps; that one ends after two more.
        assert_eq!(means, [0.75, 0.5, 0.625, 0.5]);
    }
}
