//! A reward model made of a discriminator.

use magpie_demos::Sizes;
use magpie_nn::normaliser::Frozen;
use magpie_nn::parts::{BLOCK_PANELS, Pool};
use magpie_random::Draws;
use magpie_simd::{Isa, LANES, Pack};

use super::batches::Batches;
use super::discriminator::{BatchSpec, Discriminator, Rows};
use super::pairs::{ABSORBED, Inputs, PairInput, worth_of_lost};
use crate::blocks;
use crate::error::RewardError;
use crate::health::Health;
use crate::model::RewardModel;
use crate::panels::copy_rows;
use crate::record::Record;
use crate::transitions::{Needs, Transitions};

/// A reward model made of a discriminator: input, normalisation, minibatches and absorbing states.
#[derive(Debug)]
pub(crate) struct Adversarial<D: Discriminator> {
    discriminator: D,
    spec: BatchSpec,
    input: PairInput,
    pool: Pool<Scratch<D::Scratch>>,
}

#[derive(Debug)]
struct Scratch<S> {
    index: Vec<u32>,
    raw: Vec<Pack>,
    block: Vec<Pack>,
    rewards: [Pack; BLOCK_PANELS],
    discriminator: S,
}

impl<D: Discriminator> Adversarial<D> {
    /// Creates the model; `make` creates the discriminator for rows of the given width.
    pub fn new(
        sizes: Sizes,
        isa: Isa,
        spec: BatchSpec,
        make: impl FnOnce(usize) -> Result<D, RewardError>,
    ) -> Result<Adversarial<D>, RewardError> {
        let input = PairInput { sizes, inputs: spec.inputs, absorbing: spec.absorbing, isa };
        Ok(Adversarial { discriminator: make(input.width())?, spec, input, pool: Pool::new() })
    }

    fn scratch(&self) -> Scratch<D::Scratch> {
        Scratch {
            index: Vec::new(),
            raw: Vec::new(),
            block: vec![Pack::default(); BLOCK_PANELS * self.input.width()],
            rewards: [Pack::default(); BLOCK_PANELS],
            discriminator: self.discriminator.scratch(BLOCK_PANELS),
        }
    }

    /// Rewards of the rows in the scratch memory's index.
    fn rewards_of(
        &self,
        transitions: &Transitions,
        normaliser: &Frozen,
        scratch: &mut Scratch<D::Scratch>,
        out: &mut [f32],
    ) {
        let Scratch { index, raw, block, rewards, discriminator } = scratch;
        let panels = index.len().div_ceil(LANES);
        let block = &mut block[..panels * self.input.width()];
        self.input.fill(transitions, normaliser, index, raw, block);
        self.discriminator.rewards(block, discriminator, &mut rewards[..panels]);
        copy_rows(rewards, out);
    }
}

impl<D: Discriminator> RewardModel for Adversarial<D> {
    fn name(&self) -> &'static str {
        D::NAME
    }

    fn needs(&self) -> Needs {
        let next_observations = self.spec.inputs == Inputs::Transition;
        Needs { next_observations, lost: self.spec.absorbing, ..Needs::default() }
    }

    fn reward(
        &self,
        transitions: &Transitions,
        normaliser: &Frozen,
        out: &mut [f32],
    ) -> Result<(), RewardError> {
        blocks::rows_for(transitions, self.input.sizes, self.needs(), out)?;
        blocks::fill(
            out,
            &self.pool,
            || self.scratch(),
            |scratch, rows, out| {
                blocks::index_of(rows, &mut scratch.index);
                self.rewards_of(transitions, normaliser, scratch, out);
            },
        );
        if self.spec.absorbing && !out.is_empty() {
            let (mut scratch, mut absorbed) = (self.scratch(), [0.0]);
            scratch.index.push(ABSORBED);
            self.rewards_of(transitions, normaliser, &mut scratch, &mut absorbed);
            for (reward, &lost) in out.iter_mut().zip(transitions.lost) {
                *reward += worth_of_lost(absorbed[0], self.spec.gamma, lost);
            }
        }
        blocks::finite(D::NAME, out)
    }

    fn update(
        &mut self,
        expert: &Transitions,
        policy: &Transitions,
        normaliser: &Frozen,
        draws: &mut Draws,
    ) -> Result<Health, RewardError> {
        let BatchSpec { batch_size, passes, mix, .. } = self.spec;
        let (sizes, needs, width) = (self.input.sizes, self.needs(), self.input.width());
        let mut batches = Batches::draw(sizes, needs, expert, policy, batch_size, draws)?;
        let mut work = self.discriminator.work(batches.largest().div_ceil(LANES));
        let (mut rows, mut raw, mut health) = (Rows::default(), Vec::new(), Health::default());
        let mut learn = || {
            for pass in 0..passes {
                if pass > 0 {
                    batches = Batches::draw(sizes, needs, expert, policy, batch_size, draws)?;
                }
                for (expert_index, policy_index) in batches.iter() {
                    rows.resize(width, expert_index.len());
                    self.input.fill(expert, normaliser, expert_index, &mut raw, &mut rows.expert);
                    self.input.fill(policy, normaliser, policy_index, &mut raw, &mut rows.policy);
                    rows.mix(width, mix, draws);
                    let batch = self.discriminator.learn(&rows, &mut work, draws)?;
                    health.add(rows.count, &batch);
                }
            }
            Ok(())
        };
        let result = learn();
        self.discriminator.finish();
        result.map(|()| health)
    }

    fn save(&self) -> Result<Record, RewardError> {
        self.discriminator.save()
    }

    fn restore(&mut self, record: &Record) -> Result<(), RewardError> {
        self.discriminator.restore(record)
    }
}
