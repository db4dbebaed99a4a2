use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::settings::resolve;

fn preset(task: &str, model: ModelName, preset: Preset) -> Config {
    Config::new(task, Measure::FeetContact, model, preset).unwrap()
}

#[test]
fn presets_spend_what_the_documentation_says() {
    for (name, iterations, environments, ours, patience) in [
        (Preset::Quick, 40, 300, true, 3),
        (Preset::Desktop, 500, 300, true, 3),
        (Preset::Paper, 2000, 3000, false, 0),
    ] {
        let config = preset("walker2d", ModelName::Gail, name);
        let SearchConfig {
            environments: e,
            waypoints,
            inward,
            patience: p,
            branches,
            episodes,
            curiosity,
            critic,
            train,
            ..
        } = config.search;
        assert_eq!((critic, config.reward.scaled), if ours { (64, true) } else { (256, false) });
        assert_eq!((config.iterations, e, p), (iterations, environments, patience));
        assert_eq!((waypoints, inward), (ours, ours));
        let Curiosity { archive, falls, scope, novelty, width, unit, frontier, .. } = curiosity;
        assert_eq!((archive == Known::Result, scope == Scope::Segment, frontier), (ours, ours, ours));
        assert_eq!((novelty == Novelty::Density, unit == Unit::Reward), (ours, ours));
        assert_eq!((falls, width), (!ours, if ours { 3.0 } else { 2.0 }));
        assert_eq!(train.target_kl, if ours { 0.02 } else { 0.008 });
        assert_eq!((branches, episodes), (300, 10));
    }
}

#[test]
fn curiosity_is_for_learnt_rewards_and_an_ant_is_paid_to_live() {
    let bonus = |task, model| {
        let curiosity = preset(task, model, Preset::Quick).search.curiosity;
        (curiosity.weight, curiosity.base)
    };
    assert_eq!(bonus("ant", ModelName::Gail), (2.0, 0.0));
    assert_eq!(bonus("ant", ModelName::True), (0.0, 2.0));
    assert_eq!(bonus("hopper", ModelName::True), (0.0, 0.0));
}

#[test]
fn a_curiosity_that_cannot_be_paid_is_refused() {
    let refused = |set: &str| {
        let base = preset("walker2d", ModelName::Gail, Preset::Quick);
        let config = resolve(base, None, &[set.to_owned()]).unwrap();
        config.check(2).unwrap_err().to_string()
    };
    for (set, message) in [
        ("search.curiosity.width=0.05", "search.curiosity.width is 0.05, but must be 0.1 to 100"),
        ("search.curiosity.width=nan", "search.curiosity.width is NaN, but must be 0.1 to 100"),
        (
            "reward.gail.reward=log_d",
            "search.curiosity.unit is reward, but must be step where reward.gail.reward or reward.vail.reward is log_d, \
             which is never positive",
        ),
        ("search.curiosity.credit=1.1", "search.curiosity.credit is 1.1, but must be 0 to 1"),
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
        "waypoints",
        "inward",
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
        "falls",
        "frontier",
        "unit",
        "\"reward\"",
        "credit",
        "train",
        "window",
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
            "window", "minibatches", "resolution", "weight", "inward", "novelty", "width", "falls", "frontier", "unit", "credit", "seed", "iterations", "reward", "thinning", "scaled",
        ]), 1..4),
        value in word(),
    ) {
        let set = [format!("{}={value}", key.join("."))];
        for (file, sets) in [(Some((Path::new("my.toml"), text.as_str())), &[][..]), (None, &set[..])] {
            if let Ok(config) = resolve(preset("walker2d", ModelName::Gail, Preset::Quick), file, sets) {
                // Neither may panic, whatever has been read.
                if config.check(2).is_ok() {
                    prop_assert!(config.most_env_steps() > 0);
                }
            }
        }
    }
}
