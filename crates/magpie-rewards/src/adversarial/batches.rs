//! One pass over the expert rows, paired with the same number of randomly drawn policy rows.

use magpie_demos::Sizes;
use magpie_random::Draws;

use super::pairs::ABSORBED;
use crate::error::RewardError;
use crate::transitions::{Needs, Transitions};

/// The rows of an update, divided into minibatches.
#[derive(Debug)]
pub(crate) struct Batches {
    expert: Vec<u32>,
    policy: Vec<u32>,
    count: usize,
}

impl Batches {
    /// Shuffles the expert rows and draws policy rows. With absorbing states (`needs.lost`), the steps lost by ending
    /// early count as rows on both sides.
    pub fn draw(
        sizes: Sizes,
        needs: Needs,
        expert: &Transitions,
        policy: &Transitions,
        size: usize,
        draws: &mut Draws,
    ) -> Result<Batches, RewardError> {
        let expert_rows = expert.rows("expert", sizes, needs)?;
        let policy_rows = policy.rows("policy", sizes, needs)?;
        for (whose, rows) in [("expert", expert_rows), ("policy", policy_rows)] {
            if rows == 0 {
                return Err(RewardError::Empty { whose });
            }
        }
        let absorbed = |transitions: &Transitions| match needs.lost {
            true => transitions.lost.iter().map(|&n| u64::from(n)).sum::<u64>(),
            false => 0,
        };
        // An index has 32 bits, and its largest value means "absorbed".
        let limit = u64::from(ABSORBED - 1);
        let mut expert_index: Vec<u32> = (0..expert_rows as u64 + absorbed(expert))
            .take(limit as usize)
            .map(|row| if row < expert_rows as u64 { row as u32 } else { ABSORBED })
            .collect();
        draws.shuffle(&mut expert_index);
        let pool = (policy_rows as u64 + absorbed(policy)).min(limit) as u32;
        let policy_index = expert_index
            .iter()
            .map(|_| draws.below(pool))
            .map(|row| if (row as usize) < policy_rows { row } else { ABSORBED })
            .collect();
        let count = expert_index.len().div_ceil(size.max(1));
        Ok(Batches { expert: expert_index, policy: policy_index, count })
    }

    /// Expert and policy rows of each minibatch. Sizes differ by at most one row, so that all carry nearly the same
    /// weight.
    pub fn iter(&self) -> impl Iterator<Item = (&[u32], &[u32])> {
        let cut = |i: usize| i * self.expert.len() / self.count;
        (0..self.count).map(move |i| {
            let range = cut(i)..cut(i + 1);
            (&self.expert[range.clone()], &self.policy[range])
        })
    }

    /// Rows of the largest minibatch.
    pub fn largest(&self) -> usize {
        self.iter().map(|(expert, _)| expert.len()).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use magpie_random::Stream;

    #[test]
    fn every_expert_row_comes_once_and_lost_steps_count() {
        let sizes = Sizes { observation: 1, action: 1 };
        let (ten, thirty) = ([0.0; 10], [0.0; 30]);
        let mut lost = [0; 30];
        lost[3] = 30;
        let expert =
            Transitions { observations: &ten, actions: &ten, lost: &lost[10..20], ..Default::default() };
        let policy =
            Transitions { observations: &thirty, actions: &thirty, lost: &lost, ..Default::default() };
        let mut draws = Stream::new(1, "test").draws(0, 0);
        let needs = Needs { lost: true, ..Needs::default() };
        let batches = Batches::draw(sizes, needs, &expert, &policy, 4, &mut draws).unwrap();
        let mut seen: Vec<u32> = batches.iter().flat_map(|(expert, _)| expert.to_vec()).collect();
        assert_ne!(seen, (0..10).collect::<Vec<_>>());
        seen.sort_unstable();
        assert_eq!(seen, (0..10).collect::<Vec<_>>());
        assert!(batches.iter().all(|(e, p)| e.len() == p.len() && (3..=4).contains(&e.len())));

        let mut absorbed = 0;
        for _ in 0..100 {
            let batches = Batches::draw(sizes, needs, &expert, &policy, 4, &mut draws).unwrap();
            absorbed += batches.policy.iter().filter(|&&row| row == ABSORBED).count();
        }
        assert!(
            (400..600).contains(&absorbed),
            "half of the steps are lost, but {absorbed} of 1000 rows are absorbed"
        );
    }
}
