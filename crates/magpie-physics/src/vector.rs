//! Vectors, quaternions and rotation matrices over any [`Number`].

use std::ops::{Add, Mul, Neg, Sub};

use magpie_simd::{Number, Scalar};

/// A vector in space.
#[derive(Clone, Copy)]
pub struct Vec3<N> {
    /// Forward.
    pub x: N,
    /// Left.
    pub y: N,
    /// Up.
    pub z: N,
}

/// A quaternion (w, x, y, z).
#[derive(Clone, Copy)]
pub struct Quat<N> {
    /// Scalar part.
    pub w: N,
    /// Vector part.
    pub v: Vec3<N>,
}

/// A rotation as a matrix, by rows.
#[derive(Clone, Copy)]
pub struct Mat3<N> {
    /// Rows.
    pub rows: [Vec3<N>; 3],
}

impl<N: Number> Vec3<N> {
    /// From three components.
    #[inline(always)]
    pub fn new(x: N, y: N, z: N) -> Self {
        Vec3 { x, y, z }
    }

    /// The same vector in every lane.
    #[inline(always)]
    pub fn splat(token: N::Token, v: &[N::Scalar; 3]) -> Self {
        Vec3::new(N::splat(token, v[0]), N::splat(token, v[1]), N::splat(token, v[2]))
    }

    /// The zero vector.
    #[inline(always)]
    pub fn zero(token: N::Token) -> Self {
        let zero = N::splat(token, N::Scalar::from_f64(0.0));
        Vec3::new(zero, zero, zero)
    }

    /// Reads from memory.
    #[inline(always)]
    pub fn load(token: N::Token, packs: &[N::Pack; 3]) -> Self {
        Vec3::new(N::load(token, &packs[0]), N::load(token, &packs[1]), N::load(token, &packs[2]))
    }

    /// Writes to memory.
    #[inline(always)]
    pub fn store(self, packs: &mut [N::Pack; 3]) {
        let [x, y, z] = packs;
        self.x.store(x);
        self.y.store(y);
        self.z.store(z);
    }

    /// Dot product.
    #[inline(always)]
    pub fn dot(self, other: Self) -> N {
        self.x.mul_add(other.x, self.y.mul_add(other.y, self.z * other.z))
    }

    /// Cross product. Not fused, so that the product of parallel vectors is exactly zero.
    #[inline(always)]
    pub fn cross(self, other: Self) -> Self {
        Vec3::new(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )
    }

    /// Product of each component with the same component of `other`.
    #[inline(always)]
    pub fn componentwise(self, other: Self) -> Self {
        Vec3::new(self.x * other.x, self.y * other.y, self.z * other.z)
    }

    /// `self * factor + term`, component by component, fused.
    #[inline(always)]
    pub fn mul_add(self, factor: Self, term: Self) -> Self {
        Vec3::new(
            self.x.mul_add(factor.x, term.x),
            self.y.mul_add(factor.y, term.y),
            self.z.mul_add(factor.z, term.z),
        )
    }

    /// `self * factor + term` with one factor for all components.
    #[inline(always)]
    pub fn scale_add(self, factor: N, term: Self) -> Self {
        Vec3::new(
            self.x.mul_add(factor, term.x),
            self.y.mul_add(factor, term.y),
            self.z.mul_add(factor, term.z),
        )
    }

    /// Euclidean norm, but 0 if no component exceeds 1e-8.
    #[inline(always)]
    pub fn guarded_norm(self) -> N {
        let tiny = self.x.constant(1e-8);
        let largest = self.x.abs().max(self.y.abs()).max(self.z.abs());
        self.dot(self).sqrt().masked(largest.gt(tiny))
    }

    /// `if_true` where the mask is true, `if_false` elsewhere.
    #[inline(always)]
    pub fn select(mask: N::Mask, if_true: Self, if_false: Self) -> Self {
        Vec3::new(
            N::select(mask, if_true.x, if_false.x),
            N::select(mask, if_true.y, if_false.y),
            N::select(mask, if_true.z, if_false.z),
        )
    }
}

impl<N: Number> Add for Vec3<N> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Vec3::new(self.x + other.x, self.y + other.y, self.z + other.z)
    }
}

impl<N: Number> Sub for Vec3<N> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Vec3::new(self.x - other.x, self.y - other.y, self.z - other.z)
    }
}

