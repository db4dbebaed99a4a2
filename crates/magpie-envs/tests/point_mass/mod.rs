//! A second, minimal simulator: points that move in a plane. Tests of learning and searching share it, to show that
//! worlds of another kind need nothing but a [`Simulator`].

use std::sync::Arc;

use magpie_envs::{
    Description, Dimension, Entry, Environment, Group, LaneSet, ResetDraws, Simulation, Simulator, members,
};
use magpie_simd::{Isa, LANES, Pack};

/// Steps per episode.
pub const EPISODE: u32 = 40;
/// The border of the world, in m from its centre.
const EDGE: f32 = 2.0;

/// A point in the plane. Its two actions are velocities, its observation is its position, and it is rewarded for every
/// metre along x. Its episode ends when it leaves the world. The measures of a step are its position.
pub fn environment() -> Arc<Environment> {
    let place = || vec![Entry::new("x", "m"), Entry::new("y", "m")];
    let dimension = |name: &str| Dimension { name: name.to_owned(), range: [-1.0, 1.0] };
    let description = Description {
        task: "point_mass".to_owned(),
        robot: "point".to_owned(),
        observation: place(),
        action: vec![Entry::new("velocity x", "m/s"), Entry::new("velocity y", "m/s")],
        measure: "place".to_owned(),
        dimensions: vec![dimension("x"), dimension("y")],
        episode_steps: EPISODE,
        step_seconds: 0.1,
        hints: Default::default(),
    };
    Arc::new(Environment::from_simulator(description, PointMass).unwrap())
}

struct PointMass;

/// Positions, x and y of sixteen points per group.
struct Points(Vec<[Pack; 2]>);

impl Simulator for PointMass {
    fn simulate(&self, groups: usize, _: Isa) -> Box<dyn Simulation> {
        Box::new(Points(vec![[Pack::default(); 2]; groups]))
    }

    fn state_size(&self) -> usize {
        2
    }
}

impl Simulation for Points {
    fn reset(&mut self, lanes: &[LaneSet], draws: ResetDraws, out: &mut [Group]) {
        for (group, out) in out.iter_mut().enumerate() {
            for lane in members(lanes[group]) {
                let mut draws = draws.of(group, lane);
                for (place, seen) in self.0[group].iter_mut().zip(&mut out.observation) {
                    place.0[lane] = draws.uniform(-0.1, 0.1);
                    seen.0[lane] = place.0[lane];
                }
            }
        }
    }

    fn step(&mut self, actions: &[Pack], out: &mut [Group]) {
        for ((places, action), out) in self.0.iter_mut().zip(actions.chunks_exact(2)).zip(out) {
            out.terminated = 0;
            for lane in 0..LANES {
                for axis in 0..2 {
                    places[axis].0[lane] += 0.1 * action[axis].0[lane];
                    out.observation[axis].0[lane] = places[axis].0[lane];
                    out.measure[axis].0[lane] = places[axis].0[lane];
                }
                out.reward.0[lane] = 0.1 * action[0].0[lane];
                let inside = places.iter().all(|place| place.0[lane].abs() < EDGE);
                out.terminated |= LaneSet::from(!inside) << lane;
            }
        }
    }

    fn save(&self, (group, lane): (usize, usize), state: &mut Vec<f32>) {
        state.extend(self.0[group].map(|place| place.0[lane]));
    }

    fn restore(&mut self, (group, lane): (usize, usize), state: &[f32]) {
        for (place, &value) in self.0[group].iter_mut().zip(state) {
            place.0[lane] = value;
        }
    }
}
