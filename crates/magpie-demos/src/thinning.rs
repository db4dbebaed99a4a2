//! Every Nth step of demonstrations.

use crate::check::LONGEST_HORIZON;
use crate::demonstrations::{Columns, Demonstrations, Sizes};
use crate::error::{Problem, problem};

/// Rows of demonstrations, ready to learn from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pairs {
    /// Raw observations.
    pub observations: Vec<f32>,
    /// Actions.
    pub actions: Vec<f32>,
    /// Observations after the step; empty unless asked for.
    pub next_observations: Vec<f32>,
    /// Whether the episode ended by itself with the step.
    pub terminated: Vec<bool>,
    /// True rewards; empty if not known.
    pub rewards: Vec<f32>,
    /// Steps that the end of the episode cost, thinned like the rows, at its last row.
    pub lost: Vec<u32>,
}

impl Demonstrations {
    /// Every `every`-th step of each episode, the first included; `every` must be a multiple of [`About::every`]. With
    /// `next_observations`, a step after which none is known is left out.
    ///
    /// [`About::every`]: crate::About::every
    pub fn thinned(&self, every: usize, next_observations: bool) -> Result<Pairs, Problem> {
        let Columns { about, sizes, observations, actions, rewards, .. } = &self.columns;
        let Sizes { observation, action } = *sizes;
        let every = every.clamp(1, LONGEST_HORIZON as usize);
        let kept = about.every as usize;
        if !every.is_multiple_of(kept) {
            return problem!(
                "every {every}th step is asked for, but it holds only every {kept}th; ask for a multiple of {kept}"
            );
        }
        let mut pairs = Pairs::default();
        for (number, (episode, rows)) in self.columns.rows().enumerate() {
            let mut taken = 0;
            for row in rows.clone().step_by(every / kept) {
                if next_observations {
                    let Some(next) = self.columns.next(number, &rows, row) else { continue };
                    pairs.next_observations.extend_from_slice(next);
                }
                let last = (row - rows.start) * kept + 1 == episode.length;
                pairs.observations.extend_from_slice(&observations[row * observation..][..observation]);
                pairs.actions.extend_from_slice(&actions[row * action..][..action]);
                pairs.terminated.push(last && episode.terminated);
                pairs.rewards.extend(rewards.get(row));
                pairs.lost.push(0);
                taken += 1;
            }
            if let (true, Some(lost)) = (episode.terminated && taken > 0, pairs.lost.last_mut()) {
                *lost = (about.horizon - episode.length as u32).div_ceil(every as u32);
            }
        }
        Ok(pairs)
    }

    /// The same with only every `every`-th step: all that a learner with this thinning sees, in a fraction of the bytes.
    /// Next observations are kept if they are known for all steps.
    pub fn sparse(&self, every: u32) -> Result<Demonstrations, Problem> {
        let pairs = self.thinned(every as usize, false)?;
        let followed = self.thinned(every as usize, true)?;
        let mut columns = self.columns.clone();
        for (episode, place) in columns.episodes.iter_mut().zip(self.places()) {
            episode.measures = place.unwrap_or_default();
        }
        if every > columns.about.every {
            columns.about.every = every;
            let all = followed.observations.len() == pairs.observations.len();
            columns.next_observations = if all { followed.next_observations } else { Vec::new() };
            columns.observations = pairs.observations;
            columns.actions = pairs.actions;
            columns.final_observations.clear();
            columns.rewards = pairs.rewards;
            // Their mean over all steps is what they are kept for.
            columns.measures.clear();
        }
        Demonstrations::new(columns)
    }
}
