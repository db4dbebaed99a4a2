//! Writing observations in the order of the published tasks.

use magpie_physics::{Quat, Vec3, World, rates};
use magpie_simd::{Number, Scalar};

use super::stage::{Stage, limited, pitch};
use crate::task::ObservationPart;

/// Writes packs one after the other.
struct Writer<'a, P> {
    rest: std::slice::IterMut<'a, P>,
}

impl<P> Writer<'_, P> {
    #[inline(always)]
    fn put<N: Number<Pack = P>>(&mut self, value: N) {
        if let Some(pack) = self.rest.next() {
            value.store(pack);
        }
    }

    #[inline(always)]
    fn put3<N: Number<Pack = P>>(&mut self, v: Vec3<N>) {
        self.put(v.x);
        self.put(v.y);
        self.put(v.z);
    }
}

impl<T: Scalar> Stage<T> {
    /// Observes the current state after `action` (empty at reset). Frames and angles must be up to date.
    #[inline(always)]
    pub fn observe<N: Number<Scalar = T>>(
        &self,
        token: N::Token,
        world: &World<N::Pack>,
        action: &[N::Pack],
        out: &mut [N::Pack],
    ) {
        let mut w = Writer { rest: out.iter_mut() };
        let root = &world.bodies[self.root];
        let (vel, ang) = (Vec3::<N>::load(token, &root.vel), Vec3::<N>::load(token, &root.ang));
        let rot = Quat::<N>::load(token, &root.rot);
        for &part in &self.task.observation {
            match part {
                ObservationPart::Height => w.put(N::load(token, &root.pos[2])),
                ObservationPart::Rotation => {
                    w.put(rot.w);
                    w.put3(rot.v);
                }
                ObservationPart::PlanarRotation => {
                    w.put(rot.w);
                    w.put(rot.v.y);
                }
                ObservationPart::Pitch => w.put(pitch(rot)),
                ObservationPart::JointAngles => {
                    for dof in self.model.observed_dofs() {
                        w.put(N::load(token, &world.angles[dof]));
                    }
                }
                ObservationPart::Velocity => w.put3(vel),
                ObservationPart::PlanarVelocity => {
                    w.put(vel.x);
                    w.put(vel.z);
                }
                ObservationPart::AngularVelocity => w.put3(ang),
                ObservationPart::PlanarAngularVelocity => w.put(ang.y),
                ObservationPart::JointRates => rates::<N>(
                    token,
                    &self.model,
                    world,
                    #[inline(always)]
                    |_, rate| w.put(rate),
                ),
                ObservationPart::Contacts => self.contacts::<N>(token, world, &mut w),
                ObservationPart::Inertia => self.inertia::<N>(token, world, &mut w),
                ObservationPart::VelocityShares => {
                    for (body, &share) in world.bodies.iter().zip(&self.mass_shares) {
                        w.put3(Vec3::<N>::load(token, &body.vel) * N::splat(token, share));
                    }
                }
                ObservationPart::AngularVelocityAboutCom => self.about_com::<N>(token, world, &mut w),
                ObservationPart::Torques => {
                    for &entry in &self.torque_order {
                        let (_, strength) = self.model.actuators()[entry];
                        match action.get(entry) {
                            Some(u) => w.put(N::splat(token, strength) * N::load(token, u)),
                            None => w.put(vel.x.zero()),
                        }
                    }
                }
            }
        }
    }

    /// Velocity changes by contacts of all bodies and the ground, followed by the angular ones.
    #[inline(always)]
    fn contacts<N: Number<Scalar = T>>(
        &self,
        token: N::Token,
        world: &World<N::Pack>,
        w: &mut Writer<'_, N::Pack>,
    ) {
        for impact in &world.impacts {
            w.put3(limited(Vec3::<N>::load(token, &impact.vel)));
        }
        w.put3(Vec3::<N>::zero(token));
        for impact in &world.impacts {
            w.put3(limited(Vec3::<N>::load(token, &impact.ang)));
        }
        w.put3(Vec3::<N>::zero(token));
    }

    /// Inertia of each body about the centre of mass.
    #[inline(always)]
    fn inertia<N: Number<Scalar = T>>(
        &self,
        token: N::Token,
        world: &World<N::Pack>,
        w: &mut Writer<'_, N::Pack>,
    ) {
        let com = self.center_of_mass::<N>(token, world);
        for (index, (body, mass)) in world.bodies.iter().zip(self.model.masses()).enumerate() {
            let d = Vec3::<N>::load(token, &body.pos) - com;
            let spread = N::splat(token, mass) * d.dot(d);
            // The published task uses the inverse inertia and leaves out the mass in d dᵀ.
            let j = Vec3::<N>::splat(token, &self.model.inverse_inertia(index));
            let (xy, xz, yz) = (-(d.x * d.y), -(d.x * d.z), -(d.y * d.z));
            w.put3(Vec3::new(j.x + spread - d.x * d.x, xy, xz));
            w.put3(Vec3::new(xy, j.y + spread - d.y * d.y, yz));
            w.put3(Vec3::new(xz, yz, j.z + spread - d.z * d.z));
        }
    }

    /// Angular velocity of each body about the centre of mass.
    #[inline(always)]
    fn about_com<N: Number<Scalar = T>>(
        &self,
        token: N::Token,
        world: &World<N::Pack>,
        w: &mut Writer<'_, N::Pack>,
    ) {
        let com = self.center_of_mass::<N>(token, world);
        for body in &world.bodies {
            let d = Vec3::<N>::load(token, &body.pos) - com;
            let vel = Vec3::<N>::load(token, &body.vel);
            let scale = com.x.constant(1.0) / (com.x.constant(1e-7) + d.dot(d));
            w.put3(d.cross(vel) * scale);
        }
    }
}
