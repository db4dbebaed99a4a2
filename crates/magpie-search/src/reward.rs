//! Where the objective reward of a step comes from.

use magpie_learn::Window;

/// Pays for steps, and may learn from what it has seen.
pub trait RewardModel: Send + Sync {
    /// Writes the objective reward of each row of the window in place of the environment's.
    fn pay(&self, window: &mut Window);

    /// Learns from a window of the policy that it has just paid for.
    fn learn(&mut self, window: &Window);
}

/// The environment's own reward.
#[derive(Debug, Clone, Copy, Default)]
pub struct TrueReward;

impl RewardModel for TrueReward {
    fn pay(&self, _: &mut Window) {}

    fn learn(&mut self, _: &Window) {}
}
