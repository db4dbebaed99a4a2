//! A custom reward model, used through the trait alone.

use magpie_nn::normaliser::{Frozen, RunningMeanStd};
use magpie_random::{Draws, Stream};
use magpie_rewards::{
    Health, ModelName, Record, RewardConfig, RewardError, RewardModel, Sizes, Transitions, build,
};

const NAME: &str = "mean action";

/// Rewards actions near the mean action of the demonstrations.
struct MeanAction {
    sizes: Sizes,
    mean: Vec<f32>,
}

impl RewardModel for MeanAction {
    fn name(&self) -> &'static str {
        NAME
    }

    fn reward(&self, transitions: &Transitions, _: &Frozen, out: &mut [f32]) -> Result<(), RewardError> {
        transitions.rows("given", self.sizes, self.needs())?;
        for (reward, action) in out.iter_mut().zip(transitions.actions.chunks_exact(self.sizes.action)) {
            *reward = -action.iter().zip(&self.mean).map(|(a, mean)| (a - mean).powi(2)).sum::<f32>();
        }
        Ok(())
    }

    fn update(
        &mut self,
        expert: &Transitions,
        policy: &Transitions,
        normaliser: &Frozen,
        _: &mut Draws,
    ) -> Result<Health, RewardError> {
        let rows = expert.rows("expert", self.sizes, self.needs())?;
        self.mean.fill(0.0);
        for action in expert.actions.chunks_exact(self.sizes.action) {
            self.mean.iter_mut().zip(action).for_each(|(mean, a)| *mean += a / rows as f32);
        }
        let earned = |transitions: &Transitions| -> Result<f64, RewardError> {
            let mut rewards = vec![0.0; transitions.rows("given", self.sizes, self.needs())?];
            self.reward(transitions, normaliser, &mut rewards)?;
            Ok(rewards.iter().map(|&r| f64::from(r)).sum::<f64>() / rewards.len() as f64)
        };
        let (expert_reward, policy_reward) = (earned(expert)?, earned(policy)?);
        Ok(Health { rows, expert_reward, policy_reward, ..Health::default() })
    }

    fn save(&self) -> Result<Record, RewardError> {
        Record::new(NAME, &self.mean)
    }

    fn restore(&mut self, record: &Record) -> Result<(), RewardError> {
        self.mean = record.state(NAME)?;
        Ok(())
    }
}

/// What a search does with any model.
fn rewards(model: &mut dyn RewardModel, rounds: usize) -> Vec<f32> {
    let mut draws = Stream::new(1, "data").draws(0, 0);
    let observations: Vec<f32> = (0..600).map(|_| draws.uniform(-1.0, 1.0)).collect();
    let expert: Vec<f32> = (0..200).map(|_| 0.5 + draws.uniform(-0.1, 0.1)).collect();
    let policy: Vec<f32> = (0..200).map(|_| draws.uniform(-1.0, 1.0)).collect();
    let expert = Transitions { observations: &observations, actions: &expert, ..Transitions::default() };
    let policy = Transitions { actions: &policy, ..expert };
    let normaliser = RunningMeanStd::new(3).freeze(10.0);
    let mut health = Health::default();
    for _ in 0..rounds {
        health = model.update(&expert, &policy, &normaliser, &mut draws).unwrap();
    }
    assert!(rounds == 0 || health.expert_reward > health.policy_reward, "{}: {health:?}", model.name());
    let mut rewards = vec![0.0; 200];
    model.reward(&policy, &normaliser, &mut rewards).unwrap();
    rewards
}

#[test]
fn a_model_of_ones_own_learns_and_goes_on_like_any_other() {
    let sizes = Sizes { observation: 3, action: 1 };
    let fresh = |name: Option<ModelName>| -> Box<dyn RewardModel> {
        match name {
            None => Box::new(MeanAction { sizes, mean: vec![0.0] }),
            Some(model) => {
                let config = RewardConfig { model, ..RewardConfig::default() };
                build(&config, sizes, 0.99, &mut Stream::new(1, "first").draws(0, 0)).unwrap()
            }
        }
    };
    for name in [None, Some(ModelName::Gail)] {
        let mut model = fresh(name);
        let paid = rewards(&mut *model, 100);
        let mut restored = fresh(name);
        restored.restore(&model.save().unwrap()).unwrap();
        assert_eq!(rewards(&mut *restored, 0), paid);
    }
    let other = fresh(Some(ModelName::Gail)).save().unwrap();
    let error = fresh(None).restore(&other).unwrap_err().to_string();
    assert!(error.contains("it is the state of gail, but the configuration uses mean action"), "{error}");
}
