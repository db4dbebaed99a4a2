//! What models do differently, and the rows that they learn from.

use std::fmt::Debug;

use magpie_random::Draws;
use magpie_settings::words;
use magpie_simd::{LANES, Pack};

use crate::error::RewardError;
use crate::health::Health;
use crate::record::Record;

words! {
    /// How expert and policy rows are mixed where slopes are penalised.
    pub enum Mix {
        /// One share for a whole row, as the penalty was published (Gulrajani et al., 2017).
        Row = "row",
        /// One share for each entry, as public code has it.
        Entry = "entry",
    }
}

/// The rows of one step, as panels `[panel][entry]`.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// How many rows of each kind.
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

/// What a model on pairs of observation and action has to do itself.
pub(crate) trait Discriminator: Debug + Send + Sync {
    /// What configurations and messages call it.
    const NAME: &'static str;
    /// Memory for the rewards of a block.
    type Scratch: Debug + Send;
    /// Memory for a step.
    type Work;

    /// Memory for the rewards of at most `panels` panels.
    fn scratch(&self, panels: usize) -> Self::Scratch;

    /// The rewards of a block of panels: one pack a panel.
    fn rewards(&self, block: &[Pack], scratch: &mut Self::Scratch, out: &mut [Pack]);

    /// Memory for steps of at most `panels` panels.
    fn work(&self, panels: usize) -> Self::Work;

    /// One step. A loss or gradient that is not finite leaves everything as it was.
    fn learn(&mut self, rows: &Rows, work: &mut Self::Work, draws: &mut Draws)
    -> Result<Health, RewardError>;

    /// Gets ready for rewards, after the last step of an update, even if that one failed.
    fn finish(&mut self) {}

    /// Everything that lives on.
    fn save(&self) -> Result<Record, RewardError>;

    /// Goes on from a record.
    fn restore(&mut self, record: &Record) -> Result<(), RewardError>;
}

/// How rows come to a discriminator.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BatchSpec {
    /// Expert rows of a step, and as many policy rows.
    pub batch_size: usize,
    /// How rows are mixed.
    pub mix: Mix,
    /// Judge the steps that an early end costs too, as an absorbing state.
    pub absorbing: bool,
    /// Discount of the rewards in the absorbing state.
    pub gamma: f32,
}
