use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::settings::resolve;

fn quick(task: &str, model: ModelName) -> Config {
    Config::new(task, "feet_contact", model, Method::Magpie, Budget::Quick).unwrap()
}

#[test]
fn method_and_budget_are_two_choices() {
    let of = |method, budget| {
        let config = Config::new("walker2d", "feet_contact", ModelName::Gail, method, budget).unwrap();
        (config.iterations, config.search.environments, config.search.critic, config.reward.scaled)
    };
    assert_eq!(of(Method::Magpie, Budget::Paper), (2000, 3000, 64, true));
    assert_eq!(of(Method::Paper, Budget::Desktop), (500, 300, 256, false));
}

#[test]
fn a_curiosity_that_cannot_be_paid_is_refused() {
    let refused = |set: &str| {
        let resolved = resolve(quick("walker2d", ModelName::Gail), None, &[set.to_owned()]);
        resolved.and_then(|config| config.check(2)).unwrap_err().to_string()
    };
    for (set, message) in [
        (
            "search.curiosity.width=0.05",
            "search.curiosity.width=0.05: `search.curiosity.width` is 0.05, but must be from 0.1 to 100",
        ),
        (
            "search.curiosity.width=nan",
            "search.curiosity.width=nan: `search.curiosity.width` is NaN, but must be from 0.1 to 100",
        ),
        (
            "reward.gail.reward=log_d",
            "search.curiosity.scale is reward, but must be step where reward.gail.reward or reward.vail.reward is log_d, \
             which is never positive",
        ),
        ("search.environments=2", "search.environments is 2, but must be 3, one per gradient, to 1000000"),
        (
            "search.archive.resolution=3163",
            "search.archive.resolution is 3163, but must be from 1 to 3162 (at most 10000000 cells in total)",
        ),
        (
            "search.episodes=4000000",
            "search.episodes=4000000: `search.episodes` is 4000000, but must be from 1 to 10000",
        ),
        (
            "search.train.minibatches=20000",
            "search.train.minibatches is 20000, but must be from 1 to 12800 (the number of steps in a rollout)",
        ),
        (
            "reward.diffail.reward_timesteps=101",
            "reward.diffail.reward_timesteps is 101, but must be from 1 to 100, the timesteps",
        ),
    ] {
        assert_eq!(refused(set), message);
    }
}

/// Keys and values of a search, and what stands between them.
fn word() -> impl Strategy<Value = String> {
    let words = [
        "task",
        "measure",
        "seed",
        "iterations",
        "demos",
        "file",
        "count",
        "reward",
        "model",
        "gail",
        "vail",
        "airl",
        "hidden",
        "mix",
        "gradient_penalty",
        "world",
        "robot",
        "friction",
        "strength",
        "hurdles",
        "search",
        "environments",
        "branches",
        "episodes",
        "intermediate_policies",
        "measure_shaping",
        "patience",
        "sigma0",
        "critic",
        "scaled",
        "archive",
        "resolution",
        "learning_rate",
        "threshold_min",
        "curiosity",
        "weight",
        "scope",
        "novelty",
        "archive",
        "\"result\"",
        "\"density\"",
        "\"visits\"",
        "width",
        "on_termination",
        "frontier",
        "restarts",
        "\"promise\"",
        "policies",
        "climbers",
        "scale",
        "\"reward\"",
        "train",
        "rollout_length",
        "minibatches",
        "gamma",
        "ppo",
        "adam",
        "\"walker2d\"",
        "\"jump\"",
        "\"window\"",
        ".",
        ".",
        ".",
        "=",
        "=",
        "[",
        "]",
        "{",
        "}",
        "\n",
        "\"",
        "0",
        "1",
        "-2.5",
        "1e400",
        "4294967296",
        "9223372036854775807",
        "true",
        "nan",
        "inf",
        " ",
        ",",
    ];
    prop_oneof![9 => prop::sample::select(words.to_vec()).prop_map(str::to_owned), 1 => any::<String>()]
}

proptest! {
    /// More cases: `PROPTEST_CASES=1000000 cargo test -p magpie-run --lib anything_gives`.
    #[test]
    fn anything_gives_a_search_that_can_be_run_or_an_error(
        text in prop::collection::vec(word(), 0..12).prop_map(|words| words.concat()),
        key in prop::collection::vec(prop::sample::select(vec![
            "search", "train", "ppo", "archive", "curiosity", "environments", "branches", "episodes", "patience", "critic",
            "rollout_length", "minibatches", "resolution", "weight", "measure_shaping", "novelty", "width", "on_termination", "frontier", "scale", "seed", "iterations", "reward", "thinning", "scaled",
        ]), 1..4),
        value in word(),
    ) {
        let set = [format!("{}={value}", key.join("."))];
        for (file, sets) in [(Some((Path::new("my.toml"), text.as_str())), &[][..]), (None, &set[..])] {
            if let Ok(config) = resolve(quick("walker2d", ModelName::Gail), file, sets) {
                // Neither may panic, whatever has been read.
                if config.check(2).is_ok() {
                    prop_assert!(config.most_env_steps() > 0);
                }
            }
        }
    }
}