impl<N: Number> Mul<N> for Vec3<N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, factor: N) -> Self {
        Vec3::new(self.x * factor, self.y * factor, self.z * factor)
    }
}

impl<N: Number> Neg for Vec3<N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Vec3::new(-self.x, -self.y, -self.z)
    }
}

impl<N: Number> Quat<N> {
    /// The same rotation in every lane.
    #[inline(always)]
    pub fn splat(token: N::Token, q: &[N::Scalar; 4]) -> Self {
        Quat { w: N::splat(token, q[0]), v: Vec3::splat(token, &[q[1], q[2], q[3]]) }
    }

    /// Reads from memory.
    #[inline(always)]
    pub fn load(token: N::Token, packs: &[N::Pack; 4]) -> Self {
        let [w, x, y, z] = packs;
        Quat { w: N::load(token, w), v: Vec3::new(N::load(token, x), N::load(token, y), N::load(token, z)) }
    }

    /// Writes to memory.
    #[inline(always)]
    pub fn store(self, packs: &mut [N::Pack; 4]) {
        let [w, x, y, z] = packs;
        self.w.store(w);
        self.v.x.store(x);
        self.v.y.store(y);
        self.v.z.store(z);
    }

    /// Rotation by `angle` about the unit vector `axis`.
    #[inline(always)]
    pub fn about(axis: Vec3<N>, angle: N) -> Self {
        let (sin, cos) = (angle * angle.constant(0.5)).sin_cos();
        Quat { w: cos, v: axis * sin }
    }

    /// Quaternion product: first `other`, then `self`.
    #[inline(always)]
    pub fn product(self, other: Self) -> Self {
        Quat {
            w: self.w.mul_add(other.w, -self.v.dot(other.v)),
            v: other.v.scale_add(self.w, self.v.scale_add(other.w, self.v.cross(other.v))),
        }
    }

    /// Scaled to unit length.
    #[inline(always)]
    pub fn normalized(self) -> Self {
        let scale = self.w.constant(1.0) / self.w.mul_add(self.w, self.v.dot(self.v)).sqrt();
        Quat { w: self.w * scale, v: self.v * scale }
    }

    /// The matrix R with `R p = 2 (u·p) u + (w² - u·u) p + 2 w (u × p)`, u being the vector part.
    #[inline(always)]
    pub fn to_matrix(self) -> Mat3<N> {
        let Quat { w, v } = self;
        let twice = v + v;
        let diagonal = w.mul_add(w, -v.dot(v));
        let (xy, xz, yz) = (twice.x * v.y, twice.x * v.z, twice.y * v.z);
        let (wx, wy, wz) = (w * twice.x, w * twice.y, w * twice.z);
        Mat3 {
            rows: [
                Vec3::new(twice.x.mul_add(v.x, diagonal), xy - wz, xz + wy),
                Vec3::new(xy + wz, twice.y.mul_add(v.y, diagonal), yz - wx),
                Vec3::new(xz - wy, yz + wx, twice.z.mul_add(v.z, diagonal)),
            ],
        }
    }

    /// Rotates a vector.
    #[inline(always)]
    pub fn rotate(self, p: Vec3<N>) -> Vec3<N> {
        self.to_matrix().rotate(p)
    }
}

impl<N: Number> Mat3<N> {
    /// Reads from memory.
    #[inline(always)]
    pub fn load(token: N::Token, packs: &[[N::Pack; 3]; 3]) -> Self {
        let [a, b, c] = packs;
        Mat3 { rows: [Vec3::load(token, a), Vec3::load(token, b), Vec3::load(token, c)] }
    }

    /// Writes to memory.
    #[inline(always)]
    pub fn store(self, packs: &mut [[N::Pack; 3]; 3]) {
        for (row, pack) in self.rows.into_iter().zip(packs) {
            row.store(pack);
        }
    }

    /// Rotates a vector.
    #[inline(always)]
    pub fn rotate(self, p: Vec3<N>) -> Vec3<N> {
        Vec3::new(self.rows[0].dot(p), self.rows[1].dot(p), self.rows[2].dot(p))
    }
}

/// Signed angle from p to c about the unit vector n.
#[inline(always)]
pub fn signed_angle<N: Number>(n: Vec3<N>, p: Vec3<N>, c: Vec3<N>) -> N {
    p.cross(c).dot(n).atan2(p.dot(c))
}
