//! Contacts of bodies with the ground, with each other and with hurdles, and the resulting velocity changes.
//!
//! Contacts are not solved jointly: each acts on the state before any of them, and a body takes the average over its
//! touching points in one group (ground, other bodies, hurdles). A point that touches in none of the lanes, which is
//! the usual case, is skipped after three multiplications.

use magpie_simd::{Mask, Number};

use crate::capsule::{self, Contact, Segment};
use crate::model::{BodyModel, CapsuleModel, GroundPoint, HurdlesModel, Model, PairModel};
use crate::vector::{Mat3, Vec3};
use crate::world::{BodyState, Impact, Motion, PairImpact, Work};

/// Position, rotation and velocities of a body.
#[derive(Clone, Copy)]
pub(crate) struct Place<N> {
    pub pos: Vec3<N>,
    pub frame: Mat3<N>,
}

impl<N: Number> Place<N> {
    #[inline(always)]
    pub fn load(token: N::Token, state: &BodyState<N::Pack>, work: &Work<N::Pack>) -> Self {
        Place { pos: Vec3::load(token, &state.pos), frame: Mat3::load(token, &work.frame) }
    }

    #[inline(always)]
    fn segment(self, capsule: &CapsuleModel<N::Scalar>) -> Segment<N> {
        let token = self.pos.x.token();
        let middle = self.pos + self.frame.rotate(Vec3::splat(token, &capsule.centre));
        let half = self.frame.rotate(Vec3::splat(token, &capsule.half_vector));
        Segment { start: middle + half, end: middle - half }
    }
}

/// Sum of the changes at the touching points of one body in one group, and the number of these points.
#[derive(Clone, Copy)]
struct Pool<N> {
    sum: Motion<N>,
    count: N,
}

impl<N: Number> Pool<N> {
    #[inline(always)]
    fn empty(token: N::Token) -> Self {
        let zero = Vec3::zero(token);
        Pool { sum: Motion { vel: zero, ang: zero }, count: zero.x }
    }

    #[inline(always)]
    fn add(&mut self, impulse: Vec3<N>, arm: Vec3<N>, body: &BodyModel<N::Scalar>, touching: N::Mask) {
        let token = self.count.token();
        self.sum.vel = impulse.scale_add(N::splat(token, body.inverse_mass), self.sum.vel);
        self.sum.ang = arm.cross(impulse).mul_add(Vec3::splat(token, &body.inverse_inertia), self.sum.ang);
        self.count = self.count + self.count.constant(1.0).masked(touching);
    }

    #[inline(always)]
    fn load(token: N::Token, memory: &PairImpact<N::Pack>) -> Self {
        let Impact { vel, ang } = &memory.sum;
        let sum = Motion { vel: Vec3::load(token, vel), ang: Vec3::load(token, ang) };
        Pool { sum, count: N::load(token, &memory.count) }
    }

    #[inline(always)]
    fn store(self, memory: &mut PairImpact<N::Pack>) {
        self.sum.vel.store(&mut memory.sum.vel);
        self.sum.ang.store(&mut memory.sum.ang);
        self.count.store(&mut memory.count);
    }

    #[expect(
        clippy::manual_map,
        reason = "a function handed to `map` is not compiled for the instruction set"
    )]
    #[inline(always)]
    fn average_of(pool: Option<Self>) -> Option<Motion<N>> {
        match pool {
            Some(pool) => Some(pool.average()),
            None => None,
        }
    }

    /// The small number keeps the result for an untouched body exactly zero.
    #[inline(always)]
    fn average(self) -> Motion<N> {
        let share = self.count.constant(1.0) / (self.count + self.count.constant(1e-8));
        Motion { vel: self.sum.vel * share, ang: self.sum.ang * share }
    }
}

/// The strength of a contact's impulses, without directions.
struct Push<N: Number> {
    /// Impulse along the normal.
    normal: N,
    /// Impulse against the sliding velocity, per unit of that velocity.
    slide: N,
    touching: N::Mask,
}

