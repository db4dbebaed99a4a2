//! The objective's reward in a run: the environment's reward, or a model trained on demonstrations.

use std::ops::ControlFlow;

use magpie_demos::{Demonstrations, Pairs};
use magpie_random::Stream;
use magpie_rewards::{Progress, RewardConfig, RewardModel, build};
use magpie_search::{LearnedReward, Objective};

use crate::error::RunError;

/// A reward model that has not been prepared or restored yet.
pub(crate) struct RewardModelBuilder {
    model: Box<dyn RewardModel>,
    expert: Pairs,
    scaled: bool,
    /// Steps per episode.
    horizon: u32,
    seed: u64,
}

impl RewardModelBuilder {
    /// Checks the configuration and creates the model with its initial parameters.
    pub fn new(
        config: &RewardConfig,
        gamma: f32,
        demonstrations: &Demonstrations,
        horizon: u32,
        seed: u64,
    ) -> Result<RewardModelBuilder, RunError> {
        let mut draws = Stream::new(seed, "initial reward model").draws(0, 0);
        let model = build(config, demonstrations.sizes(), gamma, &mut draws)?;
        let expert = expert(&*model, config, demonstrations)?;
        Ok(RewardModelBuilder { model, expert, scaled: config.scaled, horizon, seed })
    }

    /// The same for another model.
    pub fn replaced_by(
        self,
        model: Box<dyn RewardModel>,
        config: &RewardConfig,
        demonstrations: &Demonstrations,
    ) -> Result<RewardModelBuilder, RunError> {
        let expert = expert(&*model, config, demonstrations)?;
        Ok(RewardModelBuilder { model, expert, ..self })
    }

    /// For a new run: trains what the model learns from demonstrations alone.
    pub fn prepared(
        mut self,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Objective, RunError> {
        let mut draws = Stream::new(self.seed, "preparation of the reward model").draws(0, 0);
        let mut stopped = false;
        self.model.prepare(&(&self.expert).into(), &mut draws, &mut |now| {
            let go_on = progress(now);
            // The model does not report whether it was stopped, and a stopped one is unusable.
            stopped |= go_on.is_break();
            go_on
        })?;
        match stopped {
            true => Err(RunError::Stopped),
            false => Ok(self.restorable()),
        }
    }

    /// For a resumed run: the state of the model comes from the checkpoint.
    pub fn restorable(self) -> Objective {
        Objective::Learned(LearnedReward::new(self.model, self.expert, self.scaled, self.horizon))
    }
}

/// The rows of demonstrations that a model learns from.
fn expert(
    model: &dyn RewardModel,
    config: &RewardConfig,
    demonstrations: &Demonstrations,
) -> Result<Pairs, RunError> {
    let kept = demonstrations.columns().about.every;
    demonstrations.thinned(config.thinning, model.needs().next_observations).map_err(|_| RunError::Value {
        field: "reward.thinning".to_owned(),
        value: config.thinning.to_string(),
        range: format!("a multiple of {kept}: the demonstrations hold only every {kept}th step"),
    })
}
