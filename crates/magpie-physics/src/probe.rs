//! The terms of one substep, in `f64`, for tests and for explaining unexpected motions.

use crate::contacts;
use crate::joints;
use crate::model::Model;
use crate::world::{World, begin, drift, integrate};

/// The terms of one substep, per body unless stated otherwise.
#[derive(Debug, Clone)]
pub struct Probe {
    /// Acceleration by joints.
    pub joint_acc: Vec<[f64; 3]>,
    /// Angular acceleration by joints.
    pub joint_ang_acc: Vec<[f64; 3]>,
    /// Angular acceleration by actuators.
    pub actuator_ang_acc: Vec<[f64; 3]>,
    /// All possible contacts: ground points by body, then pairs of bodies.
    pub contacts: Vec<ProbedContact>,
}

/// A contact, touching or not.
#[derive(Debug, Clone, Copy)]
pub struct ProbedContact {
    /// Position.
    pub point: [f64; 3],
    /// Unit vector away from the ground or the other body.
    pub normal: [f64; 3],
    /// Depth; negative if the two are apart.
    pub depth: f64,
}

/// Makes one substep with `action` and returns its terms.
pub fn probe(model: &Model<f64>, world: &mut World<f64>, action: &[f64]) -> Probe {
    // Joints alone first; the actuators' terms are what the action adds.
    begin::<f64>((), model, world, &vec![0.0; action.len()]);
    drift::<f64>((), model, world);
    joints::act::<f64>((), model, world);
    let passive: Vec<_> = world.work.iter().map(|work| (work.force, work.torque)).collect();
    begin::<f64>((), model, world, action);
    for work in &mut world.work {
        (work.force, work.torque) = ([0.0; 3], [0.0; 3]);
    }
    joints::act::<f64>((), model, world);

    let mut found = Vec::new();
    contacts::visit::<f64>((), model, &world.bodies, &world.work, |c| {
        let array = |v: crate::Vec3<f64>| [v.x, v.y, v.z];
        found.push(ProbedContact { point: array(c.point), normal: array(c.normal), depth: c.depth });
    });
    let per_body = |term: &dyn Fn(usize, usize) -> f64| {
        (0..model.bodies.len()).map(|b| std::array::from_fn(|i| term(b, i))).collect()
    };
    let probe = Probe {
        joint_acc: per_body(&|b, i| passive[b].0[i] * model.bodies[b].inverse_mass),
        joint_ang_acc: per_body(&|b, i| passive[b].1[i] * model.bodies[b].inverse_inertia[i]),
        actuator_ang_acc: per_body(&|b, i| {
            (world.work[b].torque[i] - passive[b].1[i]) * model.bodies[b].inverse_inertia[i]
        }),
        contacts: found,
    };
    integrate::<f64>((), model, world);
    probe
}