/// Impulses from the approach velocity `vn`, the sliding speed, the effective inverse mass K and the depth.
#[inline(always)]
fn push<N: Number>(
    model: &Model<N::Scalar>,
    vn: N,
    sliding_squared: N,
    inverse_effective_mass: N,
    depth: N,
    friction: N::Scalar,
    rebound: N::Scalar,
) -> Push<N> {
    let token = vn.token();
    let (zero, mass) = (vn.zero(), vn.constant(1.0) / inverse_effective_mass);
    let gain = N::splat(token, model.penetration_gain);
    let normal = depth.mul_add(gain, -(N::splat(token, rebound) * vn)) * mass;
    let touching = depth.gt(zero) & vn.lt(zero) & normal.gt(zero);
    let speed = sliding_squared.sqrt();
    let rubbing = touching & speed.gt(N::splat(token, model.slip_speed_threshold));
    let slide = (speed * mass).min(N::splat(token, friction) * normal) / (speed + vn.constant(1e-6));
    Push { normal: normal.masked(touching), slide: slide.masked(rubbing), touching }
}

/// K of one body: 1/m + n·((J ∘ (r × n)) × r).
#[inline(always)]
fn inverse_effective_mass<N: Number>(body: &BodyModel<N::Scalar>, arm: Vec3<N>, normal: Vec3<N>) -> N {
    let token = normal.x.token();
    let lever = arm.cross(normal);
    N::splat(token, body.inverse_mass)
        + lever.dot(lever.componentwise(Vec3::splat(token, &body.inverse_inertia)))
}

/// All contacts of one body: with the ground, with hurdles, and with other bodies as found by [`between_bodies`].
/// Returns the change of its motion if anything touches in any lane, and adds it to `total`.
#[inline(always)]
pub(crate) fn collide<N: Number>(
    model: &Model<N::Scalar>,
    body: &BodyModel<N::Scalar>,
    place: Place<N>,
    motion: Motion<N>,
    with_bodies: &PairImpact<N::Pack>,
    total: &mut Impact<N::Pack>,
) -> Option<Motion<N>> {
    let token = place.pos.x.token();
    let mut change = against_ground(model, body, place, motion);
    if body.in_pair {
        change = sum(change, Some(Pool::load(token, with_bodies).average()));
    }
    if let Some(hurdles) = &model.hurdles {
        change = sum(change, against_hurdles(model, hurdles, body, place, motion));
    }
    if let Some(change) = change {
        (Vec3::load(token, &total.vel) + change.vel).store(&mut total.vel);
        (Vec3::load(token, &total.ang) + change.ang).store(&mut total.ang);
    }
    change
}

#[inline(always)]
fn sum<N: Number>(a: Option<Motion<N>>, b: Option<Motion<N>>) -> Option<Motion<N>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(Motion { vel: a.vel + b.vel, ang: a.ang + b.ang }),
        (a, b) => a.or(b),
    }
}

/// Height of the lowest point of a capsule end above the centre of mass, and its depth in the ground.
#[inline(always)]
fn ground_depth<N: Number>(point: &GroundPoint<N::Scalar>, place: Place<N>) -> (N, N) {
    let token = place.pos.x.token();
    let arm_z = place.frame.rows[2].dot(Vec3::splat(token, &point.centre)) - N::splat(token, point.radius);
    (arm_z, -(place.pos.z + arm_z))
}

#[inline(always)]
fn against_ground<N: Number>(
    model: &Model<N::Scalar>,
    body: &BodyModel<N::Scalar>,
    place: Place<N>,
    motion: Motion<N>,
) -> Option<Motion<N>> {
    let token = place.pos.x.token();
    let mut pool = None;
    for point in &model.ground_points[body.ground_points.0..body.ground_points.1] {
        let (arm_z, depth) = ground_depth(point, place);
        if !depth.gt(depth.zero()).any() {
            continue;
        }
        let centre = Vec3::splat(token, &point.centre);
        let [row_x, row_y, _] = place.frame.rows;
        let arm = Vec3::new(row_x.dot(centre), row_y.dot(centre), arm_z);
        let velocity = motion.vel + motion.ang.cross(arm);
        let [jx, jy, _] = body.inverse_inertia;
        let (jx, jy) = (N::splat(token, jx), N::splat(token, jy));
        // K for the normal (0, 0, 1).
        let k = (arm.y * arm.y).mul_add(jx, (arm.x * arm.x).mul_add(jy, N::splat(token, body.inverse_mass)));
        let sliding_squared = velocity.x.mul_add(velocity.x, velocity.y * velocity.y);
        let push = push(model, velocity.z, sliding_squared, k, depth, point.friction, point.rebound);
        let impulse = Vec3::new(-(push.slide * velocity.x), -(push.slide * velocity.y), push.normal);
        pool.get_or_insert(Pool::empty(token)).add(impulse, arm, body, push.touching);
    }
    Pool::average_of(pool)
}

