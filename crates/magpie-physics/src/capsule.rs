//! Geometry of two capsules: the nearest points of their axes, and the contact between them.

use magpie_simd::Number;

use crate::vector::Vec3;

/// A straight line between two points.
#[derive(Clone, Copy)]
pub(crate) struct Segment<N> {
    pub start: Vec3<N>,
    pub end: Vec3<N>,
}

/// A point of contact and its depth.
#[derive(Clone, Copy)]
pub(crate) struct Contact<N> {
    pub point: Vec3<N>,
    /// Unit vector from the other object to this body.
    pub normal: Vec3<N>,
    pub depth: N,
}

impl<N: Number> Contact<N> {
    /// `if_true` where the mask is true, `if_false` elsewhere.
    #[inline(always)]
    pub fn select(mask: N::Mask, if_true: Self, if_false: Self) -> Self {
        Contact {
            point: Vec3::select(mask, if_true.point, if_false.point),
            normal: Vec3::select(mask, if_true.normal, if_false.normal),
            depth: N::select(mask, if_true.depth, if_false.depth),
        }
    }
}

impl<N: Number> Segment<N> {
    /// The point of the segment nearest to `p`.
    #[inline(always)]
    fn nearest(self, p: Vec3<N>) -> Vec3<N> {
        let along = self.end - self.start;
        let share = (p - self.start).dot(along) / (along.dot(along) + along.x.constant(1e-6));
        along.scale_add(share.clamp(share.zero(), share.constant(1.0)), self.start)
    }

    /// (unit direction, half length, middle).
    #[inline(always)]
    fn centred(self) -> (Vec3<N>, N, Vec3<N>) {
        let along = self.end - self.start;
        let norm = along.guarded_norm();
        let length = N::select(norm.gt(norm.zero()), norm, norm.constant(1e-6));
        let direction = along * (norm.constant(1.0) / length);
        let half = length * length.constant(0.5);
        (direction, half, direction.scale_add(half, self.start))
    }
}

/// The nearest points of two segments: those of the two infinite lines, clamped to the segments, after which one of
/// them is moved to the point nearest to the other, whichever gives the smaller distance.
#[inline(always)]
pub(crate) fn closest_points<N: Number>(a: Segment<N>, b: Segment<N>) -> (Vec3<N>, Vec3<N>) {
    let (direction_a, half_a, middle_a) = a.centred();
    let (direction_b, half_b, middle_b) = b.centred();
    let between = middle_a - middle_b;
    let cosine = direction_a.dot(direction_b);
    let (along_a, along_b) = (direction_a.dot(between), direction_b.dot(between));
    let one = cosine.constant(1.0);
    let t_a = cosine.mul_add(along_b, -along_a) / ((one - cosine * cosine) + one.constant(1e-6));
    // Deliberately uses t_a before clamping.
    let t_b = t_a.mul_add(cosine, along_b);
    let on_a = direction_a.scale_add(t_a.clamp(-half_a, half_a), middle_a);
    let on_b = direction_b.scale_add(t_b.clamp(-half_b, half_b), middle_b);

    let (moved_a, moved_b) = (a.nearest(on_b), b.nearest(on_a));
    let (gap_a, gap_b) = (on_b - moved_a, on_a - moved_b);
    let move_a = gap_a.dot(gap_a).lt(gap_b.dot(gap_b));
    (Vec3::select(move_a, moved_a, on_a), Vec3::select(move_a, on_b, moved_b))
}

/// Contact of two round objects whose axes come nearest at `on_a` and `on_b`.
#[inline(always)]
pub(crate) fn contact<N: Number>(on_a: Vec3<N>, on_b: Vec3<N>, radii: N) -> Contact<N> {
    let gap = on_a - on_b;
    let distance = gap.guarded_norm();
    Contact {
        point: (on_a + on_b) * distance.constant(0.5),
        normal: gap * (distance.constant(1.0) / (distance + distance.constant(1e-6))),
        depth: radii - distance,
    }
}
