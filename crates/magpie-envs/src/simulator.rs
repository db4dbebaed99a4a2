//! The interface of simulators.
//!
//! A [`Simulator`] is immutable and shared; it creates a [`Simulation`] for each chunk of environments. A simulation
//! starts episodes, steps worlds and writes the results. Everything else is the same for all simulators and is done
//! around them: clipping of actions, truncation of episodes, automatic resets, batches, snapshots.
//!
//! A chunk makes one dynamic call per step, whatever the number of its environments.

use magpie_random::{Draws, Stream};
use magpie_simd::{Isa, LANES, Pack};

use crate::group::{Group, LaneSet};

/// Creates worlds: see [`Environment::from_simulator`](crate::Environment::from_simulator).
pub trait Simulator: Send + Sync {
    /// Creates worlds for `groups` groups of sixteen lanes, which are reset before their first step.
    fn simulate(&self, groups: usize, isa: Isa) -> Box<dyn Simulation>;

    /// The number of values that [`Simulation::save`] writes for one environment.
    fn state_size(&self) -> usize;
}

/// The running worlds of one chunk.
///
/// Environment (group, lane) is lane `lane` of every pack of its group. Each lane must depend on that lane alone. No
/// method except [`Simulation::save`] may allocate.
pub trait Simulation: Send + Sync {
    /// Starts new episodes in these lanes of each group, of none in most, and writes their first observations into the
    /// same lanes of [`Group::observation`]. All randomness must come from `draws`.
    fn reset(&mut self, lanes: &[LaneSet], draws: ResetDraws, out: &mut [Group]);

    /// Steps the first `out.len()` groups and writes [`Group::observation`], [`Group::reward`], [`Group::measure`] and
    /// [`Group::terminated`]. `actions` holds the entries of an action, clipped to ±1, one group after the other. An
    /// entry that is not a number stays so and must end its episode.
    fn step(&mut self, actions: &[Pack], out: &mut [Group]);

    /// Speed of the fastest body of environment (group, lane), in m/s; NaN if a velocity is not a number. `None` if the
    /// simulator does not say.
    fn top_speed(&self, environment: (usize, usize)) -> Option<f32> {
        let _ = environment;
        None
    }

    /// Appends the state of environment (group, lane).
    fn save(&self, environment: (usize, usize), state: &mut Vec<f32>);

    /// Restores a state of environment (group, lane) that [`Simulation::save`] wrote, so that every later step gives
    /// the same bits.
    fn restore(&mut self, environment: (usize, usize), state: &[f32]);
}

/// The random draws of new episodes. They depend only on the seed, on the number of the environment and on
/// the step in which the episode starts.
#[derive(Debug, Clone, Copy)]
pub struct ResetDraws {
    pub(crate) stream: Stream,
    /// The number of the environment in lane 0 of group 0.
    pub(crate) first: u32,
    pub(crate) clock: u64,
}

impl ResetDraws {
    /// The draws of the environment in `lane` of `group`.
    pub fn of(&self, group: usize, lane: usize) -> Draws {
        debug_assert!(lane < LANES);
        self.stream.draws(self.first.wrapping_add((group * LANES + lane) as u32), self.clock)
    }
}
