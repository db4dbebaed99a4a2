//! Whether a run fits into the memory of this machine, before it takes any.

use std::fs;

use magpie_envs::Environment;

use crate::error::RunError;

/// Refuses more environments, the setting `field`, than this machine has memory for, with rollouts of so many steps.
/// Where it is not known how much that is, nothing is refused.
pub(crate) fn check(env: &Environment, field: &str, environments: u32, steps: usize) -> Result<(), RunError> {
    let Some(there) = of_machine() else { return Ok(()) };
    within(there, of_environment(env, steps), field, environments)
}

fn within(there: u64, each: u64, field: &str, environments: u32) -> Result<(), RunError> {
    if each.saturating_mul(environments.into()) <= there {
        return Ok(());
    }
    Err(RunError::Value {
        field: field.to_owned(),
        value: environments.to_string(),
        range: format!(
            "at most {}: each takes {:.1} kB with its rollout, {:.1} GB together, and this machine has {:.1} GB of memory",
            there / each,
            each as f64 / 1e3,
            each as f64 * f64::from(environments) / 1e9,
            there as f64 / 1e9
        ),
    })
}

/// Bytes that an environment takes with its rows of a rollout.
fn of_environment(env: &Environment, steps: usize) -> u64 {
    let (observation, action, measures) = (env.observation_size(), env.action_size(), env.measure_size());
    // `RolloutBuffer`: observations, actions and measures, six numbers a row, how it ended, and its place in a minibatch.
    let row = 4 * (observation + action + measures + 8);
    // Bodies in motion, and the first, the last and the present observation.
    let state = 4 * (3 * observation + 256);
    (steps as u64).saturating_mul(row as u64).saturating_add(state as u64)
}

/// Bytes of memory that a process may have here, where Linux says so.
fn of_machine() -> Option<u64> {
    let about = fs::read_to_string("/proc/meminfo").ok()?;
    let total = about.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix("kB"))?;
    let total = total.trim().parse::<u64>().ok()?.saturating_mul(1024);
    // A container may have less.
    let limit =
        fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
    Some(limit.unwrap_or(u64::MAX).min(total))
}

/// The most memory that this process has used so far, in bytes, where Linux says so.
pub(crate) fn most_used() -> Option<u64> {
    let about = fs::read_to_string("/proc/self/status").ok()?;
    let most = about.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix("kB"))?;
    Some(most.trim().parse::<u64>().ok()?.saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_with_the_number_that_does() {
        let env = Environment::new("walker2d", magpie_envs::Options::default()).unwrap();
        // Measured: 9.7 kB each, with rollouts of 64 steps.
        let each = of_environment(&env, 64);
        assert!((8_000..11_000).contains(&each), "{each}");
        assert!(within(1_000_000_000, each, "environments", 50_000).is_ok());
        let error = within(1_000_000_000, each, "environments", 1_000_000).unwrap_err().to_string();
        let most = 1_000_000_000 / each;
        assert!(error.starts_with("environments is 1000000, but must be"), "{error}");
        assert!(error.contains(&format!("at most {most}: each takes")), "{error}");
        assert!(within(1_000_000_000, each, "environments", most as u32).is_ok());
        assert!(within(1_000_000_000, each, "environments", most as u32 + 1).is_err());
        assert!(within(u64::MAX - 1, u64::MAX, "environments", u32::MAX).is_err(), "no overflow");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_has_some() {
        let (there, used) = (of_machine().unwrap(), most_used().unwrap());
        assert!(there > 100_000_000 && (100_000..there).contains(&used), "{used} of {there}");
    }
}
