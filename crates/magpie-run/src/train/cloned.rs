//! A search that begins with a policy cloned from the demonstrations of its reward model.

use magpie_demos::Demonstrations;
use magpie_envs::Environment;
use magpie_learn::{Cloning, CloningConfig, Policy};

use super::config::Config;
use crate::clone::split;
use crate::error::RunError;

/// The policy that `magpie clone` would give with its defaults and the seed of the run.
pub(super) fn cloned(
    config: &Config,
    env: &Environment,
    demonstrations: &Demonstrations,
) -> Result<Policy, RunError> {
    let settings = CloningConfig::default();
    let data = split(demonstrations, settings.validation).map_err(|problem| RunError::Value {
        field: "search.start".to_owned(),
        value: config.search.start.to_string(),
        range: format!("random with these demonstrations: {problem}"),
    })?;
    let mut cloning = Cloning::new(&config.search.networks(env)?.actor, settings, data, config.seed);
    while !cloning.is_finished() {
        let epoch = cloning.epochs() + 1;
        cloning.epoch().map_err(|reason| RunError::Cloning { epoch, reason })?;
    }
    Ok(cloning.policy())
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::sync::Arc;

    use magpie_rewards::ModelName;
    use magpie_search::{PpgaState, Start};
    use magpie_settings::Method;

    use super::*;
    use crate::train::{Budget, TrainRun};

    #[test]
    fn the_first_search_policy_acts_as_the_clone_does() {
        let mut config =
            Config::new("hopper", "feet_contact", ModelName::Gail, Method::Magpie, Budget::Quick).unwrap();
        (config.search.environments, config.search.train.rollout_length) = (32, 24);
        config.search.start = Start::Cloned;
        let env = Arc::new(config.world.environment("hopper", Some("feet_contact")).unwrap());
        let clone = cloned(&config, &env, &config.demos.required(&env, "a test").unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let run = TrainRun::start(config.clone(), &path, &mut |_| ControlFlow::Continue(())).unwrap();
        let agent = PpgaState::from_record(&run.search().state().emitters[0].state).unwrap().agent;
        assert!(agent.observations.count() > 32.0 * 24.0, "the environments were observed");
        let actor = config.search.networks(&env).unwrap().actor;
        assert_eq!(agent.policy(), clone.renormalised(&actor, &agent.observations));
    }
}
