//! One substep compared with Brax 0.1.0: accelerations by joints and actuators, contact geometry, velocity changes and
//! the resulting state in double precision, and the resulting state in lanes.

use magpie_golden::{Npz, assert_close};
use magpie_physics::robot::{BUILTIN, Robot};
use magpie_physics::{Model, Perturbation, World, begin, probe, substep};
use magpie_simd::{Isa, LANES, Lanes, Pack, PackOf, Scalar, Simd, SimdTask};

const START: [&str; 4] = ["pos", "rot", "vel", "ang"];

fn model<T: Scalar>(name: &str) -> Model<T> {
    Model::new(&Robot::builtin(name).unwrap(), &Perturbation::default())
}

/// Writes state `i` of the four arrays [N, bodies and ground, ·] into a lane.
fn set<T: Scalar, P: PackOf<T>>(world: &mut World<P>, start: [&[f64]; 4], lane: usize) {
    let [pos, rot, vel, ang] = start;
    for (b, body) in world.bodies.iter_mut().enumerate() {
        let values = pos[3 * b..][..3]
            .iter()
            .chain(&rot[4 * b..][..4])
            .chain(&vel[3 * b..][..3])
            .chain(&ang[3 * b..][..3]);
        for (pack, &value) in body.components_mut().zip(values) {
            pack.lanes_mut()[lane] = T::from_f64(value);
        }
    }
}

/// Position, rotation, velocity and angular velocity of a lane, by body, without the ground.
fn get<T: Scalar, P: PackOf<T>>(world: &World<P>, lane: usize) -> [Vec<f64>; 4] {
    let mut parts: [Vec<f64>; 4] = Default::default();
    for body in &world.bodies {
        for (i, pack) in body.components().enumerate() {
            parts[[0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3][i]].push(pack.lanes()[lane].to_f64());
        }
    }
    parts
}

#[test]
fn golden_substep_terms_in_double_precision() {
    for (name, _) in BUILTIN {
        let model: Model<f64> = model(name);
        let mut inputs = Npz::open(&format!("physics/single_step/{name}.npz"));
        let start = START.map(|array| inputs.array(array));
        let action = inputs.array("action");
        let mut golden = Npz::open(&format!("physics/single_step_f64/{name}.npz"));
        let state = ["sub_pos", "sub_rot", "sub_vel", "sub_ang"].map(|array| golden.array(array));
        let terms = [
            "sub_joint_acc",
            "sub_joint_ang_acc",
            "sub_actuator_ang_acc",
            "sub_contact_vel",
            "sub_contact_ang",
            "sub_contact_point",
            "sub_contact_normal",
            "sub_contact_depth",
        ]
        .map(|array| golden.array(array));
        assert!(action.shape[0] > 0);
        let mut world: World<f64> = World::new(&model);
        for i in 0..action.shape[0] {
            set(&mut world, start.each_ref().map(|a| a.row(i)), 0);
            let found = probe(&model, &mut world, action.row(i));
            let points = |f: fn(&magpie_physics::ProbedContact) -> [f64; 3]| {
                found.contacts.iter().flat_map(f).collect()
            };
            let got: [Vec<f64>; 8] = [
                found.joint_acc.concat(),
                found.joint_ang_acc.concat(),
                found.actuator_ang_acc.concat(),
                world.impacts.iter().flat_map(|impact| impact.vel).collect(),
                world.impacts.iter().flat_map(|impact| impact.ang).collect(),
                points(|c| c.point),
                points(|c| c.normal),
                found.contacts.iter().map(|c| c.depth).collect(),
            ];
            for (got, want) in got.iter().zip(&terms) {
                let label = format!("{} {i}", want.name);
                // In terms per body the last row is the ground, which has none.
                let (want, ground) = want.row(i).split_at(got.len());
                // Accelerations reach 1e5, so their tolerance is relative.
                let scale = want.iter().fold(1.0_f64, |largest, v| largest.max(v.abs()));
                assert_close(&label, got, want, 1e-9 * scale);
                assert!(ground.iter().all(|&v| v == 0.0), "{label}: the ground moves");
            }
            for (got, want) in get(&world, 0).iter().zip(&state) {
                assert_close(&format!("{} {i}", want.name), got, &want.row(i)[..got.len()], 1e-9);
            }
        }
    }
}

struct Substep<'a>(&'a Model<f32>, &'a mut World<Pack>, &'a [Pack]);
impl SimdTask for Substep<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, token: S) {
        begin::<Lanes<S>>(token, self.0, self.1, self.2);
        substep::<Lanes<S>>(token, self.0, self.1);
    }
}

#[test]
fn golden_substep_in_lanes() {
    let tolerances: serde_json::Value =
        serde_json::from_str(&magpie_golden::text("physics/tolerances.json")).unwrap();
    for isa in Isa::available() {
        for (name, _) in BUILTIN {
            let model: Model<f32> = model(name);
            let mut inputs = Npz::open(&format!("physics/single_step/{name}.npz"));
            let start = START.map(|array| inputs.array(array));
            let actions = inputs.array("action");
            let mut golden = Npz::open(&format!("physics/single_step_f64/{name}.npz"));
            let state = ["sub_pos", "sub_rot", "sub_vel", "sub_ang"].map(|array| golden.array(array));
            let mut world: World<Pack> = World::new(&model);
            for i in 0..actions.shape[0] {
                // A different lane each time; the others keep earlier states.
                let lane = i % LANES;
                set(&mut world, start.each_ref().map(|a| a.row(i)), lane);
                let action: Vec<_> = actions.row(i).iter().map(|&u| Pack([u as f32; LANES])).collect();
                isa.run(Substep(&model, &mut world, &action));
                for ((got, want), quantity) in get(&world, lane).iter().zip(&state).zip(START) {
                    let listed =
                        tolerances["substep"][name][quantity]["max"].as_f64().expect("a listed maximum");
                    let label = format!("{isa} {} {i}", want.name);
                    assert_close(&label, got, &want.row(i)[..got.len()], 4.0 * listed);
                }
            }
        }
    }
}
