//! The seam behind which worlds are simulated.
//!
//! A [`Simulator`] is shared and never changes; it makes a [`Simulation`] for each chunk of environments. A simulation
//! starts episodes, moves worlds and writes down what they give. Everything else is the same for all simulators and done
//! around them: limits of actions, lengths of episodes, automatic resets, batches, snapshots.
//!
//! A chunk makes one dynamic call for a step, whatever the number of its environments.

use magpie_random::{Draws, Stream};
use magpie_simd::{Isa, LANES, Pack};

use crate::group::{Group, LaneSet};

/// What makes worlds: see [`Environment::from_simulator`](crate::Environment::from_simulator).
pub trait Simulator: Send + Sync {
    /// Worlds for `groups` groups of sixteen lanes. They are reset before their first step.
    fn simulate(&self, groups: usize, isa: Isa) -> Box<dyn Simulation>;

    /// How many numbers [`Simulation::save`] writes for one environment.
    fn state_size(&self) -> usize;
}

/// The worlds of one chunk in motion.
///
/// Environment (group, lane) is lane `lane` of every pack of its group. What happens in a lane must depend on that lane
/// alone. No method but [`Simulation::save`] may allocate.
pub trait Simulation: Send + Sync {
    /// Starts new episodes in `lanes` of a group and writes their first observations into the same lanes of
    /// [`Group::observation`]. Whatever is random about them comes from `draws`.
    fn reset(&mut self, group: usize, lanes: LaneSet, draws: ResetDraws, out: &mut Group);

    /// Moves the first `out.len()` groups by one step and writes [`Group::observation`], [`Group::reward`],
    /// [`Group::measure`] and [`Group::terminated`]. `actions` holds the entries of an action, limited to ±1, one group
    /// after the other; an entry that is not a number stays so and must end its episode.
    fn step(&mut self, actions: &[Pack], out: &mut [Group]);

    /// Speed of the fastest body of environment (group, lane), in m/s; NaN if a velocity is not a number. `None` if the
    /// simulator does not say.
    fn top_speed(&self, environment: (usize, usize)) -> Option<f32> {
        let _ = environment;
        None
    }

    /// Appends the state of environment (group, lane).
    fn save(&self, environment: (usize, usize), state: &mut Vec<f32>);

    /// Puts environment (group, lane) into a state that [`Simulation::save`] wrote, so that every step from there gives
    /// the same bits.
    fn restore(&mut self, environment: (usize, usize), state: &[f32]);
}

/// What new episodes of one group draw from. Depends on the seed, on the number of the environment and on the step in
/// which the episode starts, and on nothing else.
#[derive(Debug, Clone, Copy)]
pub struct ResetDraws {
    pub(crate) stream: Stream,
    /// Number of the environment in lane 0.
    pub(crate) first: u32,
    pub(crate) clock: u64,
}

impl ResetDraws {
    /// The draws of the environment in `lane`.
    pub fn of(&self, lane: usize) -> Draws {
        debug_assert!(lane < LANES);
        self.stream.draws(self.first.wrapping_add(lane as u32), self.clock)
    }
}
