//! A task with its robot, prepared for one precision and shared by all environments of a batch.

use magpie_physics::robot::Robot;
use magpie_physics::{Model, Perturbation, Quat, Vec3, World};
use magpie_simd::{Number, Scalar};

use super::entries;
use crate::environment::Entry;
use crate::task::{ForwardOf, Task};

/// The immutable part of a simulation; the mutable part is a [`World`].
#[derive(Debug, Clone)]
pub struct Stage<T> {
    /// The task.
    pub task: Task,
    /// The robot with its perturbation.
    pub model: Model<T>,
    pub(crate) root: usize,
    pub(crate) feet: Vec<usize>,
    /// Share of each body in the total mass.
    pub(crate) mass_shares: Vec<T>,
    /// The entries of an action in the order in which their torques are observed, which is that of the joints.
    pub(crate) torque_order: Vec<usize>,
    observation_size: usize,
}

impl<T: Scalar> Stage<T> {
    /// Combines `robot` and `task`. The perturbation must have been checked against the robot.
    pub fn new(task: &Task, robot: &Robot, perturbation: &Perturbation) -> Stage<T> {
        let total: f64 = robot.bodies.iter().map(|b| b.mass).sum();
        let model: Model<T> = Model::new(robot, perturbation);
        let torque_order = model
            .observed_dofs()
            .filter_map(|dof| model.actuators().iter().position(|&(driven, _)| driven == dof))
            .collect();
        Stage {
            observation_size: entries::observation(task, robot, &model).len(),
            task: task.clone(),
            model,
            torque_order,
            root: robot.root,
            feet: robot.feet.clone(),
            mass_shares: robot.bodies.iter().map(|b| T::from_f64(b.mass / total)).collect(),
        }
    }

    /// The number of entries of an observation.
    pub fn observation_size(&self) -> usize {
        self.observation_size
    }

    /// The meanings of the entries of an observation.
    pub fn observation_entries(&self, robot: &Robot) -> Vec<Entry> {
        entries::observation(&self.task, robot, &self.model)
    }

    /// The meanings of the entries of an action.
    pub fn action_entries(&self, robot: &Robot) -> Vec<Entry> {
        entries::action(robot, &self.model)
    }

    /// The number of entries of an action.
    pub fn action_size(&self) -> usize {
        self.model.action_size()
    }

    /// The x coordinate whose progress is rewarded.
    #[inline(always)]
    pub fn forward_position<N: Number<Scalar = T>>(&self, token: N::Token, world: &World<N::Pack>) -> N {
        match self.task.reward.forward_of {
            ForwardOf::Root => N::load(token, &world.bodies[self.root].pos[0]),
            ForwardOf::CenterOfMass => self.center_of_mass(token, world).x,
        }
    }

    #[inline(always)]
    pub(crate) fn center_of_mass<N: Number<Scalar = T>>(
        &self,
        token: N::Token,
        world: &World<N::Pack>,
    ) -> Vec3<N> {
        let mut sum = Vec3::zero(token);
        for (body, &share) in world.bodies.iter().zip(&self.mass_shares) {
            sum = Vec3::load(token, &body.pos).scale_add(N::splat(token, share), sum);
        }
        sum
    }

    /// The reward of the step that ended in `world` and started with `forward_before`.
    #[inline(always)]
    pub fn reward<N: Number<Scalar = T>>(
        &self,
        token: N::Token,
        world: &World<N::Pack>,
        action: &[N::Pack],
        forward_before: N,
    ) -> N {
        let reward = &self.task.reward;
        let velocity = (self.forward_position::<N>(token, world) - forward_before)
            * forward_before.constant(1.0 / self.model.control_dt());
        let mut effort = forward_before.zero();
        for entry in action {
            let entry = N::load(token, entry);
            effort = entry.mul_add(entry, effort);
        }
        let mut total = velocity.mul_add(velocity.constant(reward.forward), velocity.constant(reward.alive))
            - effort * effort.constant(reward.control_cost);
        if reward.contact_cost > 0.0 {
            let mut bumps = effort.zero();
            for impact in &world.impacts {
                let change = limited(Vec3::<N>::load(token, &impact.vel));
                bumps = bumps + change.dot(change);
            }
            total = total - bumps * bumps.constant(reward.contact_cost);
        }
        let root = &world.bodies[self.root];
        for (weight, rate) in
            [(reward.sideways, &root.vel[1]), (reward.upward, &root.vel[2]), (reward.turning, &root.ang[2])]
        {
            if weight != 0.0 {
                total = N::load(token, rate).mul_add(total.constant(weight), total);
            }
        }
        total
    }

    /// Whether the root has left its healthy range; a state that is not finite counts as well.
    #[inline(always)]
    pub fn fallen<N: Number<Scalar = T>>(&self, token: N::Token, world: &World<N::Pack>) -> N::Mask {
        let root = &world.bodies[self.root];
        let height = N::load(token, &root.pos[2]);
        let mut fallen = outside(height, [f64::MIN, f64::MAX]);
        if let Some(range) = self.task.healthy.height {
            fallen = fallen | outside(height, range);
        }
        if let Some(range) = self.task.healthy.pitch {
            fallen = fallen | outside(pitch(Quat::<N>::load(token, &root.rot)), range);
        }
        fallen
    }
}

#[inline(always)]
fn outside<N: Number>(value: N, [low, high]: [f64; 2]) -> N::Mask {
    !(value.constant(low).le(value) & value.le(value.constant(high)))
}

/// The second angle of the intrinsic x-y-z decomposition.
#[inline(always)]
pub(crate) fn pitch<N: Number>(q: Quat<N>) -> N {
    let one = q.w.constant(1.0);
    let sine = q.w.constant(2.0) * q.v.x.mul_add(q.v.z, q.w * q.v.y);
    sine.clamp(-one, one).asin()
}

/// Clips each component to ±1.
#[inline(always)]
pub(crate) fn limited<N: Number>(v: Vec3<N>) -> Vec3<N> {
    let one = v.x.constant(1.0);
    Vec3::new(v.x.clamp(-one, one), v.y.clamp(-one, one), v.z.clamp(-one, one))
}
