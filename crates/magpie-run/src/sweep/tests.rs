use std::collections::BTreeSet;
use std::path::Path;

use magpie_rewards::ModelName;

use super::{Sweep, divide};
use crate::error::RunError;

fn parse(text: &str) -> Result<Sweep, String> {
    Sweep::parse(Path::new("studies/my.toml"), text).map_err(|e| e.to_string())
}

fn names(text: &str) -> Vec<String> {
    parse(text).unwrap().runs().iter().map(|run| run.name.clone()).collect()
}

#[test]
fn every_combination_is_a_run_and_the_first_seed_comes_first() {
    let text = "[axes]\ntask = ['hopper', 'ant']\nreward = ['gail']\ncuriosity = [0, 0.5]\nseed = [3, 1]";
    assert_eq!(
        names(text),
        [
            "hopper-gail-q0-s3",
            "hopper-gail-q0.5-s3",
            "ant-gail-q0-s3",
            "ant-gail-q0.5-s3",
            "hopper-gail-q0-s1",
            "hopper-gail-q0.5-s1",
            "ant-gail-q0-s1",
            "ant-gail-q0.5-s1",
        ]
    );
}

#[test]
fn a_run_is_method_and_budget_then_settings_then_axes() {
    // Beside the file of the sweep, which is in another folder than this test.
    let robot = "../../magpie-physics/robots/hopper.toml";
    let text = format!(
        "method = 'paper'\nbudget = 'paper'\n[settings]\ntask = 'hopper'\nseed = 4\nsearch.branches = 60\n\
         world.robot = '{robot}'\n[axes]\nreward = ['true', 'vail']\nsearch.train.gamma = [0.5]"
    );
    let sweep = Sweep::parse(Path::new("src/my.toml"), &text).unwrap();
    let [plain, learned] = sweep.runs() else { panic!("{sweep:?}") };
    for run in [plain, learned] {
        let config = &run.config;
        assert_eq!((config.task.as_str(), config.seed, config.iterations), ("hopper", 4, 2000));
        assert_eq!((config.search.environments, config.search.branches), (3000, 60));
        assert_eq!(config.search.train.gamma, 0.5);
        assert_eq!(config.world.robot.as_deref(), Some(&*Path::new("src").join(robot)));
    }
    assert_eq!((plain.config.reward.model, plain.config.search.curiosity.weight), (ModelName::True, 0.0));
    assert_eq!((learned.config.reward.model, learned.config.search.curiosity.weight), (ModelName::Vail, 2.0));
    let names: Vec<&str> = sweep.runs().iter().map(|run| run.name.as_str()).collect();
    assert_eq!(names, ["hopper-true-q0-gamma0.5-s4", "hopper-vail-q2-gamma0.5-s4"]);
}

#[test]
fn a_preset_is_a_method_and_a_budget_with_a_note() {
    let axes = "[axes]\ntask = ['hopper']";
    let [preset, both] = ["preset = 'paper'\n", "method = 'paper'\nbudget = 'paper'\n"]
        .map(|head| parse(&format!("{head}{axes}")).unwrap());
    assert_eq!(preset.runs(), both.runs());
    assert_eq!(both.notes(), [] as [&str; 0]);
    assert_eq!(preset.notes(), ["preset paper is deprecated; use method paper with budget paper instead"]);
    let error = parse(&format!("preset = 'paper'\nbudget = 'quick'\n{axes}")).unwrap_err();
    let problem = "`preset` sets both method and budget; leave it out if you name either of them";
    assert_eq!(error, format!("studies/my.toml:1:1: {problem}"));
}

/// Defaults depend on the task, and each run has its own.
#[test]
fn every_run_has_the_defaults_of_its_own_task_and_measure() {
    let sweep =
        parse("[axes]\ntask = ['walker2d', 'humanoid', 'ant']\nmeasure = ['jump', 'feet_contact']").unwrap();
    let of = |name: &str| &sweep.runs().iter().find(|run| run.name == name).unwrap().config;
    let humanoid = of("humanoid-jump-gail-q2-s0");
    assert_eq!((humanoid.search.sigma0, humanoid.measure.as_str()), (0.5, "jump"));
    assert_eq!(of("walker2d-gail-q2-s0").search.sigma0, 1.0);
    let resolution = |name: &str| of(name).search.archive.resolution;
    assert_eq!((resolution("ant-gail-q2-s0"), resolution("ant-jump-gail-q2-s0")), (10, 50));
}

