//! How fast a robot's bodies get under a policy: a return that unstable physics has earned means nothing.

use std::sync::Arc;

use magpie_envs::{Batch, Environment, members};
use magpie_simd::{Isa, LANES};

use crate::agent::{Networks, Policy};
use crate::policy_runner::{Actions, PolicyRunner};

/// The top speed of any body, in m/s, in sixteen episodes of a policy: those with which [`evaluate`](crate::evaluate) begins
/// under this seed. NaN if a velocity is not a number; `None` if the simulator does not say.
pub fn top_speed(
    env: &Arc<Environment>,
    networks: &Networks,
    policy: &Policy,
    actions: Actions,
    seed: u64,
) -> Option<f32> {
    let isa = Isa::best();
    let batch = Batch::with_isa(Arc::clone(env), 0..LANES as u32, seed, isa);
    let mut runner = PolicyRunner::new(networks, policy, isa, actions, seed);
    let mut top: f32 = 0.0;
    for mut chunk in batch.into_chunks() {
        chunk.reset();
        let mut playing = (1 << LANES) - 1;
        while playing != 0 {
            chunk.step_without_reset(1, runner.act(&chunk, 1));
            for lane in members(playing) {
                let speed = chunk.top_speed((0, lane))?;
                if speed.is_nan() {
                    return Some(speed);
                }
                top = top.max(speed);
            }
            playing &= !chunk.groups()[0].done();
        }
    }
    Some(top)
}

#[cfg(test)]
mod tests {
    use magpie_envs::{Options, unstable_speed};
    use magpie_physics::robot::Robot;

    use super::*;
    use crate::agent::Agent;

    /// Top speed of a policy that has learned nothing.
    fn of_hopper(robot: &str) -> Option<f32> {
        let robot = Some(Robot::from_toml(robot, "test.toml").unwrap());
        let env = Arc::new(Environment::new("hopper", Options { robot, ..Options::default() }).unwrap());
        let networks = Networks::paper(env.observation_size(), env.action_size()).unwrap();
        let policy = Agent::new(&networks, 1).policy();
        top_speed(&env, &networks, &policy, Actions::Sampled, 1)
    }

    #[test]
    fn only_unstable_physics_is_that_fast() {
        let hopper = include_str!("../../magpie-physics/robots/hopper.toml");
        let usual = of_hopper(hopper).unwrap();
        assert!(usual > 0.1 && unstable_speed(usual).is_none(), "{usual}");
        let stiff = hopper.replace("stiffness = 10000", "stiffness = 800000");
        let exploded = of_hopper(&stiff).unwrap();
        assert!(unstable_speed(exploded).is_some(), "{exploded}");
    }
}
