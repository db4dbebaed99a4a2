//! Several search policies that take turns: in every iteration one of them branches and walks, at the cost of one.
//!
//! A single search policy that restarts often is never trained for long, and all depends on where it happens to be. Each of
//! these has its own xNES, critics and stall detection, and keeps what it has learned while others have their turns. They
//! share the archives, the reward model, and the cells at which they have restarted, so that none goes where another has
//! just been.

use serde::{Deserialize, Serialize};

use magpie_random::{Draws, Stream};

use super::{Batch, Emitter, Ppga, PpgaReport, Role, Setup, Told, Turn};
use crate::config::Turns;
use crate::error::SearchError;
use crate::record::{decode, encode};

/// Share of the turns that are given without regard to growth.
const EVEN: f64 = 0.2;

/// Weight of the latest turn in a search policy's mean growth.
const LATEST: f64 = 0.3;

/// The emitter. The last of its search policies are those that climb.
pub(in crate::emitter) struct Policies {
    members: Vec<Ppga>,
    past: PastTurns,
    /// The search policy of this iteration, and the archive's score when its turn began.
    active: Option<(usize, f64)>,
    /// The last one that had a turn.
    last: usize,
}

/// What the turns so far have brought.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct PastTurns {
    /// Mean growth of the archive in the turns of each search policy, recent ones first; `None` before the first one.
    growth: Vec<Option<f64>>,
    /// The archive's score after the last turn of each.
    scores: Vec<f64>,
}

#[derive(Serialize, Deserialize)]
struct PoliciesRecord {
    members: Vec<Vec<u8>>,
    past: PastTurns,
}

impl PastTurns {
    fn new(members: usize) -> PastTurns {
        PastTurns { growth: vec![None; members], scores: vec![0.0; members] }
    }

    /// The next search policy. With `growth`, those without a turn come first.
    fn next(&self, turns: Turns, iteration: u64, draws: &mut Draws) -> usize {
        let count = self.growth.len();
        match turns {
            Turns::Cycle => (iteration % count as u64) as usize,
            Turns::Growth => {
                if let Some(new) = self.growth.iter().position(Option::is_none) {
                    return new;
                }
                let grown = || self.growth.iter().map(|growth| growth.unwrap_or(0.0).max(0.0));
                let total: f64 = grown().sum();
                let even = 1.0 / count as f64;
                let mut left = f64::from(draws.unit());
                let drawn = grown().position(|growth| {
                    let share = if total > 0.0 { growth / total } else { even };
                    left -= EVEN * even + (1.0 - EVEN) * share;
                    left < 0.0
                });
                // Rounding can leave a remainder after the last one.
                drawn.unwrap_or(count - 1)
            }
        }
    }

    /// Records a turn in which the score rose from `before` to `after`.
    fn record(&mut self, member: usize, before: f64, after: f64) {
        let mean = self.growth[member].get_or_insert(after - before);
        *mean += LATEST * (after - before - *mean);
        self.scores[member] = after;
    }
}

impl Policies {
    pub fn new(setup: &Setup, seed: u64) -> Result<Policies, SearchError> {
        let config = &setup.config;
        let explorers = config.policies.saturating_sub(config.climbers);
        let member = |i: u32| {
            let role = if i < explorers { Role::explorer(config) } else { Role::CLIMBER };
            Ppga::with_role(role, setup, seed_of_policy(seed, i))
        };
        let members = (0..config.policies).map(member).collect::<Result<Vec<_>, _>>()?;
        Ok(Policies { past: PastTurns::new(members.len()), members, active: None, last: 0 })
    }

    /// The search policy of this iteration, chosen when it is first needed.
    fn member(&mut self, turn: &Turn<'_>) -> &mut Ppga {
        let (active, _) = *self.active.get_or_insert_with(|| {
            let next = self.past.next(turn.setup.config.turns, turn.iteration, &mut turn.draws("turns"));
            let score = turn.metrics().qd_score_offset;
            self.members[next].state.stall.leave_out(score - self.past.scores[next]);
            (next, score)
        });
        self.last = active;
        &mut self.members[active]
    }
}