#[test]
fn grids_add_up_and_share_the_axes() {
    let text = "[axes]\nseed = [1, 2]\ntask = ['hopper']\n\
                [[grid]]\nreward = ['gail']\n\
                [[grid]]\nreward = ['true']\ncuriosity = [1]\n'search.curiosity.base' = [0.5]\nseed = [7]";
    assert_eq!(names(text), ["hopper-gail-q2-s1", "hopper-true-q1-base0.5-s7", "hopper-gail-q2-s2"]);
}

#[test]
fn demonstrations_are_looked_for_beside_the_file_and_may_be_of_the_task() {
    let text = "[axes]\ntask = ['hopper', 'ant']\ndemos = ['d/{task}-best.safetensors', '/all/{task}_diverse.pt']\n\
                'demos.count' = [1, 4]";
    let sweep = parse(text).unwrap();
    let run = &sweep.runs()[5];
    assert_eq!(run.name, "ant-gail-q2-best-count4-s0");
    assert_eq!(run.config.demos.file.as_deref(), Some(Path::new("studies/d/ant-best.safetensors")));
    let run = &sweep.runs()[6];
    assert_eq!(run.name, "ant-gail-q2-diverse-count1-s0");
    assert_eq!(run.config.demos.file.as_deref(), Some(Path::new("/all/ant_diverse.pt")));
    assert_eq!(run.config.demos.count, Some(1));
}

#[test]
fn settings_of_the_same_name_are_told_apart_and_odd_letters_left_out() {
    let text = "[settings]\ntask = 'hopper'\n[axes]\nreward = ['gail']\n\
                'search.train.ppo.adam.learning_rate' = [0.9]\n'reward.gail.learning_rate' = [0.8]\n'reward.gail.hidden' = [[64, 32]]\n\
                'search.curiosity.scope' = ['window']\n'search.reset_log_std' = [false]\ndemos = ['my demos.pt']\niterations = [7]";
    let expected = "hopper-gail-q2-my-demos-7iterations-search.train.ppo.adam.learning_rate0.9-\
                    reward.gail.learning_rate0.8-hidden64x32-window-reset_log_std-false-s0";
    assert_eq!(names(text), [expected]);
}

