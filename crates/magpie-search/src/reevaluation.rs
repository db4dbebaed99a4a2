//! Re-evaluation: solutions of the archive run again, so that what the archive says of them is evidence and not luck.

use std::collections::BTreeMap;

use magpie_learn::{Evaluation, Policy, evaluate_part, full_lanes};
use magpie_qd::{ArchivePair, Elite, Entry};
use magpie_random::Draws;

use crate::evaluator::{Evaluator, elite_policy};

/// With so many episodes the mean of a measure is known to a tenth of its spread: more of them move few elites.
pub(crate) const ENOUGH_EPISODES: u32 = 100;

/// Policies that are held in memory at once.
pub(crate) const AT_ONCE: usize = 64;

/// The elites that were evaluated in the fewest episodes, at most `number`, in random order among equals. Runners-up wait
/// until they are promoted: most never are.
pub(crate) fn least_known<'a>(archives: &'a ArchivePair, number: usize, draws: &mut Draws) -> Vec<Elite<'a>> {
    if number == 0 {
        return Vec::new();
    }
    let mut elites: Vec<Elite<'_>> =
        archives.elites().filter(|elite| elite.entry.episodes < ENOUGH_EPISODES).collect();
    draws.shuffle(&mut elites);
    // The sort is stable, and keeps the order among equals random.
    elites.sort_by_key(|elite| elite.entry.episodes);
    elites.truncate(number);
    elites
}

impl Evaluator {
    /// Evaluates stored solutions again. Returns their results by slot, and the number of environment steps.
    pub fn again(&self, elites: &[Elite<'_>], seed: u64) -> (BTreeMap<usize, Entry>, u64) {
        let (mut results, mut steps) = (BTreeMap::new(), 0);
        for (part, elites) in elites.chunks(AT_ONCE).enumerate() {
            for (elite, result) in elites.iter().zip(self.episodes_of(elites, part * AT_ONCE, seed)) {
                steps += result.steps();
                results.insert(elite.slot, entry(elite, &result));
            }
        }
        (results, steps)
    }

    /// Episodes of stored solutions, the first of which is the `number`-th of all that are evaluated under this seed.
    pub fn episodes_of(&self, elites: &[Elite<'_>], number: usize, seed: u64) -> Vec<Evaluation> {
        let Evaluator { env, networks, episodes, actions } = self;
        let policies: Vec<Policy> = elites.iter().map(elite_policy).collect();
        let policies: Vec<&Policy> = policies.iter().collect();
        evaluate_part(env, networks, &policies, number as u32, *episodes, *actions, seed)
    }

    /// The same with all lanes in use, where more episodes take no more time.
    pub fn with_full_lanes(self) -> Evaluator {
        Evaluator { episodes: full_lanes(self.episodes), ..self }
    }
}

/// An evaluation of a stored solution.
pub(crate) fn entry(elite: &Elite<'_>, result: &Evaluation) -> Entry {
    Entry {
        objective: result.mean_return(),
        measures: result.mean_measures(),
        length: result.mean_length(),
        episodes: result.episodes(),
        squares: result.squared_deviations(),
        provenance: elite.entry.provenance,
    }
}
