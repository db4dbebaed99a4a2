//! A second simulator, as small as can be: points that are pushed about in a plane. Tests of learning and searching
//! share it, to prove that nothing but a [`Simulator`] is needed for worlds of another kind.

use std::sync::Arc;

use magpie_envs::{
    Description, Dimension, Entry, Environment, Group, LaneSet, ResetDraws, Simulation, Simulator, members,
};
use magpie_simd::{Isa, LANES, Pack};

/// Steps of an episode.
pub const EPISODE: u32 = 40;
/// Where the world ends, in m from its middle.
const EDGE: f32 = 2.0;

/// A point in the plane. Its two actions are velocities, it sees where it is and is paid for every metre along x; who
/// leaves the world is out. The measure of a step is the place.
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

/// Places, x and y of sixteen points a group.
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
    fn reset(&mut self, group: usize, lanes: LaneSet, draws: ResetDraws, out: &mut Group) {
        for lane in members(lanes) {
            let mut draws = draws.of(lane);
            for (place, seen) in self.0[group].iter_mut().zip(&mut out.observation) {
                place.0[lane] = draws.uniform(-0.1, 0.1);
                seen.0[lane] = place.0[lane];
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
