//! Generalised advantage estimation (Schulman et al., 2016).
//!
//! ```text
//! δ_t = r_t + γ V_{t+1} - V_t,   A_t = δ_t + γ λ A_{t+1},   R_t = A_t + V_t
//! ```
//!
//! There is no V_{t+1} after a termination; after a truncation, V_{t+1} is the value of the episode's final
//! observation, not of the next episode's first one. A_{t+1} does not cross either.

/// One step of one environment, in units of the reward.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// Reward.
    pub reward: f32,
    /// Value of the observation before the step.
    pub value: f32,
    /// Whether the episode ended with this step.
    pub done: bool,
    /// Value of the observation after the step: used if the episode was truncated (0 if it terminated) and at the very
    /// last step.
    pub bootstrap: f32,
}

/// Computes advantages backwards over the steps of one environment; calls `write` with index, advantage and return.
pub fn advantages(
    steps: impl DoubleEndedIterator<Item = Step> + ExactSizeIterator,
    gamma: f32,
    lambda: f32,
    mut write: impl FnMut(usize, f32, f32),
) {
    let mut later: Option<(f32, f32)> = None;
    for (t, step) in steps.enumerate().rev() {
        // Value and advantage of the next step in the same episode.
        let (next_value, next_advantage) = match later {
            Some(next) if !step.done => next,
            _ => (step.bootstrap, 0.0),
        };
        let delta = step.reward + gamma * next_value - step.value;
        let advantage = delta + gamma * lambda * next_advantage;
        write(t, advantage, advantage + step.value);
        later = Some((step.value, advantage));
    }
}
