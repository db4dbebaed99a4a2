//! Transitions: rows of observation, action and what followed, as flat tables.
//!
//! Demonstrations and policies use the same form, so that a model cannot treat them differently by accident: raw
//! observations, and actions clipped as the environment receives them, both of the same step.

use magpie_demos::{Pairs, Sizes};

use crate::error::RewardError;

/// Columns that only some models read. The caller may leave the others empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Needs {
    /// Next observations, and which steps were terminal.
    pub next_observations: bool,
    /// log π of the actions under the current policy, including those of demonstrations.
    pub log_probs: bool,
    /// The environment's rewards.
    pub rewards: bool,
    /// The number of steps lost by ending early.
    pub lost: bool,
}

/// A batch of transitions. Columns that the model does not need may be empty ([`Needs`]).
#[derive(Debug, Clone, Copy, Default)]
pub struct Transitions<'a> {
    /// Raw observations from which the actions were chosen.
    pub observations: &'a [f32],
    /// Actions as the environment receives them, clipped to ±1.
    pub actions: &'a [f32],
    /// Raw observations after the step, of the same episode even if a reset followed.
    pub next_observations: &'a [f32],
    /// Whether the episode terminated with the step; false if it was truncated.
    pub terminated: &'a [bool],
    /// log π of the actions under the current policy.
    pub log_probs: &'a [f32],
    /// The environment's rewards.
    pub rewards: &'a [f32],
    /// For rows that terminated their episode, the number of steps left until the horizon; otherwise 0.
    pub lost: &'a [u32],
}

/// Transitions of demonstrations. Likelihoods must be added by a caller that has the policy.
impl<'a> From<&'a Pairs> for Transitions<'a> {
    fn from(pairs: &'a Pairs) -> Transitions<'a> {
        Transitions {
            observations: &pairs.observations,
            actions: &pairs.actions,
            next_observations: &pairs.next_observations,
            terminated: &pairs.terminated,
            log_probs: &[],
            rewards: &pairs.rewards,
            lost: &pairs.lost,
        }
    }
}

impl Transitions<'_> {
    /// The number of rows, if all columns fit.
    pub fn rows(&self, whose: &'static str, sizes: Sizes, needs: Needs) -> Result<usize, RewardError> {
        let rows = self.observations.len() / sizes.observation.max(1);
        let columns = [
            ("observations", self.observations.len(), sizes.observation, true),
            ("actions", self.actions.len(), sizes.action, true),
            ("next_observations", self.next_observations.len(), sizes.observation, needs.next_observations),
            ("terminated", self.terminated.len(), 1, needs.next_observations),
            ("log_probs", self.log_probs.len(), 1, needs.log_probs),
            ("rewards", self.rewards.len(), 1, needs.rewards),
            ("lost", self.lost.len(), 1, needs.lost),
        ];
        for (field, found, width, needed) in columns {
            if found != rows * width && (needed || found != 0) {
                return Err(RewardError::Length { whose, field, expected: rows * width, found });
            }
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_must_fit_and_only_needed_ones_be_there() {
        let sizes = Sizes { observation: 3, action: 2 };
        let (six, four) = ([0.0; 6], [0.0; 4]);
        let plain = Transitions { observations: &six, actions: &four, ..Transitions::default() };
        assert_eq!(plain.rows("policy", sizes, Needs::default()), Ok(2));
        let needs = Needs { log_probs: true, ..Needs::default() };
        let error = plain.rows("policy", sizes, needs).unwrap_err().to_string();
        assert_eq!(error, "policy transitions: log_probs has 0 numbers, but 2 were expected");
        for broken in [
            Transitions { actions: &four[..3], ..plain },
            Transitions { observations: &six[..5], ..plain },
            Transitions { rewards: &four[..1], ..plain },
        ] {
            assert!(broken.rows("policy", sizes, Needs::default()).is_err());
        }
    }
}