#[test]
fn a_fault_names_the_place_the_key_and_the_remedy() {
    for (text, message) in [
        ("", "my.toml:1:1: the file has no axes; add [axes] with lists such as `seed = [1, 2, 3]`"),
        ("[axes]", "my.toml:1:1: the file has no axes; add [axes] with lists such as `seed = [1, 2, 3]`"),
        ("[axis]\nseed = [1]", "my.toml:1:2: unknown key `axis`: did you mean `axes`?"),
        (
            "budget = 'papre'",
            "my.toml:1:10: `budget` is \"papre\", but must be one of \"quick\", \"desktop\", \"paper\"; did you mean \"paper\"?",
        ),
        ("axes = 3", "my.toml:1:8: `axes` must be a table; write it as [axes]"),
        (
            "settings = 3\n[axes]\nseed = [1]",
            "my.toml:1:12: `settings` must be a table; write it as [settings]",
        ),
        ("grid = []", "my.toml:1:8: `grid` must be a list of tables; write each as [[grid]]"),
        ("[grid]\nseed = [1]", "my.toml:1:1: `grid` must be a list of tables; write each as [[grid]]"),
        (
            "[axes]\nrewards = ['gail']",
            "my.toml:2:1: unknown axis `rewards`: did you mean \"reward\"? Write any other setting with its full key, \
             such as \"search.train.gamma\"",
        ),
        ("[axes]\nseed = []", "my.toml:2:8: `seed` is empty; give it a value, or leave it out"),
        ("[axes]\nseed = 3", "my.toml:2:8: `seed` is 3, but must be a list of values, as in [3]"),
        ("[axes]\ncuriosity = [2, 1, 2.0]", "my.toml:2:20: `curiosity` has 2 twice; leave one out"),
        (
            "[axes]\ncuriosity = [2]\n'search.curiosity.weight' = [1]",
            "my.toml:3:1: `search.curiosity.weight` and `curiosity` are the same setting; leave one out",
        ),
        ("[axes]\n'search..x' = [2]", "my.toml:2:1: `search..x` is not a key; write it as \"a.b\""),
        (
            "[axes]\ntask = ['hopper']\n'search.train.gama' = [1]",
            "my.toml:3:1: unknown key `search.train.gama`: did you mean `search.train.gamma`?",
        ),
        (
            "[settings]\nsearch.brunches = 3\n[axes]\nseed = [1]",
            "my.toml:2:8: unknown key `search.brunches`: did you mean `search.branches`?",
        ),
        (
            "[axes]\ntask = ['hopper']\nreward = ['gail', 'vial']",
            "my.toml:3:19: `reward.model` is \"vial\", but must be one of \"gail\", \"vail\", \"diffail\", \"airl\", \"giril\", \
             \"maxent\", \"true\"; did you mean \"vail\"?",
        ),
        (
            "[axes]\ntask = ['hopper']\nseed = [1, -1]",
            "my.toml:3:12: `seed` is -1, but must be a whole number from 0 to 9223372036854775807",
        ),
        ("[axes]\nseed = [1]", "my.toml:1:1: no task is named; add `task = [\"walker2d\"]` to [axes]"),
        (
            "[axes]\ntask = ['hoper']",
            "my.toml:2:9: there is no task \"hoper\": did you mean \"hopper\"? (a task file ends in .toml)",
        ),
        (
            "[axes]\ntask = ['hopper']\n[[grid]]\ncuriosity = [2]\n[[grid]]\nreward = ['gail']",
            "my.toml: run 1 and run 2, hopper-gail-q2-s0, are identical; leave one out",
        ),
        (
            "[axes]\ntask = ['hopper']\ndemos = ['a/d.pt', 'b/d.pt']",
            "my.toml: run 1 and run 2, hopper-gail-q2-d-s0, have the same name; rename the files or values in which they differ",
        ),
        (
            "[axes]\ntask = ['hopper']\nreward = ['gail', 'true']\ndemos = ['d.pt']",
            "my.toml: run hopper-true-q0-d-s0: demos: d.pt has no effect in this run, because it requires reward.model ≠ \"true\"; put the runs in which it has an effect in a \
             [[grid]] of their own",
        ),
        (
            "[axes]\ntask = ['hopper']\nreward = ['gail']\ncuriosity = [0]\n'search.curiosity.scope' = ['window']",
            "my.toml: run hopper-gail-q0-window-s0: search.curiosity.scope: window has no effect in this run, because it requires search.curiosity.weight ≠ 0; put the runs in which it has an effect in a \
             [[grid]] of their own",
        ),
        (
            "[axes]\ntask = ['hopper']\nreward = ['gail']\n'search.curiosity.reference_archive' = ['soft']\n\
             [settings]\nsearch.curiosity.novelty = 'visits'\nsearch.curiosity.frontier = false",
            "my.toml: run hopper-gail-q2-soft-s0: search.curiosity.reference_archive: soft has no effect in this run, because it requires search.restarts = \"frontier\" or search.restarts = \"alternate\" or (search.curiosity.weight ≠ 0 and (search.restarts = \"auto\" or search.curiosity.novelty ≠ \"visits\")); put the runs in which it has an effect in a \
             [[grid]] of their own",
        ),
        (
            "[axes]\ntask = ['hopper']\nreward = ['gail']\n'search.curiosity.width' = [3.0]\n\
             [settings]\nsearch.curiosity.novelty = 'empty'\nsearch.curiosity.frontier = false",
            "my.toml: run hopper-gail-q2-width3-s0: search.curiosity.width: 3 has no effect in this run, because it requires search.restarts = \"frontier\" or search.restarts = \"promise\" or search.restarts = \"alternate\" or (search.curiosity.weight ≠ 0 and (search.restarts = \"auto\" or search.curiosity.novelty = \"density\")); put the runs in which it has an effect in a \
             [[grid]] of their own",
        ),
        (
            "[axes]\ntask = ['hopper']\nreward = ['vail']\n'reward.gail.hidden' = [[5]]",
            "my.toml: run hopper-vail-q2-hidden5-s0: reward.gail.hidden: 5 has no effect in this run, because it requires reward.model = \"gail\"; put the runs in which it has an effect in a \
             [[grid]] of their own",
        ),
    ] {
        assert_eq!(parse(text).unwrap_err(), format!("studies/{message}"), "{text}");
    }
    for (axis, message) in [
        ("'search.branches' = [6, 0]", "my.toml:5:25: `search.branches` is 0, but must be from 1 to 10000"),
        ("curiosity = [0, -1]", "my.toml:5:17: `search.curiosity.weight` is -1, but must be at least 0"),
        (
            "'reward.airl.gamma' = [0.99]",
            "my.toml: run hopper-true-q0-gamma0.99-s0: reward.airl.gamma: this setting was removed; leave it out",
        ),
    ] {
        let text = format!("[settings]\ntask = 'hopper'\n[axes]\nreward = ['true']\n{axis}");
        assert_eq!(parse(&text).unwrap_err(), format!("studies/{message}"));
    }
    let many =
        format!("[axes]\ntask = ['hopper']\nseed = {0:?}\ncuriosity = {0:?}", (0..200).collect::<Vec<_>>());
    assert!(parse(&many).unwrap_err().contains("more than 10000 runs"));
    let long = format!("[axes]\ntask = ['hopper']\ndemos = ['{}.pt']", "d".repeat(200));
    assert!(parse(&long).unwrap_err().contains("is too long for a directory"));
    let deep = format!("[axes]\n'{}' = [1]", ["a"; 100_000].join("."));
    assert!(parse(&deep).unwrap_err().contains("is not a key"));
}