/// Contacts between bodies of the robot; writes sums and counts to `found` for [`collide`]. `motion` gives the
/// velocities that contacts use.
#[inline(always)]
pub(crate) fn between_bodies<N: Number>(
    token: N::Token,
    model: &Model<N::Scalar>,
    bodies: &[BodyState<N::Pack>],
    work: &[Work<N::Pack>],
    found: &mut [PairImpact<N::Pack>],
    motion: impl Fn(usize) -> Motion<N>,
) {
    if model.pairs.is_empty() {
        return;
    }
    for memory in found.iter_mut() {
        Pool::<N>::empty(token).store(memory);
    }
    for pair in &model.pairs {
        let [a, b] = pair.bodies;
        let (body_a, body_b) = (&model.bodies[a], &model.bodies[b]);
        let place_a = Place::<N>::load(token, &bodies[a], &work[a]);
        let place_b = Place::<N>::load(token, &bodies[b], &work[b]);
        let segments = [place_a.segment(&pair.capsules[0]), place_b.segment(&pair.capsules[1])];
        if !within_reach::<N>(pair, segments).any() {
            continue;
        }
        let contact = pair_contact(pair, segments);
        let (arm_a, arm_b) = (contact.point - place_a.pos, contact.point - place_b.pos);
        let (a, b) = (motion(a), motion(b));
        let velocity = (a.vel + a.ang.cross(arm_a)) - (b.vel + b.ang.cross(arm_b));
        let k = inverse_effective_mass(body_a, arm_a, contact.normal)
            + inverse_effective_mass(body_b, arm_b, contact.normal);
        let (impulse, touching) = impulse(model, contact, velocity, k, pair.friction, pair.rebound);
        for (index, body, arm, impulse) in
            [(pair.bodies[0], body_a, arm_a, impulse), (pair.bodies[1], body_b, arm_b, -impulse)]
        {
            let mut pool = Pool::load(token, &found[index]);
            pool.add(impulse, arm, body, touching);
            pool.store(&mut found[index]);
        }
    }
}

/// Whether two capsules are close enough to touch.
#[inline(always)]
fn within_reach<N: Number>(pair: &PairModel<N::Scalar>, [a, b]: [Segment<N>; 2]) -> N::Mask {
    let twice = (a.start + a.end) - (b.start + b.end);
    let apart = twice * twice.x.constant(0.5);
    apart.dot(apart).lt(N::splat(apart.x.token(), pair.reach_squared))
}

#[inline(always)]
fn pair_contact<N: Number>(pair: &PairModel<N::Scalar>, [a, b]: [Segment<N>; 2]) -> Contact<N> {
    let (on_a, on_b) = capsule::closest_points(a, b);
    capsule::contact(on_a, on_b, N::splat(on_a.x.token(), pair.radii))
}

