//! What sixteen environments gave in their last step.

use magpie_simd::{LANES, Pack};

/// Lane i of a set of environments is bit i.
pub type LaneSet = u32;

/// Every lane of a group.
pub(crate) const ALL_LANES: LaneSet = LaneSet::MAX >> (LaneSet::BITS as usize - LANES);

/// What the last step gave, one lane an environment.
#[derive(Debug, Clone)]
pub struct Group {
    /// What to act on next: after a finished episode, the first observation of the next one.
    pub observation: Vec<Pack>,
    /// In the lanes of [`Group::done`], the last observation of the episode that has just finished; not written by
    /// steps without reset, after which [`Group::observation`] is that observation itself.
    pub final_observation: Vec<Pack>,
    /// Reward of the last step.
    pub reward: Pack,
    /// Measure of the last step, one pack a dimension.
    pub measure: Vec<Pack>,
    /// Episodes that ended by themselves in the last step.
    pub terminated: LaneSet,
    /// Episodes that were cut off in the last step because they had lasted long enough.
    pub truncated: LaneSet,
    /// Steps made in the current episode.
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

    /// Counts a step and cuts off episodes that have lasted `episode_steps`.
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