#[test]
fn what_cannot_be_run_is_refused_with_the_name_of_the_run() {
    let error = parse("[axes]\ntask = ['hopper']\n'world.robot' = ['nowhere.toml']").unwrap_err();
    assert!(error.starts_with("studies/my.toml:3:18: studies/nowhere.toml: cannot read the file"), "{error}");
    let sweep = parse("[axes]\ntask = ['hopper']\ndemos = ['nowhere.safetensors']").unwrap();
    let error = sweep.check().unwrap_err().to_string();
    assert!(
        error.contains(
            "run hopper-gail-q2-nowhere-s0: studies/nowhere.safetensors: opening: there is no such file"
        ),
        "{error}"
    );
}

#[test]
fn shards_have_every_run_once() {
    let sweep = parse("[axes]\ntask = ['hopper', 'ant']\niterations = [10, 300]\nseed = [1, 2, 3]").unwrap();
    let costs: Vec<u64> = sweep.runs().iter().map(|run| run.config.most_env_steps()).collect();
    for shards in 1..=14 {
        let division = divide(&costs, shards);
        assert_eq!(division.len(), 12);
        assert!(division.iter().all(|shard| (1..=shards).contains(shard)));
        let used: BTreeSet<usize> = division.iter().copied().collect();
        assert_eq!(used.len(), shards.min(12), "a shard of {shards} is idle");
    }
}

/// The studies that come with magpie; the demonstrations of two of them have to be made first.
#[test]
fn every_study_in_the_folder_sweeps_can_be_run_once_there_are_demonstrations() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sweeps");
    let table = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let mut studies = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|end| end != "toml") {
            continue;
        }
        studies += 1;
        let sweep = Sweep::read(&path).unwrap_or_else(|e| panic!("{e}"));
        let name = path.file_name().unwrap().to_str().unwrap();
        let row = format!("| [{name}]({name}) | {} |", sweep.runs().len());
        assert!(table.contains(&row), "README.md has no row that begins with {row}");
        for run in sweep.runs() {
            match run.config.validated() {
                Ok(_) => {}
                Err(RunError::Demonstrations(_)) if !run.config.demos.file.as_ref().unwrap().exists() => {}
                Err(e) => panic!("{name}: {}: {e}", run.name),
            }
        }
    }
    assert_eq!(studies, 8);
}
