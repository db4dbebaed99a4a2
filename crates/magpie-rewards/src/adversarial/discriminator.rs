//! The trait that adversarial models implement, and the rows they learn from.

use std::fmt::Debug;

use magpie_random::Draws;
use magpie_settings::words;
use magpie_simd::{LANES, Pack};

use super::pairs::Inputs;
use crate::error::RewardError;
use crate::health::Health;
use crate::record::Record;

words! {
    /// How expert and policy rows are interpolated for the gradient penalty.
    pub enum Mix {
        /// One weight per row, as the penalty was published (Gulrajani et al., 2017).
        Row = "row",
        /// One weight per entry, as in the published code.
        Entry = "entry",
    }
}

/// The rows of one gradient step, as panels `[panel][entry]`.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// The number of rows of each kind.
    pub count: usize,
    /// Expert rows.
    pub expert: Vec<Pack>,
    /// Policy rows.
    pub policy: Vec<Pack>,
    /// α expert + (1 - α) policy.
    pub mixed: Vec<Pack>,
}

impl Rows {
    /// Panels of each kind.
    pub fn panels(&self) -> usize {
        self.count.div_ceil(LANES)
    }

    pub(super) fn resize(&mut self, width: usize, count: usize) {
        self.count = count;
        for panels in [&mut self.expert, &mut self.policy, &mut self.mixed] {
            panels.resize(count.div_ceil(LANES) * width, Pack::default());
        }
    }

    pub(super) fn mix(&mut self, width: usize, kind: Mix, draws: &mut Draws) {
        let Rows { count, expert, policy, mixed } = self;
        let places =
            mixed.chunks_exact_mut(width).zip(expert.chunks_exact(width).zip(policy.chunks_exact(width)));
        for (panel, (mixed, (expert, policy))) in places.enumerate() {
            for lane in 0..LANES.min(*count - panel * LANES) {
                let mut alpha = draws.unit();
                for ((mixed, e), p) in mixed.iter_mut().zip(expert).zip(policy) {
                    if kind == Mix::Entry {
                        alpha = draws.unit();
                    }
                    mixed.0[lane] = alpha * e.0[lane] + (1.0 - alpha) * p.0[lane];
                }
            }
        }
    }
}

/// A discriminator of observation–action pairs: what differs between adversarial models.
pub(crate) trait Discriminator: Debug + Send + Sync {
    /// The name in configurations and messages.
    const NAME: &'static str;
    /// Scratch memory for the rewards of a block.
    type Scratch: Debug + Send;
    /// Scratch memory for a gradient step.
    type Work;

    /// Scratch memory for the rewards of at most `panels` panels.
    fn scratch(&self, panels: usize) -> Self::Scratch;

    /// Computes the rewards of a block of panels, one pack per panel.
    fn rewards(&self, block: &[Pack], scratch: &mut Self::Scratch, out: &mut [Pack]);

    /// Scratch memory for gradient steps of at most `panels` panels.
    fn work(&self, panels: usize) -> Self::Work;

    /// Takes one gradient step. If the loss or the gradient is not finite, nothing changes.
    fn learn(&mut self, rows: &Rows, work: &mut Self::Work, draws: &mut Draws)
    -> Result<Health, RewardError>;

    /// Prepares for computing rewards after the last step of an update, even if that step failed.
    fn finish(&mut self) {}

    /// The state to be saved.
    fn save(&self) -> Result<Record, RewardError>;

    /// Restores a saved state.
    fn restore(&mut self, record: &Record) -> Result<(), RewardError>;
}

/// How minibatches are made for a discriminator.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BatchSpec {
    /// Expert rows per minibatch, and as many policy rows.
    pub batch_size: usize,
    /// Passes over the expert rows per update.
    pub passes: usize,
    /// What the discriminator sees of a transition.
    pub inputs: Inputs,
    /// How rows are interpolated for the gradient penalty.
    pub mix: Mix,
    /// Whether steps lost by ending early are learned from as an absorbing state.
    pub absorbing: bool,
    /// Discount of rewards in the absorbing state.
    pub gamma: f32,
}
