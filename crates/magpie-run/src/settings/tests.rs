use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use magpie_settings::{Kind, settings, words};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Layer, read, resolve};

settings! {
    /// A field of every kind that configurations have.
    struct Config {
        /// A word.
        task: String = "hopper".to_owned();
        /// A large number.
        seed: u64 = 3;
        /// A flag.
        flag: bool = false;
        /// A small number.
        small: u8 = 1;
        /// An array.
        range: [f64; 2] = [0.0, 1.0];
        /// A list.
        list: Vec<f32> = vec![];
        /// One of some words.
        model: Model = Model::Gail;
        /// One of some tables.
        noise: Noise = Noise::Uniform(0.1), kind Kind::Table("noise");
        /// Nothing, or a path.
        robot: Option<PathBuf> = None;
        /// Keys of the user's own.
        strength: BTreeMap<String, f64> = BTreeMap::new(), kind Kind::Table("factors");
        /// A table.
        ppo: Ppo;
    }
}

words! {
    /// Words.
    enum Model {
        /// One.
        Gail = "gail",
        /// Another.
        DiffAil = "diff_ail",
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Noise {
    Off,
    Uniform(f64),
    Normal { mean: f64, deviation: f64 },
}

settings! {
    /// A table.
    struct Ppo {
        /// A number.
        gamma: f32 = 0.99;
        /// A whole number.
        epochs: u32 = 4, in 1..=100;
        /// A table in it.
        adam: Adam;
    }
}

settings! {
    /// A table.
    struct Adam {
        /// A number.
        learning_rate: f64 = 3e-4;
    }
}

fn preset() -> Config {
    Config::default()
}

fn with(text: &str, sets: &[&str]) -> Result<Config, String> {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    resolve(preset(), Some((Path::new("my.toml"), text)), &sets).map_err(|e| e.to_string())
}

#[test]
fn without_layers_a_preset_stays_what_it_is() {
    assert_eq!(with("", &[]).unwrap(), preset());
}

#[test]
fn layers_replace_what_they_name_and_nothing_else() {
    let text = "flag = true\nrange = [-1, 2]\nrobot = 'a.toml'\n[ppo]\ngamma = 1\n[strength]\nknee = 0.5";
    let sets = [
        "ppo.adam.learning_rate = 1e-3",
        "task=ant",
        "list=[1, 2.5]",
        "model=diff_ail",
        "seed=5",
        "seed=30e6",
    ];
    let found = with(text, &sets).unwrap();
    let expected = Config {
        task: "ant".to_owned(),
        seed: 30_000_000,
        flag: true,
        range: [-1.0, 2.0],
        list: vec![1.0, 2.5],
        model: Model::DiffAil,
        robot: Some("a.toml".into()),
        strength: BTreeMap::from([("knee".to_owned(), 0.5)]),
        ppo: Ppo { gamma: 1.0, epochs: 4, adam: Adam { learning_rate: 1e-3 } },
        ..preset()
    };
    assert_eq!(found, expected);
}

#[test]
fn a_variant_replaces_the_presets() {
    let set = |set| with("", &[set]).unwrap().noise;
    assert_eq!(set("noise=off"), Noise::Off);
    assert_eq!(set("noise.uniform=1"), Noise::Uniform(1.0));
    assert_eq!(set("noise.normal={mean=0, deviation=2}"), Noise::Normal { mean: 0.0, deviation: 2.0 });
}

#[test]
fn a_fault_names_the_place_the_key_and_the_remedy() {
    for (text, set, message) in [
        ("[ppo]\n  gama = 1", "", "my.toml:2:3: unknown key `ppo.gama`: did you mean `ppo.gamma`?"),
        ("", "ppo.gama=1", "ppo.gama=1: unknown key `ppo.gama`: did you mean `ppo.gamma`?"),
        ("", "gamma=1", "gamma=1: unknown key `gamma`: did you mean `ppo.gamma`?"),
        ("", "ppo.wings=2", "ppo.wings=2: unknown key `ppo.wings`: valid here: gamma, epochs, adam"),
        (
            "[ppo]\ngamma = 'high'",
            "",
            "my.toml:2:9: `ppo.gamma` is the string \"high\", but must be a number",
        ),
        ("flag = 1", "", "my.toml:1:8: `flag` is 1, but must be true or false"),
        ("", "small=256", "small=256: `small` is 256, but must be a whole number from 0 to 255"),
        ("", "seed=1.5", "seed=1.5: `seed` is 1.5, but must be a whole number from 0 to 9223372036854775807"),
        ("", "seed=-1", "seed=-1: `seed` is -1, but must be a whole number from 0 to 9223372036854775807"),
        ("", "ppo=4", "ppo=4: `ppo` is a table; set one of its keys, such as `ppo.gamma`"),
        ("", "ppo.gamma=1e300", "ppo.gamma=1e300: `ppo.gamma` is 1e300, which is too large"),
        ("range = [1, 2, 3]", "", "my.toml:1:9: `range` has 3 entries, but must have 2"),
        ("range = [1]", "", "my.toml:1:9: `range` has 1 entry, but must have 2"),
        ("list = [1, 'b']", "", "my.toml:1:12: `list[1]` is the string \"b\", but must be a number"),
        (
            "model = 'gial'",
            "",
            "my.toml:1:9: `model` is \"gial\", but must be one of \"gail\", \"diff_ail\"; did you mean \"gail\"?",
        ),
        ("model = 1", "", "my.toml:1:9: `model` must be one of \"gail\", \"diff_ail\", in quotes"),
        ("", "noise.normal.mean=0", "noise.normal.mean=0: `noise.normal.deviation` is missing; add it"),
        ("", "noise.off=1", "noise.off=1: `noise.off` holds nothing; write it as \"off\""),
        ("", "ppo.epochs=0", "ppo.epochs=0: `ppo.epochs` is 0, but must be from 1 to 100"),
        ("[ppo]\nepochs = 101", "", "my.toml:2:10: `ppo.epochs` is 101, but must be from 1 to 100"),
        ("seed = 1\nseed = 2", "", "my.toml:2:1: this is not TOML: duplicate key"),
        (
            "task = 2026-01-01",
            "",
            "my.toml:1:8: 2026-01-01 is a date, and no setting is; put it in quotes if it is a name",
        ),
        (
            "seed = 9223372036854775808",
            "",
            "my.toml:1:8: 9223372036854775808 is too large for a whole number",
        ),
        ("", "seed", "seed: there is no `=` in it; write it as a.b=value"),
        ("", "a..b=1", "a..b=1: the part before `=` is not a key; write it as a.b=value"),
        ("", "=1", "=1: the part before `=` is not a key; write it as a.b=value"),
    ] {
        let sets = if set.is_empty() { &[][..] } else { &[set] };
        assert_eq!(with(text, sets).unwrap_err(), message, "{text:?} {set:?}");
    }
    assert!(with("", &["list=[1, 2"]).unwrap_err().contains("this is not TOML"));
    let deep = ["a"; 100_000].join(".") + "=1";
    assert!(with("", &[&deep]).unwrap_err().contains("no key"));
}

/// serde hides the fields of a flattened struct, so that nothing is asked for by name.
#[test]
fn what_does_not_arrive_is_refused_even_where_names_are_hidden() {
    #[derive(Serialize, Deserialize)]
    struct Outer {
        seed: u64,
        #[serde(flatten)]
        inner: Adam,
    }
    let with = |key: &str| {
        let mut layers = Layer::preset(&Outer { seed: 1, inner: Adam::default() }).unwrap();
        layers.lay_over(Layer::set(0, &format!("{key}=2.5")).unwrap());
        read::<Outer>(&layers)
    };
    assert_eq!(with("learning_rate").unwrap().inner.learning_rate, 2.5);
    assert_eq!(with("rate").err().unwrap().message, "unknown key `rate`");
}

/// Words that meet the keys of the configuration often enough, and anything else.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "ppo",
            "gamma",
            "adam",
            "range",
            "noise",
            "normal",
            "off",
            "list",
            "model",
            "seed",
            "strength",
            ".",
            "=",
            "[",
            "]",
            "{",
            "}",
            "\n",
            "'",
            "\"",
            "1",
            "-2.5",
            "1e400",
            "true",
            "nan",
            "inf",
            "0x",
            " ",
            ",",
            "2020-01-01"
        ])
        .prop_map(str::to_owned),
        any::<String>(),
    ]
}

proptest! {
    #[test]
    fn anything_gives_a_configuration_or_an_error(
        text in prop::collection::vec(word(), 0..12).prop_map(|words| words.concat()),
        sets in prop::collection::vec(prop::collection::vec(word(), 0..6), 0..3),
    ) {
        let sets: Vec<String> = sets.into_iter().map(|words| words.concat()).collect();
        let _ = resolve(preset(), Some((Path::new("my.toml"), &text)), &sets);
        let _ = resolve(preset(), None, &sets);
    }

    #[test]
    fn what_is_written_is_read(seed in 0..i64::MAX as u64, gamma: f32, task: String, list: Vec<f32>) {
        let mut config = preset();
        (config.seed, config.task, config.ppo.gamma, config.list) = (seed, task, gamma, list);
        let text = toml::to_string(&config).unwrap();
        let read = resolve(preset(), Some((Path::new("my.toml"), &text)), &[]).unwrap();
        // A number that is none is not equal to itself.
        prop_assert_eq!(format!("{read:?}"), format!("{config:?}"));
    }
}