/// The first search policy has the seed of the emitter; the others have seeds drawn from it.
fn seed_of_policy(seed: u64, index: u32) -> u64 {
    if index == 0 {
        return seed;
    }
    let mut draws = Stream::new(seed, "search policies").draws(index, 0);
    u64::from(draws.bits()) << 32 | u64::from(draws.bits())
}

impl Emitter for Policies {
    fn name(&self) -> &'static str {
        "ppga"
    }

    fn start(&mut self, turn: &mut Turn<'_>) -> Result<(), SearchError> {
        self.members.iter_mut().try_for_each(|member| member.start(turn))
    }

    fn ask(&mut self, turn: &mut Turn<'_>) -> Result<Vec<Batch>, SearchError> {
        self.member(turn).ask(turn)
    }

    fn tell(&mut self, turn: &mut Turn<'_>, told: &[Told]) -> Result<(), SearchError> {
        self.member(turn).tell(turn, told)
    }

    fn end(&mut self, turn: &mut Turn<'_>) -> Result<(), SearchError> {
        let Some((active, before)) = self.active.take() else { return Ok(()) };
        self.members[active].end(turn)?;
        self.past.record(active, before, turn.metrics().qd_score_offset);
        let targets = self.members[active].state.restart_targets.clone();
        self.members.iter_mut().for_each(|member| member.state.restart_targets.clone_from(&targets));
        Ok(())
    }

    /// The report of the last turn, with the restarts of all.
    fn ppga(&self) -> Option<PpgaReport> {
        let restarts = self.members.iter().map(|member| member.state.restarts).sum();
        self.members[self.last].ppga().map(|report| PpgaReport { restarts, ..report })
    }

    fn save(&self) -> Result<Vec<u8>, SearchError> {
        let members = self.members.iter().map(Ppga::save).collect::<Result<_, _>>()?;
        encode("ppga", &PoliciesRecord { members, past: self.past.clone() })
    }

    fn restore(&mut self, setup: &Setup, record: &[u8]) -> Result<(), SearchError> {
        let PoliciesRecord { members, past } = decode("ppga", record)?;
        let count = self.members.len();
        if [members.len(), past.growth.len(), past.scores.len()] != [count; 3] {
            return Err(SearchError::Foreign("number of search policies"));
        }
        for (member, record) in self.members.iter_mut().zip(&members) {
            member.restore(setup, record)?;
        }
        (self.past, self.active) = (past, None);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(past: &PastTurns, turns: Turns) -> Vec<usize> {
        let next = |i| past.next(turns, i, &mut Stream::new(1, "test").draws(0, i));
        (0..1000).map(next).collect()
    }

    #[test]
    fn turns_go_round() {
        assert_eq!(chosen(&PastTurns::new(3), Turns::Cycle)[..5], [0, 1, 2, 0, 1]);
    }

    #[test]
    fn who_makes_the_archive_grow_has_most_turns_and_all_have_some() {
        let mut past = PastTurns::new(3);
        past.record(0, 0.0, 100.0);
        assert!(chosen(&past, Turns::Growth).iter().all(|&next| next == 1), "the second has had no turn");
        past.record(1, 100.0, 400.0);
        // An archive can lose score as well.
        past.record(2, 400.0, 390.0);
        let counts = |past: &PastTurns| {
            let chosen = chosen(past, Turns::Growth);
            [0, 1, 2].map(|member| chosen.iter().filter(|&&next| next == member).count())
        };
        // 0.067 + 0.8 · (0.25, 0.75, 0).
        let [a, b, c] = counts(&past);
        assert!((220..320).contains(&a) && (610..730).contains(&b) && (40..100).contains(&c), "{a} {b} {c}");
        // Turns that bring nothing make it less likely.
        (0..5).for_each(|_| past.record(1, 400.0, 400.0));
        assert!(counts(&past)[1] < 430, "{:?}", counts(&past));
        let none = PastTurns { growth: vec![Some(0.0); 3], ..past };
        assert!(counts(&none).iter().all(|&count| count > 270), "{:?}", counts(&none));
    }
}
