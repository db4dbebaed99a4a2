//! What is fed to the readers of magpie, and what must hold of what they give: a value that can be used, or an error.

use std::path::Path;

use magpie_demos::{Given, import_bytes};
use magpie_envs::Task;
use magpie_physics::robot::Robot;
use magpie_rewards::ModelName;
use magpie_run::settings::resolve;
use magpie_run::train::{Budget, Config};
use magpie_settings::Method;

/// A file of demonstrations that begins with `start`, as the importer of one format wants it.
pub fn demonstrations(start: &[u8], bytes: &[u8]) {
    if !bytes.starts_with(start) {
        return;
    }
    if let Ok(demonstrations) = import_bytes(bytes, &Given { horizon: 5, ..Given::default() }) {
        // What has been read can be written and read again, and thinned or cut.
        let bytes = demonstrations.to_bytes().expect("it was checked");
        assert_eq!(import_bytes(&bytes, &Given::default()).expect("our own").steps(), demonstrations.steps());
        let _ = demonstrations.subset(1).thinned(6, true);
        let _ = demonstrations.sparse(3);
        demonstrations.places();
    }
}

/// A robot file.
pub fn robot(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = Robot::from_toml(text, "robot.toml");
    }
}

/// A task file. No robot file that it names is opened.
pub fn task(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = Task::from_toml(text, "task.toml", Path::new("nowhere"));
    }
}

/// A configuration file.
pub fn config(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let usual = Config::new("walker2d", "feet_contact", ModelName::Gail, Method::Magpie, Budget::Quick);
    if let Ok(config) = resolve(usual.expect("they exist"), Some((Path::new("config.toml"), text)), &[]) {
        let _ = config.check(2);
    }
}
