//! The results of the last step of sixteen environments.

use magpie_simd::{LANES, Pack};

/// A set of lanes of a group: bit i is lane i.
pub type LaneSet = u32;

/// Every lane of a group.
pub(crate) const ALL_LANES: LaneSet = LaneSet::MAX >> (LaneSet::BITS as usize - LANES);

/// The results of the last step, one lane per environment.
#[derive(Debug, Clone)]
pub struct Group {
    /// The observation to act on: for a finished episode, the first one of the next episode.
    pub observation: Vec<Pack>,
    /// In the lanes of [`Group::done`], the final observation of the episode that has just finished. Steps without
    /// reset do not write it, because [`Group::observation`] then is that observation.
    pub final_observation: Vec<Pack>,
    /// Reward of the last step.
    pub reward: Pack,
    /// Measures of the last step, one pack per dimension.
    pub measure: Vec<Pack>,
    /// Episodes that terminated in the last step.
    pub terminated: LaneSet,
    /// Episodes that were truncated in the last step because of their length.
    pub truncated: LaneSet,
    /// The number of steps in the current episode.
    pub(crate) steps: [u32; LANES],
}

impl Group {
    pub(crate) fn new(observation: usize, measure: usize) -> Group {
        let packs = |n| vec![Pack::default(); n];
        Group {
            observation: packs(observation),
            final_observation: packs(observation),
            reward: Pack::default(),
            measure: packs(measure),
            terminated: 0,
            truncated: 0,
            steps: [0; LANES],
        }
    }

    /// Lanes whose episode has just finished.
    pub fn done(&self) -> LaneSet {
        self.terminated | self.truncated
    }

    /// Counts a step, and truncates episodes that have lasted `episode_steps`.
    pub(crate) fn count_step(&mut self, episode_steps: u32) {
        self.truncated = 0;
        for (lane, steps) in self.steps.iter_mut().enumerate() {
            *steps += 1;
            if *steps >= episode_steps {
                self.truncated |= 1 << lane;
            }
        }
        self.truncated &= !self.terminated;
    }
}

/// The lanes of a set.
pub fn members(mut lanes: LaneSet) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = lanes.trailing_zeros() as usize;
        lanes &= lanes.wrapping_sub(1);
        (lane < LANES).then_some(lane)
    })
}