/// The capsules of a body against their nearest hurdles: the closest points are computed in the plane across the
/// hurdles, because a hurdle is uniform along y.
#[inline(always)]
fn against_hurdles<N: Number>(
    model: &Model<N::Scalar>,
    hurdles: &HurdlesModel<N::Scalar>,
    body: &BodyModel<N::Scalar>,
    place: Place<N>,
    motion: Motion<N>,
) -> Option<Motion<N>> {
    let token = place.pos.x.token();
    let (first, spacing) = (N::splat(token, hurdles.first), N::splat(token, hurdles.spacing));
    let (top, bottom) = (N::splat(token, hurdles.top), N::splat(token, hurdles.bottom));
    let zero = first.zero();
    let mut pool = None;
    for part in &hurdles.capsules[body.hurdle_capsules.0..body.hurdle_capsules.1] {
        let segment = place.segment(&part.capsule);
        let middle = (segment.start.x + segment.end.x) * place.pos.x.constant(0.5);
        let nearest = ((middle - first) / spacing).round().clamp(zero, N::splat(token, hurdles.last));
        let x = nearest.mul_add(spacing, first);
        let bar = Segment { start: Vec3::new(x, zero, top), end: Vec3::new(x, zero, bottom) };
        let flat = Segment {
            start: Vec3::new(segment.start.x, zero, segment.start.z),
            end: Vec3::new(segment.end.x, zero, segment.end.z),
        };
        // The axis of a fast capsule may already be inside the plate, where the nearest points are meaningless: push it
        // back to the side where its centre of mass was in the previous substep. A centre of mass above the hurdle, such
        // as a knee that has passed it, does not tell on which side its foot is; then the middle of the capsule does.
        let (from_start, from_end) = (segment.start.x - x, segment.end.x - x);
        let half = zero.constant(0.5);
        let lever = (segment.start + segment.end) * half - place.pos;
        let is_below = place.pos.z.lt(top);
        let reference = N::select(is_below, place.pos.x, middle);
        let velocity = motion.vel.x + N::select(is_below, zero, motion.ang.cross(lever).x);
        let came_from = velocity.mul_add(-N::splat(token, body.drift[0]), reference);
        let side = N::select(came_from.lt(x), zero.constant(-1.0), zero.constant(1.0));
        let astride = (from_start * from_end).lt(zero);
        let crossing =
            segment.end.z.mul_add(from_start, -(segment.start.z * from_end)) / (from_start - from_end);
        let height = N::select(astride, crossing, (segment.start.z + segment.end.z) * half);
        let pierced = ((side * from_start).lt(zero) | (side * from_end).lt(zero)) & height.lt(top);
        let start_is_deeper = (side * from_start).lt(side * from_end);
        let deepest = Vec3::select(start_is_deeper, flat.start, flat.end);
        let (on_part, on_bar) = capsule::closest_points(flat, bar);
        let radii = N::splat(token, part.capsule.radius) + N::splat(token, hurdles.radius);
        let touching = capsule::contact(on_part, on_bar, radii);
        let through = Contact {
            point: deepest,
            normal: Vec3::new(side, zero, zero),
            depth: (deepest.x - x).mul_add(-side, radii),
        };
        let contact = Contact::select(pierced, through, touching);
        if !contact.depth.gt(zero).any() {
            continue;
        }
        // The contact has the capsule's own y; for one that is not level, the y of its middle.
        let y = (segment.start.y + segment.end.y) * x.constant(0.5);
        let contact = Contact { point: Vec3::new(contact.point.x, y, contact.point.z), ..contact };
        let arm = contact.point - place.pos;
        let velocity = motion.vel + motion.ang.cross(arm);
        let k = inverse_effective_mass(body, arm, contact.normal);
        let (impulse, touching) = impulse(model, contact, velocity, k, part.friction, part.rebound);
        pool.get_or_insert(Pool::empty(token)).add(impulse, arm, body, touching);
    }
    Pool::average_of(pool)
}

/// The impulse of a contact with a general normal.
#[inline(always)]
fn impulse<N: Number>(
    model: &Model<N::Scalar>,
    contact: Contact<N>,
    velocity: Vec3<N>,
    inverse_effective_mass: N,
    friction: N::Scalar,
    rebound: N::Scalar,
) -> (Vec3<N>, N::Mask) {
    let vn = contact.normal.dot(velocity);
    let sliding = contact.normal.scale_add(-vn, velocity);
    let push =
        push(model, vn, sliding.dot(sliding), inverse_effective_mass, contact.depth, friction, rebound);
    (contact.normal.scale_add(push.normal, sliding * -push.slide), push.touching)
}

/// All possible contacts of the robot with the ground and with itself, whether touching or not, first ground points,
/// then pairs: calls `visit` with point, normal and depth. For tests and pictures.
#[inline(always)]
pub(crate) fn visit<N: Number>(
    token: N::Token,
    model: &Model<N::Scalar>,
    bodies: &[BodyState<N::Pack>],
    work: &[Work<N::Pack>],
    mut visit: impl FnMut(Contact<N>),
) {
    let place = |b: usize| Place::<N>::load(token, &bodies[b], &work[b]);
    for (index, body) in model.bodies.iter().enumerate() {
        let place = place(index);
        for point in &model.ground_points[body.ground_points.0..body.ground_points.1] {
            let (arm_z, depth) = ground_depth(point, place);
            let arm = place.frame.rotate(Vec3::splat(token, &point.centre));
            let up = Vec3::new(depth.zero(), depth.zero(), depth.constant(1.0));
            visit(Contact { point: place.pos + Vec3::new(arm.x, arm.y, arm_z), normal: up, depth });
        }
    }
    for pair in &model.pairs {
        visit(pair_contact(pair, [0, 1].map(|i| place(pair.bodies[i]).segment(&pair.capsules[i]))));
    }
}
