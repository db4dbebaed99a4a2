//! Curiosity: a bonus for episodes whose behaviour falls where the archive is still empty.
//!
//! Each step of an episode with mean measure m earns p + q·[cell(m) is empty]. A window is shorter than an episode, so
//! what m is has to be said: see [`Scope`].

use magpie_learn::{End, Window};
use serde::{Deserialize, Serialize};

/// How large the bonus is, and over which steps behaviour is averaged.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curiosity {
    /// q: earned by each step of an episode in an empty cell. Paper: 2 for imitation, 1 with the true reward.
    pub weight: f64,
    /// p: earned by every step. Paper: 0 for imitation, 0.5 with the true reward.
    pub base: f64,
    /// Which steps make an episode's mean.
    pub scope: Scope,
}

impl Default for Curiosity {
    /// None at all.
    fn default() -> Curiosity {
        Curiosity { weight: 0.0, base: 0.0, scope: Scope::Episode }
    }
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

    /// Adds the bonus to the rewards of a window. Returns the share of its steps that fell in empty cells.
    pub fn pay(&self, window: &mut Window, memory: &mut Memory, is_empty: impl Fn(&[f64]) -> bool) -> f64 {
        let environments = window.environments();
        let dims = memory.sums.len() / environments.max(1);
        let mut mean = vec![0.0; dims];
        let mut curious = 0_usize;
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
                let empty = is_empty(&mean);
                let bonus = self.base + if empty { self.weight } else { 0.0 };
                curious += if empty { segment.len() } else { 0 };
                for row in segment.drain(..) {
                    window.rewards[row] += bonus as f32;
                }
                if ends {
                    sums.fill(0.0);
                    *steps = 0;
                }
            }
        }
        curious as f64 / window.rows().max(1) as f64
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

    fn paid(scope: Scope, memory: &mut Memory, measures: [f32; 4]) -> (Vec<f32>, f64) {
        let mut window = window(measures);
        let curiosity = Curiosity { weight: 2.0, base: 0.5, scope };
        let share = curiosity.pay(&mut window, memory, |m| m[0] > 0.5);
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
}
