//! A PPO run on disk: exact resume, refusals, and the policy file.

use std::path::Path;

use magpie_learn::Actions;
use magpie_run::ppo::{Config, PpoRun};
use magpie_run::{EnvOverrides, RunError, load_policy};

fn config() -> Config {
    let mut config = Config::new("hopper", 3, 20 * 40 * 8).unwrap();
    config.environments = 40;
    config.train.rollout_length = 8;
    config.train.minibatches = 2;
    config.train.epochs = 1;
    config
}

fn finish(mut run: PpoRun) {
    while !run.is_finished() {
        run.iterate().unwrap();
    }
    run.save().unwrap();
}

/// Everything in the metrics but the seconds, which are the last column.
fn metrics(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("metrics.csv")).unwrap();
    text.lines().map(|line| line.rsplit_once(',').unwrap().0.to_owned()).collect()
}

#[test]
fn a_run_that_was_stopped_anywhere_ends_like_one_that_was_not() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole");
    finish(PpoRun::start(config(), &whole).unwrap());
    let policy = std::fs::read(whole.join("policy.safetensors")).unwrap();
    assert_eq!(metrics(&whole).len(), 21);
    for stop in [0, 1, 7, 19] {
        let path = folder.path().join(format!("stopped-{stop}"));
        let mut run = PpoRun::start(config(), &path).unwrap();
        for _ in 0..stop {
            run.iterate().unwrap();
        }
        run.save().unwrap();
        // Work after the checkpoint is lost, as when the process is killed; what is finished is saved.
        for _ in 0..2.min(20 - stop) {
            run.iterate().unwrap();
        }
        drop(run);
        finish(PpoRun::resume(&path, None).unwrap());
        let resumed = std::fs::read(path.join("policy.safetensors")).unwrap();
        assert!(resumed == policy, "stopped at {stop}: another policy");
        assert_eq!(metrics(&path), metrics(&whole), "stopped at {stop}");
        // Events hold times; but all of them have the same length.
        let events =
            |folder: &Path| std::fs::metadata(folder.join("events.out.tfevents.magpie")).unwrap().len();
        assert_eq!(events(&path), events(&whole), "stopped at {stop}");
    }
}

#[test]
fn a_run_can_go_further_than_planned() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    finish(PpoRun::start(config(), &path).unwrap());
    let mut run = PpoRun::resume(&path, Some(25 * 40 * 8)).unwrap();
    assert!(!run.is_finished());
    run.iterate().unwrap();
}

#[test]
fn a_run_cannot_be_shorter_than_what_was_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let run = PpoRun::start(config(), &path).unwrap();
    let planned = run.config().steps;
    finish(run);
    let error = PpoRun::resume(&path, Some(1)).unwrap_err().to_string();
    assert!(
        error.starts_with("steps is 1, but must be at least ") && error.ends_with("have been made"),
        "{error}"
    );
    // As many as were planned are made, whatever whole rollouts came to.
    assert!(PpoRun::resume(&path, Some(planned)).unwrap().is_finished());
}

#[test]
fn folders_in_use_or_taken_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let run = PpoRun::start(config(), &path).unwrap();
    assert!(matches!(PpoRun::resume(&path, None), Err(RunError::Locked { .. })));
    drop(run);
    assert!(matches!(PpoRun::start(config(), &path), Err(RunError::Exists { .. })));
    assert!(matches!(PpoRun::resume(folder.path(), None), Err(RunError::NoRun { .. })));
}

#[test]
fn a_damaged_checkpoint_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    drop(PpoRun::start(config(), &path).unwrap());
    let file = path.join("checkpoint/trainer");
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let error = PpoRun::resume(&path, None).unwrap_err().to_string();
    assert!(error.contains("trainer") && error.contains("checksum"), "{error}");
}

#[test]
fn a_changed_configuration_is_not_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    drop(PpoRun::start(config(), &path).unwrap());
    let file = path.join("config.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("seed = 3", "seed = 4")).unwrap();
    let error = PpoRun::resume(&path, None).unwrap_err().to_string();
    assert!(error.contains("config.toml") && error.contains("start a new run"), "{error}");
}

