//! What the models that judge pairs of observation and action have in common.
//!
//! A [`Judge`] is what they do differently: how a row is worth something, and how a step is learnt from expert, policy
//! and mixed rows. [`Adversarial`] makes a [`RewardModel`] of it: it gathers and normalises rows, draws batches, mixes,
//! and pays for absorbing states.

use std::fmt::Debug;

use magpie_nn::normaliser::Frozen;
use magpie_nn::parts::{BLOCK_PANELS, Pool};
use magpie_random::Draws;
use magpie_simd::{Isa, LANES, Pack};
use serde::{Deserialize, Serialize};

use crate::batches::Batches;
use crate::blocks;
use crate::error::RewardError;
use crate::form::copy_rows;
use crate::health::Health;
use crate::input::{ABSORBED, PairInput, worth_of_lost};
use crate::model::{RewardModel, rows_for};
use crate::trained::Record;
use crate::transitions::{Needs, Sizes, Transitions};

/// How expert and policy rows are mixed where slopes are penalised.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mix {
    /// One share for a whole row, as the penalty was published (Gulrajani et al., 2017).
    #[default]
    Row,
    /// One share for each entry, as public code has it.
    Entry,
}

/// The rows of one step, as panels `[panel][entry]`.
#[derive(Debug, Default)]
pub struct Rows {
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

    fn resize(&mut self, width: usize, count: usize) {
        self.count = count;
        for panels in [&mut self.expert, &mut self.policy, &mut self.mixed] {
            panels.resize(count.div_ceil(LANES) * width, Pack::default());
        }
    }

    fn mix(&mut self, width: usize, kind: Mix, draws: &mut Draws) {
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

/// What a model on pairs has to do itself.
pub trait Judge: Debug + Send + Sync {
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

/// How rows come to a judge.
#[derive(Debug, Clone, Copy)]
pub struct Docket {
    /// Expert rows of a step, and as many policy rows.
    pub batch_size: usize,
    /// How rows are mixed.
    pub mix: Mix,
    /// Judge the steps that an early end costs too, as an absorbing state.
    pub absorbing: bool,
    /// Discount of the rewards in the absorbing state.
    pub gamma: f32,
}

/// A judge with everything around it: a reward model.
#[derive(Debug)]
pub struct Adversarial<J: Judge> {
    judge: J,
    docket: Docket,
    input: PairInput,
    pool: Pool<Scratch<J::Scratch>>,
}

#[derive(Debug)]
struct Scratch<S> {
    index: Vec<u32>,
    raw: Vec<Pack>,
    block: Vec<Pack>,
    rewards: [Pack; BLOCK_PANELS],
    judge: S,
}

impl<J: Judge> Adversarial<J> {
    /// Lets `make` make a judge of rows of the width it is given.
    pub fn new(
        sizes: Sizes,
        isa: Isa,
        docket: Docket,
        make: impl FnOnce(usize) -> Result<J, RewardError>,
    ) -> Result<Adversarial<J>, RewardError> {
        let input = PairInput { sizes, absorbing: docket.absorbing, isa };
        Ok(Adversarial { judge: make(input.width())?, docket, input, pool: Pool::new() })
    }

    fn scratch(&self) -> Scratch<J::Scratch> {
        Scratch {
            index: Vec::new(),
            raw: Vec::new(),
            block: vec![Pack::default(); BLOCK_PANELS * self.input.width()],
            rewards: [Pack::default(); BLOCK_PANELS],
            judge: self.judge.scratch(BLOCK_PANELS),
        }
    }

    /// Rewards of the rows in the scratch's index.
    fn rewards_of(
        &self,
        transitions: &Transitions,
        normaliser: &Frozen,
        scratch: &mut Scratch<J::Scratch>,
        out: &mut [f32],
    ) {
        let Scratch { index, raw, block, rewards, judge } = scratch;
        let panels = index.len().div_ceil(LANES);
        let block = &mut block[..panels * self.input.width()];
        self.input.fill(transitions, normaliser, index, raw, block);
        self.judge.rewards(block, judge, &mut rewards[..panels]);
        copy_rows(rewards, out);
    }
}

impl<J: Judge> RewardModel for Adversarial<J> {
    fn name(&self) -> &'static str {
        J::NAME
    }

    fn needs(&self) -> Needs {
        Needs { lost: self.docket.absorbing, ..Needs::default() }
    }

    fn reward(
        &self,
        transitions: &Transitions,
        normaliser: &Frozen,
        out: &mut [f32],
    ) -> Result<(), RewardError> {
        rows_for(transitions, self.input.sizes, self.needs(), out)?;
        blocks::fill(
            out,
            &self.pool,
            || self.scratch(),
            |scratch, rows, out| {
                blocks::index_of(rows, &mut scratch.index);
                self.rewards_of(transitions, normaliser, scratch, out);
            },
        );
        if self.docket.absorbing && !out.is_empty() {
            let (mut scratch, mut absorbed) = (self.scratch(), [0.0]);
            scratch.index.push(ABSORBED);
            self.rewards_of(transitions, normaliser, &mut scratch, &mut absorbed);
            for (reward, &lost) in out.iter_mut().zip(transitions.lost) {
                *reward += worth_of_lost(absorbed[0], self.docket.gamma, lost);
            }
        }
        blocks::finite(J::NAME, out)
    }

    fn update(
        &mut self,
        expert: &Transitions,
        policy: &Transitions,
        normaliser: &Frozen,
        draws: &mut Draws,
    ) -> Result<Health, RewardError> {
        let Docket { batch_size, mix, .. } = self.docket;
        let batches = Batches::draw(self.input.sizes, self.needs(), expert, policy, batch_size, draws)?;
        let width = self.input.width();
        let mut work = self.judge.work(batches.largest().div_ceil(LANES));
        let (mut rows, mut raw, mut health) = (Rows::default(), Vec::new(), Health::default());
        let mut pass = || {
            for (expert_index, policy_index) in batches.iter() {
                rows.resize(width, expert_index.len());
                self.input.fill(expert, normaliser, expert_index, &mut raw, &mut rows.expert);
                self.input.fill(policy, normaliser, policy_index, &mut raw, &mut rows.policy);
                rows.mix(width, mix, draws);
                let batch = self.judge.learn(&rows, &mut work, draws)?;
                health.add(rows.count, &batch);
            }
            Ok(())
        };
        let result = pass();
        self.judge.finish();
        result.map(|()| health)
    }

    fn save(&self) -> Result<Record, RewardError> {
        self.judge.save()
    }

    fn restore(&mut self, record: &Record) -> Result<(), RewardError> {
        self.judge.restore(record)
    }
}
