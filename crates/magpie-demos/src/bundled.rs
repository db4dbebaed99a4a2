//! The demonstrations that come with the crate.
//!
//! `demos/README.md` has the commands that made each. A file more is a line more in [`BUNDLED`].

/// Task and file.
const BUNDLED: &[(&str, &[u8])] = &[
    ("walker2d", include_bytes!("../demos/walker2d.safetensors")),
    ("halfcheetah", include_bytes!("../demos/halfcheetah.safetensors")),
    ("hopper", include_bytes!("../demos/hopper.safetensors")),
    ("ant", include_bytes!("../demos/ant.safetensors")),
    ("humanoid", include_bytes!("../demos/humanoid.safetensors")),
];

/// The file of demonstrations that comes with the crate for a task, if there is one.
pub fn bundled(task: &str) -> Option<&'static [u8]> {
    BUNDLED.iter().find(|(name, _)| *name == task).map(|(_, bytes)| *bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Demonstrations;

    #[test]
    fn every_bundled_file_is_whole_and_of_its_task() {
        let tasks: Vec<&str> = BUNDLED.iter().map(|(task, _)| *task).collect();
        assert_eq!(tasks, ["walker2d", "halfcheetah", "hopper", "ant", "humanoid"]);
        for &(task, bytes) in BUNDLED {
            let demonstrations = Demonstrations::from_bytes(bytes).unwrap();
            assert_eq!(demonstrations.columns().about.task, task);
            assert_eq!(bundled(task), Some(bytes));
        }
        assert!(BUNDLED.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() < 1 << 20, "a few hundred KB");
        assert_eq!(bundled("no such task"), None);
    }
}