#[test]
fn impossible_configurations_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refuse = |change: fn(&mut Config), field: &str| {
        let mut config = config();
        change(&mut config);
        let error = PpoRun::start(config, &folder.path().join("run")).unwrap_err().to_string();
        assert!(error.contains(field), "{error}");
        assert!(!folder.path().join("run").exists(), "nothing was written");
    };
    refuse(|c| c.steps = 0, "steps");
    refuse(|c| c.environments = 0, "environments");
    refuse(|c| c.train.rollout_length = 0, "train.rollout_length");
    refuse(|c| c.train.minibatches = 10_000, "train.minibatches");
    refuse(|c| c.train.gamma = f32::NAN, "train.gamma");
    refuse(|c| c.train.ppo.adam.learning_rate = f64::INFINITY, "learning_rate");
    refuse(|c| c.train.ppo.adam.beta2 = 1.0, "beta2");
    refuse(|c| c.seed = u64::MAX, "seed");
    refuse(|c| c.task = "hoper".to_owned(), "hoper");
    refuse(|c| c.world.friction = -1.0, "friction");
    refuse(|c| c.world.strength = [("wing".to_owned(), 0.5)].into(), "leg_joint");
    refuse(|c| c.world.robot = Some("no/robot.toml".into()), "no/robot.toml");
}

#[test]
fn a_run_keeps_its_world() {
    let folder = tempfile::tempdir().unwrap();
    let (path, original) = (folder.path().join("run"), folder.path().join("lame.toml"));
    let text = magpie_physics::robot::BUILTIN.iter().find(|(name, _)| *name == "hopper").unwrap().1;
    std::fs::write(&original, text).unwrap();
    let mut config = config();
    config.world.friction = 0.5;
    config.world.robot = Some(original.clone());
    let mut run = PpoRun::start(config, &path).unwrap();
    run.iterate().unwrap();
    run.save().unwrap();
    let result = run.evaluate(3, Actions::Mean, 1);
    drop(run);

    // The original may go.
    std::fs::remove_file(original).unwrap();
    assert_eq!(PpoRun::resume(&path, None).unwrap().evaluate(3, Actions::Mean, 1), result);
    let world = EnvOverrides::of_run(&path).unwrap();
    assert_eq!((world.friction, &world.robot), (0.5, &Some(path.join("robot.toml"))));
    assert_eq!(world.environment("hopper", None).unwrap().robot(), "hopper");

    std::fs::write(path.join("robot.toml"), text.replace("2.7813568", "2.8")).unwrap();
    let error = PpoRun::resume(&path, None).unwrap_err().to_string();
    assert!(error.contains("robot.toml") && error.contains("start a new run"), "{error}");
}

#[test]
fn a_policy_file_acts_like_the_run_it_came_from() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let mut run = PpoRun::start(config(), &path).unwrap();
    for _ in 0..5 {
        run.iterate().unwrap();
    }
    run.save().unwrap();
    let env = std::sync::Arc::new(magpie_envs::Environment::new("hopper", Default::default()).unwrap());
    let networks = magpie_learn::Networks::paper(env.observation_size(), env.action_size()).unwrap();
    let file = load_policy(&path.join("policy.safetensors")).unwrap();
    let loaded = magpie_learn::evaluate(&env, &networks, &[&file.policy], 10, Actions::Mean, 1);
    assert_eq!((file.task.as_str(), file.actions, &file.actor), ("hopper", Actions::Mean, &networks.actor));
    assert_eq!(loaded[0], run.evaluate(10, Actions::Mean, 1));
}

#[test]
fn foreign_and_damaged_policy_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("policy.safetensors");
    for bytes in [&b""[..], b"not safetensors at all", &[0xff; 64]] {
        std::fs::write(&path, bytes).unwrap();
        let error = load_policy(&path).unwrap_err().to_string();
        assert!(error.contains("policy.safetensors"), "{error}");
    }
}

/// The head of a file of the first format says the task alone.
#[test]
fn policies_of_the_first_format_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    drop(PpoRun::start(config(), &path).unwrap());
    let file = path.join("policy.safetensors");
    let policy = load_policy(&file).unwrap();
    let bytes = std::fs::read(&file).unwrap();
    let (length, rest) = bytes.split_first_chunk::<8>().unwrap();
    let (head, tensors) = rest.split_at(u64::from_le_bytes(*length) as usize);
    let mut head: serde_json::Value = serde_json::from_slice(head).unwrap();
    // It has no checksums.
    head["__metadata__"] = serde_json::json!({"magpie": "policy 1 hopper"});
    let mut head = serde_json::to_vec(&head).unwrap();
    head.resize(head.len().next_multiple_of(8), b' ');
    let length = (head.len() as u64).to_le_bytes();
    std::fs::write(&file, [&length[..], &head, tensors].concat()).unwrap();
    assert_eq!(load_policy(&file).unwrap(), policy);
}
