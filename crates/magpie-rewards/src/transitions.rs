//! What happened: rows of observation, action and what followed, as flat tables.
//!
//! Demonstrations and policies are handed over in the same form, so that a model cannot treat them differently by
//! accident: observations raw, actions limited as the environment takes them, both of the same step.

use magpie_demos::{Pairs, Sizes};

use crate::error::RewardError;

/// Columns that not every model looks at. A caller may leave the others empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Needs {
    /// Observations after the step, and which steps were terminal.
    pub next_observations: bool,
    /// log π of the actions under the current policy, for demonstrations too.
    pub log_probs: bool,
    /// The environment's rewards.
    pub rewards: bool,
    /// How many steps of the horizon an early end cost.
    pub lost: bool,
}

/// A batch of transitions. Columns that the model does not need may be empty ([`Needs`]).
#[derive(Debug, Clone, Copy, Default)]
pub struct Transitions<'a> {
    /// Raw observations on which the actions were chosen.
    pub observations: &'a [f32],
    /// Actions, limited to ±1 as the environment takes them.
    pub actions: &'a [f32],
    /// Raw observations after the step; of the same episode, not of the one that a reset started.
    pub next_observations: &'a [f32],
    /// Whether the episode ended by itself with the step. An episode that was cut off did not.
    pub terminated: &'a [bool],
    /// log π of the actions under the current policy.
    pub log_probs: &'a [f32],
    /// The environment's rewards.
    pub rewards: &'a [f32],
    /// For rows that ended their episode by themselves, the steps that were left of the horizon; elsewhere 0.
    pub lost: &'a [u32],
}

/// Those of demonstrations. Likelihoods are left to whoever has the policy.
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
    /// How many rows there are, if all columns fit.
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
