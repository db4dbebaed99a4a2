//! The trait, and making a model from its configuration.

use std::ops::ControlFlow;

use magpie_nn::normaliser::Frozen;
use magpie_random::Draws;
use magpie_simd::Isa;

use crate::airl::Airl;
use crate::blocks;
use crate::config::{ModelName, RewardConfig, require};
use crate::diffail::Diffail;
use crate::error::RewardError;
use crate::gail::Gail;
use crate::giril::Giril;
use crate::health::Health;
use crate::maxent::Maxent;
use crate::trained::Record;
use crate::transitions::{Needs, Sizes, Transitions};
use crate::vail::Vail;

/// Something that says how good a step was.
///
/// A model of one's own is a type with this trait; whoever is handed a `Box<dyn RewardModel>` need not know it. To
/// let configurations name it, add it to [`ModelName`], [`RewardConfig`] and [`build`].
pub trait RewardModel: Send + Sync {
    /// What configurations and messages call it.
    fn name(&self) -> &'static str;

    /// Which columns it looks at beside observations and actions.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Learns what it has to before the first reward, once. A model that was restored or prepared does nothing.
    ///
    /// `progress` is told how far things are and may end them: the model then stays unprepared.
    fn prepare(
        &mut self,
        expert: &Transitions,
        draws: &mut Draws,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(), RewardError> {
        let _ = (expert, draws, progress);
        Ok(())
    }

    /// The reward of each row. The same rows give the same bytes, on any number of threads.
    fn reward(
        &self,
        transitions: &Transitions,
        normaliser: &Frozen,
        out: &mut [f32],
    ) -> Result<(), RewardError>;

    /// Learns to tell expert from policy: one pass over the expert rows against as many policy rows.
    ///
    /// `normaliser` is the policy's, and both sides are seen through it.
    fn update(
        &mut self,
        expert: &Transitions,
        policy: &Transitions,
        normaliser: &Frozen,
        draws: &mut Draws,
    ) -> Result<Health, RewardError>;

    /// Everything that lives on, for a checkpoint.
    fn save(&self) -> Result<Record, RewardError>;

    /// Goes on from a checkpoint of the same configuration.
    fn restore(&mut self, record: &Record) -> Result<(), RewardError>;
}

/// How far preparation is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Epochs done.
    pub done: usize,
    /// Epochs in all.
    pub total: usize,
    /// Mean loss of the last epoch.
    pub loss: f64,
}

/// Makes the model that the configuration asks for, with first parameters from `draws`.
pub fn build(
    config: &RewardConfig,
    sizes: Sizes,
    draws: &mut Draws,
) -> Result<Box<dyn RewardModel>, RewardError> {
    require(sizes.observation > 0 && sizes.action > 0, "sizes", sizes, "positive")?;
    require(config.thinning > 0, "thinning", config.thinning, "at least 1")?;
    let isa = Isa::best();
    Ok(match config.model {
        ModelName::Gail => Box::new(Gail::from_config(&config.gail, sizes, isa, draws)?),
        ModelName::Vail => Box::new(Vail::from_config(&config.vail, sizes, isa, draws)?),
        ModelName::Diffail => Box::new(Diffail::from_config(&config.diffail, sizes, isa, draws)?),
        ModelName::Airl => Box::new(Airl::from_config(&config.airl, sizes, isa, draws)?),
        ModelName::Giril => Box::new(Giril::from_config(&config.giril, sizes, isa, draws)?),
        ModelName::Maxent => Box::new(Maxent::from_config(&config.maxent, sizes, isa, draws)?),
        ModelName::True => Box::new(True { sizes }),
    })
}

/// The environment's own reward: nothing is learnt.
#[derive(Debug, Clone, Copy)]
pub struct True {
    /// Widths of the tables.
    pub sizes: Sizes,
}

impl RewardModel for True {
    fn name(&self) -> &'static str {
        ModelName::True.name()
    }

    fn needs(&self) -> Needs {
        Needs { rewards: true, ..Needs::default() }
    }

    fn reward(
        &self,
        transitions: &Transitions,
        _normaliser: &Frozen,
        out: &mut [f32],
    ) -> Result<(), RewardError> {
        rows_for(transitions, self.sizes, self.needs(), out)?;
        out.copy_from_slice(transitions.rewards);
        blocks::finite(self.name(), out)
    }

    fn update(
        &mut self,
        _expert: &Transitions,
        _policy: &Transitions,
        _normaliser: &Frozen,
        _draws: &mut Draws,
    ) -> Result<Health, RewardError> {
        Ok(Health::default())
    }

    fn save(&self) -> Result<Record, RewardError> {
        Record::new(self.name(), &())
    }

    fn restore(&mut self, record: &Record) -> Result<(), RewardError> {
        record.state(self.name())
    }
}

/// Checks that columns and rewards have the same number of rows.
pub(crate) fn rows_for(
    transitions: &Transitions,
    sizes: Sizes,
    needs: Needs,
    out: &[f32],
) -> Result<(), RewardError> {
    let expected = transitions.rows("given", sizes, needs)?;
    match out.len() == expected {
        true => Ok(()),
        false => Err(RewardError::Length { whose: "given", field: "reward", expected, found: out.len() }),
    }
}
