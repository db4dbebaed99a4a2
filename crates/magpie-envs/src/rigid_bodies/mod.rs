//! magpie's own simulator: robots of rigid bodies on spring joints, in SIMD lanes.

mod entries;
mod fit;
mod measure;
mod observe;
mod options;
mod replay;
mod stage;
mod worlds;

use std::sync::Arc;

use magpie_simd::Isa;

use crate::measure::Measure;
use crate::simulator::{Simulation, Simulator};

pub use fit::{examine, unstable_speed};
pub use options::{Clip, EnvironmentError, Options};
pub use replay::{Replayed, States, replay_f32, replay_f64};
pub use stage::Stage;

/// Creates worlds of one robot on one task.
struct RigidBodies(Arc<Setting>);

/// What all worlds share.
struct Setting {
    /// The task with its robot, in the precision of the lanes.
    stage: Stage<f32>,
    measure: Measure,
    /// Observations and rewards are clipped to ± this value.
    clip: Option<f32>,
    rest_angles: Vec<f32>,
}

impl Simulator for RigidBodies {
    fn simulate(&self, groups: usize, isa: Isa) -> Box<dyn Simulation> {
        Box::new(worlds::Worlds::new(Arc::clone(&self.0), groups, isa))
    }

    fn state_size(&self) -> usize {
        worlds::BODY * self.0.stage.model.body_count()
    }
}
